/** The frame of a dialog that begins to schedule real pods: yellow and black above what is asked. */
import "@mantine/core/styles/CloseButton.layer.css";
import "@mantine/core/styles/Overlay.layer.css";
import "@mantine/core/styles/Paper.layer.css";
import "@mantine/core/styles/ModalBase.layer.css";
import "@mantine/core/styles/Modal.layer.css";

import { Modal } from "@mantine/core";
import type { ReactNode } from "react";

import { Icon } from "@/components/Icon";
import { useFocusBack } from "@/components/useFocusBack";

import classes from "./ScheduleDialog.module.css";
import { t } from "./texts";

export function RealPodsDialog({ onClose, children }: { onClose: () => void; children: ReactNode }) {
  useFocusBack();
  return (
    <Modal.Root
      opened
      onClose={onClose}
      size={560}
      closeOnClickOutside={false}
      centered
      transitionProps={{ duration: 160 }}
      classNames={{ content: classes.content ?? "", overlay: classes.scrim ?? "" }}
    >
      <Modal.Overlay />
      <Modal.Content>
        <div className={classes.band}>
          <Icon name="bolt" size={16} />
          <b>{t("scheduleRealPods")}</b>
          <span className="grow" />
          <Modal.CloseButton aria-label={t("close")} className={classes.close ?? ""} />
        </div>
        {children}
      </Modal.Content>
    </Modal.Root>
  );
}
