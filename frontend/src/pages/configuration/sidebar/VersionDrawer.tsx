/** What one saved version changed against the one before: in words and in lines. */
import "@mantine/core/styles/CloseButton.layer.css";
import "@mantine/core/styles/Overlay.layer.css";
import "@mantine/core/styles/Paper.layer.css";
import "@mantine/core/styles/ModalBase.layer.css";
import "@mantine/core/styles/Drawer.layer.css";

import { Drawer } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { versionDiffQuery } from "@/api/configurationQueries";
import { Failed, Outlines } from "@/components/Outcome";
import { useFocusBack } from "@/components/useFocusBack";

import { Changes } from "../changes/Changes";
import { DiffNumbers, DiffView } from "../changes/DiffView";
import classes from "../header/SaveDrawer.module.css";
import { t } from "../texts";

export default function VersionDrawer({
  configuration,
  number,
  onClose,
}: {
  configuration: string;
  number: number;
  onClose: () => void;
}) {
  useFocusBack();
  const comparison = useQuery(versionDiffQuery(configuration, number));
  return (
    <Drawer.Root
      opened
      onClose={onClose}
      position="right"
      size={560}
      transitionProps={{ duration: 160 }}
      classNames={{ content: classes.content ?? "", overlay: classes.scrim ?? "" }}
    >
      <Drawer.Overlay />
      <Drawer.Content>
        <div className={classes.header}>
          <Drawer.Title className={classes.title ?? ""}>{t("whatVersionChanged", { number })}</Drawer.Title>
          <span className="grow" />
          <Drawer.CloseButton aria-label={t("close")} />
        </div>
        <div className={classes.body}>
          {comparison.data === undefined ? (
            comparison.error === null ? (
              <Outlines count={4} height={28} label={t("comparing")} />
            ) : (
              <Failed
                what={t("theVersionsCouldNotBe")}
                error={comparison.error}
                retry={() => void comparison.refetch()}
              />
            )
          ) : (
            <>
              <p className={classes.summary}>
                <span className="muted">{t("againstVersion", { number: number - 1 })}</span>
                <DiffNumbers diff={comparison.data.diff} />
              </p>
              <Changes
                changes={comparison.data.changes}
                several={new Set(comparison.data.changes.map((one) => one.profile)).size > 1}
              />
              <DiffView diff={comparison.data.diff} label={t("linesOfVersion", { number: number - 1 })} />
            </>
          )}
        </div>
      </Drawer.Content>
    </Drawer.Root>
  );
}
