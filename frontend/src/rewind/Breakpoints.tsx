/** Where the run pauses by itself: set and removed here; the one it stands at is said in the strip below the timeline. */
import { type SubmitEvent, useId, useState } from "react";

import { clientId } from "@/api/commands";
import type { CommandInput, Run } from "@/api/types";
import { Button, IconButton } from "@/components/Button";
import { Popover } from "@/components/Popover";
import { useKeys } from "@/keys/useKeys";
import { count } from "@/format/number";

import classes from "./Breakpoints.module.css";
import { t } from "./texts";

type On = Run["breakpoints"][number]["on"];

const KINDS: Record<On, { label: string; value: string; values: readonly string[] }> = {
  point: {
    get label() {
      return t("reachesTheExtensionPoint");
    },
    value: "Filter",
    values: ["PreFilter", "Filter", "PostFilter", "PreScore", "Score", "Reserve", "Permit", "PreBind", "Bind"],
  },
  status: {
    get label() {
      return t("becomes");
    },
    value: "unschedulable",
    values: ["active", "backoff", "unschedulable", "waiting", "bound", "deleted"],
  },
  rejection: {
    get label() {
      return t("isRejectedByThePlugin");
    },
    value: "NodeResourcesFit",
    values: [],
  },
};

interface BreakpointsProps {
  run: Run;
  operates: boolean;
  send: (command: CommandInput) => Promise<unknown>;
}

export function Breakpoints({ run, operates, send }: BreakpointsProps) {
  const [open, setOpen] = useState(false);
  useKeys([{ keys: "b", label: t("breakpoints"), group: t("run"), run: () => setOpen(!open) }]);
  const number = run.breakpoints.length;
  return (
    <Popover
      label={t("breakpoints")}
      open={open}
      onOpen={setOpen}
      button={(opener) => (
        <Button {...opener} icon="dot" className={classes.button} title={t("breakpointsKey")} aria-keyshortcuts="b">
          <span className="wordHidden">{t("breakpoints")}</span>
          <span className={classes.number}>{count(number)}</span>
        </Button>
      )}
    >
      <Panel run={run} operates={operates} send={send} />
    </Popover>
  );
}

function Panel({ run, operates, send }: BreakpointsProps) {
  const id = useId();
  const [on, setOn] = useState<On>("point");
  const [value, setValue] = useState(KINDS.point.value);
  const [filter, setFilter] = useState("");
  const kind = KINDS[on];
  const set = (event: SubmitEvent) => {
    event.preventDefault();
    void send({ type: "breakpoint_set", id: clientId(), on, value: value.trim(), filter: filter.trim() });
  };
  return (
    <div className={classes.panel}>
      {run.breakpoints.length === 0 ? (
        <p className="faint">{t("noneTheRunPausesWhen")}</p>
      ) : (
        <ul>
          {run.breakpoints.map((one) => (
            <li key={one.id} data-hit={run.hit?.id === one.id}>
              <span>
                {one.filter === undefined || one.filter === "" ? t("anyPod") : <code>{one.filter}</code>}{" "}
                {KINDS[one.on].label} <b>{one.value}</b>
                {one.node === undefined || one.node === "" ? "" : ` ${t("onNode", { node: one.node })}`}
              </span>
              <IconButton
                icon="close"
                label={t("removeTheBreakpointAt", { value: one.value })}
                sends
                disabled={!operates}
                onClick={() => void send({ type: "breakpoint_remove", id: one.id })}
              />
            </li>
          ))}
        </ul>
      )}
      <form onSubmit={set}>
        <label htmlFor={`${id}-filter`}>{t("pods")}</label>
        <input
          id={`${id}-filter`}
          value={filter}
          placeholder={t("allTextInverseLApp")}
          onChange={(event) => setFilter(event.currentTarget.value)}
        />
        <label htmlFor={`${id}-on`}>{t("pauseWhenOne")}</label>
        <select
          id={`${id}-on`}
          value={on}
          onChange={(event) => {
            const next = event.currentTarget.value as On;
            setOn(next);
            setValue(KINDS[next].value);
          }}
        >
          {(Object.keys(KINDS) as On[]).map((each) => (
            <option key={each} value={each}>
              {KINDS[each].label}
            </option>
          ))}
        </select>
        <label htmlFor={`${id}-value`}>{t("which")}</label>
        {kind.values.length === 0 ? (
          <input id={`${id}-value`} value={value} required onChange={(event) => setValue(event.currentTarget.value)} />
        ) : (
          <select id={`${id}-value`} value={value} onChange={(event) => setValue(event.currentTarget.value)}>
            {kind.values.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        )}
        <Button type="submit" size="sm" sends disabled={!operates || value.trim() === ""}>
          {t("set")}
        </Button>
      </form>
    </div>
  );
}
