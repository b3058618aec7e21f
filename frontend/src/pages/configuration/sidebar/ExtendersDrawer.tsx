/** Where the extenders of a configuration are written by form. */
import "@mantine/core/styles/CloseButton.layer.css";
import "@mantine/core/styles/Overlay.layer.css";
import "@mantine/core/styles/Paper.layer.css";
import "@mantine/core/styles/ModalBase.layer.css";
import "@mantine/core/styles/Drawer.layer.css";

import { Drawer } from "@mantine/core";

import { useFocusBack } from "@/components/useFocusBack";

import drawer from "../header/SaveDrawer.module.css";
import { t } from "../texts";
import { ExtenderForms } from "./ExtenderForms";
import classes from "./ExtendersDrawer.module.css";

export default function ExtendersDrawer({ onClose }: { onClose: () => void }) {
  useFocusBack();
  return (
    <Drawer.Root
      opened
      onClose={onClose}
      position="right"
      size={560}
      transitionProps={{ duration: 160 }}
      classNames={{ content: drawer.content ?? "", overlay: drawer.scrim ?? "" }}
    >
      <Drawer.Overlay />
      <Drawer.Content>
        <div className={drawer.form}>
          <Drawer.Header className={drawer.header ?? ""}>
            <Drawer.Title className={drawer.title ?? ""}>{t("extendersTitle")}</Drawer.Title>
            <span className="grow" />
            <Drawer.CloseButton aria-label={t("close")} />
          </Drawer.Header>
          <div className={`${drawer.body ?? ""} ${classes.body ?? ""}`}>
            <ExtenderForms />
          </div>
        </div>
      </Drawer.Content>
    </Drawer.Root>
  );
}
