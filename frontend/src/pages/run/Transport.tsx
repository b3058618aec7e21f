/** Play, pause, step: the same buttons in the header and at the bottom of a phone. */
import type { Run } from "@/api/types";
import { Icon, type IconName } from "@/components/Icon";

import { t } from "./texts";
import classes from "./Transport.module.css";
import type { Commander } from "./useCommand";

interface TransportProps {
  run: Run;
  commander: Commander;
  operates: boolean;
  keys?: boolean;
}

export function canMove(run: Run): boolean {
  return run.state !== "finished" && run.state !== "stopped" && run.state !== "failed";
}

export function isPlaying(run: Run): boolean {
  return run.state === "playing" || run.state === "waiting_for_person";
}

export function Transport({ run, commander, operates, keys = false }: TransportProps) {
  const playing = isPlaying(run);
  const off = !operates || !canMove(run);
  const why = operates ? t("theRunIs", { state: run.state }) : t("yourRoleCanLookBut2");
  const step = (what: "cycle" | "point") => void commander.send({ type: "step", what });
  return (
    <div className={classes.group} role="toolbar" aria-label={t("runControls")}>
      <Control icon={playing ? "pause" : "play"} label={playing ? t("pause2") : t("play2")} title={off ? why : playing ? t("pauseP") : t("playP")} main
        disabled={off} onClick={() => void commander.send(playing ? { type: "pause" } : { type: "play" })} />
      <Control icon="cycle" label={t("cycle")} hint={keys ? "s" : undefined} title={off ? why : t("oneSchedulingCycleS")} disabled={off || playing} onClick={() => step("cycle")} />
      <Control icon="point" label={t("point")} hint={keys ? "x" : undefined} title={off ? why : t("oneExtensionPointX")} disabled={off || playing} onClick={() => step("point")} />
    </div>
  );
}

interface ControlProps {
  icon: IconName;
  label: string;
  title: string;
  main?: boolean;
  hint?: string | undefined;
  disabled: boolean;
  onClick: () => void;
}

function Control({ icon, label, title, main = false, hint, disabled, onClick }: ControlProps) {
  return (
    <button type="button" className={classes.button} data-main={main} title={title} disabled={disabled} onClick={onClick}>
      <Icon name={icon} />
      <span>{label}</span>
      {hint === undefined ? null : <kbd aria-hidden="true">{hint}</kbd>}
    </button>
  );
}
