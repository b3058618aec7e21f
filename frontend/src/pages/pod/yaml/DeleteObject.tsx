/** Whether an object of a run is really to go: what rests on it is said first. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { sendCommand } from "@/api/commands";
import { type ObjectRef, yamlQuery } from "@/api/podQueries";
import type { ObjectYaml } from "@/api/podTypes";
import { Button } from "@/components/Button";
import { Failed } from "@/components/Outcome";
import { settled } from "@/live/commands";
import { refusal } from "@/live/reach";
import { notify } from "@/shell/notify";

import { t } from "../texts";
import { dropDraft } from "./drafts";
import { objectLabel } from "./objects";
import classes from "./YamlDrawer.module.css";

interface DeleteObjectProps {
  run: string;
  object: ObjectRef;
  known: ObjectYaml;
  onCancel: () => void;
  onDone: () => void;
}

export function DeleteObject({ run, object, known, onCancel, onDone }: DeleteObjectProps) {
  const queries = useQueryClient();
  const [sending, setSending] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const label = objectLabel(object);
  const yes = useRef<HTMLButtonElement>(null);
  // The button that asked is gone, and one that is off loses the focus: Escape would leave the page then.
  useEffect(() => yes.current?.focus(), [error]);
  const send = async () => {
    const away = refusal();
    if (away !== null) {
      setError(new Error(away));
      return;
    }
    setSending(true);
    setError(null);
    try {
      const receipt = await sendCommand(run, { type: "change", verb: "delete", manifest: known.yaml, ...object });
      await settled(run, receipt);
      dropDraft(run, object);
      notify({ kind: "ok", title: t(receipt.kept ? "deletionIsKept" : "objectWasDeleted", { objectLabel: label }) });
      onDone();
      // Not its own text, which the drawer still shows until the page has another address: there is none any more.
      const [, , text] = yamlQuery(run, object).queryKey;
      void queries.invalidateQueries({ queryKey: ["run", run], predicate: ({ queryKey }) => queryKey[2] !== text });
    } catch (failure) {
      setError(failure instanceof Error ? failure : new Error(String(failure)));
      setSending(false);
    }
  };
  return (
    <section className={classes.question} aria-labelledby="whether-to-delete">
      <h3 id="whether-to-delete">{t("deleteThisObject", { objectLabel: label })}</h3>
      <p>{known.rests_on_it}</p>
      {error === null ? null : <Failed small what={t("objectNotDeleted")} error={error} />}
      <div className={classes.choices}>
        <Button kind="danger-solid" sends ref={yes} disabled={sending} onClick={() => void send()}>
          {t(sending ? "sendingTheObject" : "deleteIt")}
        </Button>
        <Button kind="ghost" onClick={onCancel}>
          {t("keepIt")}
        </Button>
      </div>
    </section>
  );
}
