import "@mantine/core/styles/CloseButton.layer.css";
import "@mantine/core/styles/Paper.layer.css";
import "@mantine/core/styles/Notification.layer.css";
import "@mantine/notifications/styles.layer.css";

import { Notifications, notifications } from "@mantine/notifications";

import { Icon, type IconName } from "@/components/Icon";

import classes from "./Notices.module.css";
import { t } from "./texts";

export interface Notice {
  title: string;
  text?: string;
  kind?: "info" | "error" | "ok";
}

const ICONS: Record<NonNullable<Notice["kind"]>, IconName> = { info: "info", error: "warning", ok: "bound" };

export function show({ title, text, kind = "info" }: Notice): void {
  notifications.show({
    title,
    message: text ?? "",
    autoClose: kind === "error" ? 12_000 : 5_000,
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
