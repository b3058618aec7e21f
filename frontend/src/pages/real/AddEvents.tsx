/** Events of the real cluster, added to the snapshot of a run. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";

import { pathOf, upload } from "@/api/client";
import type { AddedEvents } from "@/api/realQueries";
import { useMe } from "@/api/useMe";
import { Button } from "@/components/Button";
import { notifyError } from "@/shell/notify";
import { announce } from "@/shell/pageLive";

import classes from "./Real.module.css";
import { t } from "./texts";

export function AddEvents({ snapshot, run }: { snapshot: string; run: string }) {
  const { edits, visits } = useMe();
  const chooser = useRef<HTMLInputElement>(null);
  const queries = useQueryClient();
  const add = useMutation({
    mutationFn: async (file: File) =>
      (await upload(pathOf("snapshots", snapshot, "events"), file, () => undefined).promise) as AddedEvents,
    onSuccess: async (added) => {
      announce("events", t("added", { count: added.added }));
      await Promise.all([
        queries.invalidateQueries({ queryKey: ["real", run] }),
        queries.invalidateQueries({ queryKey: ["run", run] }),
      ]);
    },
    onError: (error) => notifyError(t("nothingAdded"), error),
  });
  if (visits) return null;
  return (
    <span className={classes.add}>
      {add.data === undefined ? null : <span className="muted">{t("added", { count: add.data.added })}</span>}
      <Button
        size="sm"
        icon="upload"
        sends
        disabled={!edits || add.isPending}
        title={edits ? undefined : t("onlyEditors")}
        onClick={() => chooser.current?.click()}
      >
        {add.isPending ? t("adding") : t("addEvents")}
      </Button>
      <input
        ref={chooser}
        type="file"
        hidden
        tabIndex={-1}
        aria-label={t("addEvents")}
        accept=".json,.yaml,.yml"
        onChange={(event) => {
          const file = event.currentTarget.files?.[0];
          if (file !== undefined) add.mutate(file);
          event.currentTarget.value = "";
        }}
      />
    </span>
  );
}
