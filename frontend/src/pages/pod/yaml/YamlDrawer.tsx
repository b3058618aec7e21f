/** A manifest as the run has it, read-only. Fetched with its editor when it is first asked for. */
import "@mantine/core/styles/CloseButton.layer.css";
import "@mantine/core/styles/Overlay.layer.css";
import "@mantine/core/styles/Paper.layer.css";
import "@mantine/core/styles/ModalBase.layer.css";
import "@mantine/core/styles/Drawer.layer.css";

import { Drawer } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { type ObjectRef, yamlQuery } from "@/api/podQueries";
import { Button } from "@/components/Button";
import { Failed, Outlines } from "@/components/Outcome";
import { useFocusBack } from "@/components/useFocusBack";

import { t } from "../texts";
import { copyText } from "./copyText";
import { objectLabel } from "./objects";
import classes from "./YamlDrawer.module.css";
import { YamlText } from "./YamlText";

interface YamlDrawerProps {
  run: string;
  object: ObjectRef;
  onClose: () => void;
}

export default function YamlDrawer({ run, object, onClose }: YamlDrawerProps) {
  useFocusBack();
  const yaml = useQuery(yamlQuery(run, object));
  return (
    <Drawer.Root
      opened
      onClose={onClose}
      position="right"
      size={620}
      transitionProps={{ duration: 0 }}
      classNames={{ overlay: classes.scrim ?? "", content: classes.content ?? "", title: classes.title ?? "" }}
    >
      <Drawer.Overlay />
      <Drawer.Content>
        <div className={classes.header}>
          <Drawer.Title>{object.name}</Drawer.Title>
          <span className="grow" />
          {yaml.data === undefined ? null : (
            <Button size="sm" onClick={() => void copyText(yaml.data.yaml)}>
              {t("copy")}
            </Button>
          )}
          <Drawer.CloseButton aria-label={t("close")} />
        </div>
        {yaml.data !== undefined ? (
          <YamlText text={yaml.data.yaml} label={t("yAMLOf", { objectLabel: objectLabel(object) })} />
        ) : yaml.error !== null ? (
          <Failed what={t("theYAMLCouldNotBe")} error={yaml.error} retry={() => void yaml.refetch()} />
        ) : (
          <Outlines count={10} height={20} label={t("readingTheYAML")} />
        )}
      </Drawer.Content>
    </Drawer.Root>
  );
}
