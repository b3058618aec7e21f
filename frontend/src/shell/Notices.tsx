import "@mantine/core/styles/CloseButton.layer.css";
import "@mantine/core/styles/Paper.layer.css";
import "@mantine/core/styles/Notification.layer.css";
import "@mantine/notifications/styles.layer.css";

import { Notifications, notifications } from "@mantine/notifications";

import button from "@/components/Button.module.css";
import { Icon, type IconName } from "@/components/Icon";

import classes from "./Notices.module.css";
import { t } from "./texts";

export interface Notice {
  title: string;
  text?: string;
  kind?: "info" | "error" | "ok";
  /** A way back; the notice goes when it is pressed. */
  action?: { label: string; run: () => void };
}

const ICONS: Record<NonNullable<Notice["kind"]>, IconName> = { info: "info", error: "warning", ok: "bound" };

export function show({ title, text, kind = "info", action }: Notice): void {
  const id = notifications.show({
    title,
    message:
      action === undefined ? (
        (text ?? "")
      ) : (
        <>
          {text === undefined ? null : <span>{text}</span>}
          {/* Not `Button`: what it cannot send is told in a notice. */}
          <button
            type="button"
            className={`${button.button} ${classes.action}`}
            data-kind="default"
            data-size="sm"
            onClick={() => {
              notifications.hide(id);
              action.run();
            }}
          >
            {action.label}
          </button>
        </>
      ),
    autoClose: kind === "error" || action !== undefined ? 12_000 : 5_000,
    withBorder: true,
    radius: "lg",
    icon: <Icon name={ICONS[kind]} size={18} />,
    classNames: {
      root: classes.root ?? "",
      icon: classes[kind] ?? "",
      title: classes.title ?? "",
      description: classes.text ?? "",
    },
    closeButtonProps: { "aria-label": t("close") },
  });
}

export default function Notices() {
  return <Notifications position="bottom-right" limit={4} zIndex={300} />;
}
