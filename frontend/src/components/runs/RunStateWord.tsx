/** A run's state as an icon and a word. */
import { type RunState } from "@/api/types";
import { Icon, type IconName } from "@/components/Icon";
import { t } from "@/components/texts";

import classes from "./RunsTable.module.css";

const STATE_LOOK: Record<RunState, { word: string; icon: IconName | null; tone: "now" | "done" | "bad" | "plain" }> = {
  created: {
    get word() {
      return t("notStarted");
    },
    icon: "pause",
    tone: "plain",
  },
  playing: {
    get word() {
      return t("playing");
    },
    icon: null,
    tone: "now",
  },
  paused: {
    get word() {
      return t("paused");
    },
    icon: "pause",
    tone: "plain",
  },
  waiting_for_person: {
    get word() {
      return t("waitingForAPerson");
    },
    icon: "waiting",
    tone: "plain",
  },
  finished: {
    get word() {
      return t("finished");
    },
    icon: "bound",
    tone: "done",
  },
  stopped: {
    get word() {
      return t("stopped");
    },
    icon: "stop",
    tone: "done",
  },
  parked: {
    get word() {
      return t("parked");
    },
    icon: "warning",
    tone: "bad",
  },
};

export const stateWord = (state: RunState): string => STATE_LOOK[state].word;

export function RunStateWord({ state }: { state: RunState }) {
  const { word, icon, tone } = STATE_LOOK[state];
  return (
    <span className={classes.state} data-tone={tone}>
      {icon === null ? <i className={classes.live} /> : <Icon name={icon} size={13} />}
      {word}
    </span>
  );
}
