import { useNavigate } from "@tanstack/react-router";
import { useId, useState } from "react";

import { forkWhenThere, type HelpAnswer, type Remedy } from "@/api/analyses";
import { useMe } from "@/api/useMe";
import { Button } from "@/components/Button";
import { notifyError } from "@/shell/notify";

import { t } from "../texts";
import classes from "./HelpPanel.module.css";
import { remedyDetail } from "./remedies";
import { RemedyPatch } from "./RemedyPatch";

interface RemedyItemProps {
  rank: number;
  run: string;
  /** namespace/name */
  pod: string;
  position: number;
  remedy: Remedy;
  answer: HelpAnswer;
}

/** What to change, what comes of it for this pod and for others, how it is done in a real cluster, and the fork. */
export function RemedyItem({ rank, run, pod, position, remedy, answer }: RemedyItemProps) {
  const [open, setOpen] = useState(false);
  const patch = useId();
  const unnamed = remedy.others_count - remedy.others.length;
  return (
    <li>
      <span className={`${classes.rank} num`} aria-hidden="true">
        {rank}
      </span>
      <div className={classes.what}>
        <b>{remedy.text}</b>
        <p>{remedyDetail(remedy, answer)}</p>
        {remedy.others.length === 0 ? null : (
          <ul className={classes.others} aria-label={t("whatBecomesOfOthers")}>
            {remedy.others.map((other) => (
              <li key={other.pod} data-fate={other.fate}>
                {other.text}
              </li>
            ))}
            {unnamed > 0 ? <li>{t("othersToo", { count: unnamed })}</li> : null}
          </ul>
        )}
      </div>
      <div className={classes.doing}>
        {remedy.commands.length === 0 && remedy.diff === "" ? null : (
          <Button
            size="sm"
            aria-expanded={open}
            aria-controls={patch}
            onClick={() => setOpen(!open)}
            aria-label={t("patchOf", { text: remedy.text })}
          >
            {open ? t("hidePatch") : t("showPatch")}
          </Button>
        )}
        <TryOnAFork run={run} pod={pod} position={position} remedy={remedy} />
      </div>
      <div id={patch} className={classes.patch} hidden={!open}>
        {open ? <RemedyPatch remedy={remedy} /> : null}
      </div>
    </li>
  );
}

function TryOnAFork({ run, pod, position, remedy }: { run: string; pod: string; position: number; remedy: Remedy }) {
  const { operates } = useMe();
  const navigate = useNavigate();
  const [busy, setBusy] = useState(false);
  const go = async () => {
    setBusy(true);
    try {
      const fork = await forkWhenThere(run, position, remedy.operations);
      await navigate({ to: "/runs/$run", params: { run: fork.id }, search: { pod } });
    } catch (error) {
      notifyError(t("theForkWasNotMade"), error);
      setBusy(false);
    }
  };
  return (
    <Button
      size="sm"
      sends
      disabled={!operates || busy}
      onClick={() => void go()}
      aria-label={t("tryOnAFork", { text: remedy.text })}
      title={operates ? t("opensANewRunThat") : t("yourRoleCanLookBut")}
    >
      {busy ? t("forking") : t("tryOnAForkButton")}
    </Button>
  );
}
