/** A manifest as the run has it, which operators may edit where the server says so. Fetched with its editor when it is first asked for. */
import "@mantine/core/styles/CloseButton.layer.css";
import "@mantine/core/styles/Overlay.layer.css";
import "@mantine/core/styles/Paper.layer.css";
import "@mantine/core/styles/ModalBase.layer.css";
import "@mantine/core/styles/Drawer.layer.css";

import { Drawer } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { type ObjectRef, yamlQuery } from "@/api/podQueries";
import { useMe } from "@/api/useMe";
import { Button } from "@/components/Button";
import { Failed, Outlines } from "@/components/Outcome";
import { useFocusBack } from "@/components/useFocusBack";

import { t } from "../texts";
import { copyText } from "./copyText";
import { DeleteObject } from "./DeleteObject";
import { draftOf } from "./drafts";
import { NetworkTables } from "./NetworkTables";
import { ObjectEditor } from "./ObjectEditor";
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
  const { operates } = useMe();
  const [asked, setAsked] = useState(draftOf(run, object) !== null);
  const [edited, setEdited] = useState(false);
  const [deleting, setDeleting] = useState(false);
  const editable = operates && yaml.data?.editable === true;
  const editing = asked && editable;
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
          {editable && !editing && !deleting ? (
            <Button size="sm" kind="danger" onClick={() => setDeleting(true)}>
              {t("deleteTheObject")}
            </Button>
          ) : null}
          {editable && !editing ? (
            <Button
              size="sm"
              // What had the focus went with the editor; left to the page, Escape would leave that, too.
              ref={(button) => {
                if (edited) button?.focus();
              }}
              onClick={() => {
                setDeleting(false);
                setAsked(true);
              }}
            >
              {t("editTheObject")}
            </Button>
          ) : null}
          {yaml.data === undefined || editing ? null : (
            <Button size="sm" onClick={() => void copyText(yaml.data.yaml)}>
              {t("copy")}
            </Button>
          )}
          <Drawer.CloseButton aria-label={t("close")} />
        </div>
        {yaml.data !== undefined && editing ? (
          <ObjectEditor
            run={run}
            object={object}
            draft={draftOf(run, object) ?? { read: yaml.data.yaml, text: yaml.data.yaml, version: yaml.data.version }}
            onDone={() => {
              setEdited(true);
              setAsked(false);
            }}
          />
        ) : yaml.data !== undefined ? (
          <>
            {editable && deleting ? (
              <DeleteObject
                run={run}
                object={object}
                known={yaml.data}
                onCancel={() => {
                  setEdited(true);
                  setDeleting(false);
                }}
                onDone={onClose}
              />
            ) : null}
            <NetworkTables costs={yaml.data.costs} dependencies={yaml.data.dependencies} />
            <YamlText text={yaml.data.yaml} label={t("yAMLOf", { objectLabel: objectLabel(object) })} />
          </>
        ) : yaml.error !== null ? (
          <Failed what={t("theYAMLCouldNotBe")} error={yaml.error} retry={() => void yaml.refetch()} />
        ) : (
          <Outlines count={10} height={20} label={t("readingTheYAML")} />
        )}
      </Drawer.Content>
    </Drawer.Root>
  );
}
