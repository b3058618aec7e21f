/** What extenders were sent for one decision and what they replied, as on a pod's page. */
import "@mantine/core/styles/CloseButton.layer.css";
import "@mantine/core/styles/Overlay.layer.css";
import "@mantine/core/styles/Paper.layer.css";
import "@mantine/core/styles/ModalBase.layer.css";
import "@mantine/core/styles/Drawer.layer.css";

import { Drawer } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { type ShadowDecision, shadowExtendersQuery } from "@/api/shadowQueries";
import drawer from "@/components/Drawer.module.css";
import { useFocusBack } from "@/components/useFocusBack";
import { exact } from "@/format/time";
import { ExtenderCalls } from "@/pages/pod/attempt/Extenders";

import { t } from "./texts";

const WIDTH = 960;

interface ExtendersDrawerProps {
  run: string;
  decision: ShadowDecision;
  onClose: () => void;
}

export default function ExtendersDrawer({ run, decision, onClose }: ExtendersDrawerProps) {
  useFocusBack();
  const asked = useQuery(shadowExtendersQuery(run, decision.number));
  const title = t("askedAbout", { pod: `${decision.namespace}/${decision.name}`, at: exact(decision.at) });
  return (
    <Drawer.Root
      opened
      onClose={onClose}
      position="right"
      size={WIDTH}
      transitionProps={{ duration: 160 }}
      classNames={{ content: drawer.content ?? "", overlay: drawer.scrim ?? "" }}
    >
      <Drawer.Overlay />
      <Drawer.Content aria-label={title}>
        <header className={drawer.header}>
          <Drawer.Title className={drawer.title}>{title}</Drawer.Title>
          <span className="grow" />
          <Drawer.CloseButton aria-label={t("close")} />
        </header>
        <ExtenderCalls asked={asked} kept={t("extendersAreKept")} />
      </Drawer.Content>
    </Drawer.Root>
  );
}
