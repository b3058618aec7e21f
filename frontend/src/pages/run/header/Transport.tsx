/** Play, pause, step: in the header, and at the bottom of a phone. */
import { Link } from "@tanstack/react-router";

import type { Run } from "@/api/types";
import { useMe } from "@/api/useMe";
import { useSending } from "@/components/Button";
import { Icon, type IconName } from "@/components/Icon";
import { keyAt, runOf } from "@/rewind/moment";

import { t } from "../texts";
import type { Commander } from "../useCommand";
import classes from "./Transport.module.css";

interface TransportProps {
  run: Run;
  commander: Commander;
  operates: boolean;
}

export function canMove(run: Run): boolean {
  return run.state !== "finished" && run.state !== "stopped" && run.state !== "parked";
}

/** The first moment that is kept; of a run that has not begun its step 0. */
function toStart(run: Run): string {
  const first = run.thinned?.position ?? 0;
  return keyAt(runOf(run.id), first, Math.max(first + 1, run.position));
}

export function isPlaying(run: Run): boolean {
  return run.state === "playing" || run.state === "waiting_for_person";
}

export function Transport({ run, commander, operates }: TransportProps) {
  const { visits } = useMe();
  const playing = isPlaying(run);
  const off = !operates || !canMove(run);
  const why =
    run.moment !== null
      ? t("commandsAreHeldHere")
      : operates
        ? t("theRunIs", { state: run.state })
        : t("yourRoleCannotPlay");
  const step = (what: "cycle" | "point") => void commander.send({ type: "step", what });
  return (
    <div className={classes.group} role="toolbar" aria-label={t("runControls")}>
      {visits ? null : (
        <Link
          to="/runs/$run"
          params={{ run: toStart(run) }}
          search={(old: Record<string, unknown>) => ({ ...old, at: undefined })}
          className={`${classes.button} ${classes.toStart}`}
          aria-label={t("rewindToTheStart")}
          title={t("rewindToTheStart")}
        >
          <Icon name="rewind" />
        </Link>
      )}
      <Control
        icon={playing ? "pause" : "play"}
        label={playing ? t("pause") : t("play")}
        other={playing ? t("play") : t("pause")}
        hint="p"
        title={off ? why : playing ? t("pauseP") : t("playP")}
        main
        disabled={off}
        onClick={() => void commander.send(playing ? { type: "pause" } : { type: "play" })}
      />
      <Control
        icon="cycle"
        label={t("cycle")}
        hint="s"
        title={off ? why : t("oneSchedulingCycleS")}
        disabled={off || playing}
        onClick={() => step("cycle")}
      />
      <Control
        icon="point"
        label={t("point")}
        hint="x"
        title={off ? why : t("oneExtensionPointX")}
        disabled={off || playing}
        onClick={() => step("point")}
      />
    </div>
  );
}

interface ControlProps {
  icon: IconName;
  label: string;
  /** What it says in its other state: it is as wide as the longer of the two, so that neither moves what stands beside it. */
  other?: string;
  title: string;
  main?: boolean;
  hint: string;
  disabled: boolean;
  onClick: () => void;
}

function Control({ icon, label, other, title, main = false, hint, disabled, onClick }: ControlProps) {
  const refused = useSending(true);
  return (
    <button
      type="button"
      className={classes.button}
      data-main={main}
      title={title}
      disabled={disabled}
      aria-keyshortcuts={hint}
      onClick={onClick}
      {...refused}
    >
      <Icon name={icon} />
      <span className={classes.words} data-other={other}>
        {label}
      </span>
      <kbd aria-hidden="true">{hint}</kbd>
    </button>
  );
}
