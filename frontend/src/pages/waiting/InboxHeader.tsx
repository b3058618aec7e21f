/** What stands above the list: how many wait, in which runs, what it is narrowed to, and evictions that are proposed. */
import { getRouteApi } from "@tanstack/react-router";
import { type RefObject, useEffect, useState } from "react";

import { useMe } from "@/api/useMe";
import type { WaitingKind, WaitingRow } from "@/api/waitingTypes";
import { Button } from "@/components/Button";
import { Pill } from "@/components/Chip";
import { Icon } from "@/components/Icon";
import { Segmented } from "@/components/Segmented";
import { count } from "@/format/number";

import { Evictions } from "./Evictions";
import { rich, t } from "./texts";
import classes from "./WaitingPage.module.css";

const route = getRouteApi("/waiting");

interface InboxHeaderProps {
  total: number;
  person: number;
  gang: number;
  /** One row of each run in which somebody waits. */
  runs: readonly WaitingRow[];
  fresh: number;
  orderHeld: boolean;
  onHold: () => void;
  field: RefObject<HTMLInputElement | null>;
}

export function InboxHeader({ runs, fresh, orderHeld, onHold, field, ...counts }: InboxHeaderProps) {
  const { total } = counts;
  const { run } = route.useSearch();
  const { operates: mayDecide } = useMe();
  return (
    <>
      <header>
        <div className="row">
          <h1 className={classes.title}>{t("waitingOnPermit")}</h1>
          <Pill big title={t("podsWaitOnPermit", { count: total })}>
            {count(total)}
          </Pill>
          <span className="muted hidePhone">
            {runs.length === 0
              ? ""
              : runs.length === 1
                ? t("inSoonestTimeOutFirst", { runname: runs[0]?.run_name ?? "" })
                : t("inRunsSoonestTimeOut", { runs: runs.length })}
          </span>
          <span className="grow" />
          {fresh > 0 ? (
            <span className={classes.fresh} role="status">
              {orderHeld ? t("cameSinceOrderHeld", { fresh }) : t("comeWhenListLeft", { fresh })}
            </span>
          ) : null}
          <span className="hidePhone">
            <Button
              kind={orderHeld ? "primary" : "ghost"}
              size="sm"
              icon="pause"
              hint="h"
              aria-pressed={orderHeld}
              onClick={onHold}
            >
              {orderHeld ? t("orderHeld") : t("holdOrder")}
            </Button>
          </span>
        </div>
        <Tools runs={runs} field={field} {...counts} />
      </header>
      <Evictions run={run} mayDecide={mayDecide} />
    </>
  );
}

type ToolsProps = Pick<InboxHeaderProps, "total" | "person" | "gang" | "runs" | "field">;

function Tools({ total, person, gang, runs, field }: ToolsProps) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <div className={classes.tools}>
      <Search
        field={field}
        value={search.q ?? ""}
        onChange={(q) => void navigate({ search: (old) => ({ ...old, q: q === "" ? undefined : q }), replace: true })}
      />
      <Segmented<WaitingKind | "all">
        label={t("whichPods")}
        value={search.kind ?? "all"}
        className={classes.kinds ?? ""}
        onChange={(kind) =>
          void navigate({ search: (old) => ({ ...old, kind: kind === "all" ? undefined : kind }), replace: true })
        }
        options={[
          { value: "all", label: t("allTotal", { total }) },
          { value: "person", label: t("needsAPerson", { person }) },
          { value: "gang", label: t("gangsGang", { gang }) },
        ]}
      />
      {runs.length > 1 || search.run !== undefined ? (
        <select
          className={classes.runs}
          aria-label={t("run")}
          value={search.run ?? ""}
          onChange={(event) =>
            void navigate({
              search: (old) => ({ ...old, run: event.target.value === "" ? undefined : event.target.value }),
              replace: true,
            })
          }
        >
          <option value="">{t("allRuns")}</option>
          {search.run !== undefined && runs.length === 0 ? <option value={search.run}>{t("thisRun")}</option> : null}
          {runs.map((one) => (
            <option key={one.run} value={one.run}>
              {one.run_number}, {one.run_name}
            </option>
          ))}
        </select>
      ) : null}
      <span className="grow" />
      <span className={`${classes.keys} faint hidePhone`} aria-hidden="true">
        <kbd>j</kbd>
        <kbd>k</kbd>{" "}
        {rich("moveSpaceMarkApproveReject", {
          kbd: (inside) => <kbd>{inside}</kbd>,
          kbd2: <kbd>a</kbd>,
          kbd3: <kbd>r</kbd>,
        })}
      </span>
    </div>
  );
}

interface SearchProps {
  field: RefObject<HTMLInputElement | null>;
  value: string;
  onChange: (q: string) => void;
}

const TYPED = 250;

function Search({ field, value, onChange }: SearchProps) {
  const [text, setText] = useState(value);
  const [seen, setSeen] = useState(value);
  if (value !== seen) {
    setSeen(value);
    setText(value);
  }
  useEffect(() => {
    if (text.trim() === value) return undefined;
    const timer = window.setTimeout(() => onChange(text.trim()), TYPED);
    return () => window.clearTimeout(timer);
  }, [text, value, onChange]);
  return (
    <label className={classes.search}>
      <Icon name="search" size={14} />
      <span className="srOnly">{t("filterWaitingPods")}</span>
      <input
        ref={field}
        type="search"
        value={text}
        placeholder={t("podLAppServeCart")}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") event.currentTarget.blur();
        }}
      />
      <kbd className="hidePhone" aria-hidden="true">
        /
      </kbd>
    </label>
  );
}
