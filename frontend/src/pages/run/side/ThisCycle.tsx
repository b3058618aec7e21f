/** The cycle half done: which filters took which nodes away, in their order, then the scores, then who is waited for. */
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import type { Cycle, Run } from "@/api/types";
import { ButtonLink } from "@/components/Button";
import { Chip, PodName } from "@/components/Chip";
import { Empty } from "@/components/Outcome";
import { ScrollRegion } from "@/components/ScrollRegion";
import { Segmented } from "@/components/Segmented";
import { listed } from "@/format/lists";
import { count } from "@/format/number";
import { useKeys } from "@/keys/useKeys";

import { SelectLink } from "../SelectLink";
import { t } from "../texts";
import classes from "./ThisCycle.module.css";

type Step = "raw" | "normalized" | "total";
type Filtered = NonNullable<Cycle["filtered"]>;
type Scored = NonNullable<Cycle["scored"]>;

interface ThisCycleProps {
  run: Run;
  cycle: Cycle | null;
  /** Whether Enter is the cycle's pod's: nothing else is selected. */
  opens: boolean;
  /** What all nodes' names begin with, left out as on the tiles. */
  prefix: string;
}

export function ThisCycle({ run, cycle, opens, prefix }: ThisCycleProps) {
  const navigate = useNavigate();
  useKeys(
    cycle === null || !opens
      ? []
      : [
          {
            keys: "Enter",
            label: t("openThePodOfTheCycle"),
            group: t("run"),
            run: () =>
              void navigate({
                to: "/runs/$run/pods/$namespace/$name",
                params: { run: run.id, namespace: cycle.pod.namespace, name: cycle.pod.name },
              }),
          },
        ],
  );
  if (cycle === null) return <Empty>{run.moment === null ? t("noCycleIsUnderWay") : t("noCycleWasUnderWay")}</Empty>;
  const { filtered, scored, pod } = cycle;
  const current = cycle.points.find((one) => one.state === "current")?.point;
  return (
    <ScrollRegion className={classes.cycle} label={t("theCycleSoFar")}>
      <div className={classes.head}>
        <PodName pod={pod} />
        <Chip>{t("attemptAttempt", { attempt: cycle.attempt })}</Chip>
        <span className="grow" />
        <ButtonLink
          size="sm"
          hint={opens ? "↵" : undefined}
          to="/runs/$run/pods/$namespace/$name"
          params={{ run: run.id, namespace: pod.namespace, name: pod.name }}
        >
          {t("openPod")}
        </ButtonLink>
      </div>
      {filtered ? (
        <FilteredSoFar filtered={filtered} prefix={prefix} />
      ) : (
        <p>{current === undefined ? cycle.note : t("standsAt", { point: current, note: cycle.note })}</p>
      )}
      {scored ? (
        <ScoredSoFar scored={scored} />
      ) : filtered ? (
        <p className={`${classes.later} faint`}>{t("scoresComeAfterScore")}</p>
      ) : null}
      {current === "Permit" || current === "PreBind" || current === "Bind" ? (
        <p>
          {t("standsAt", { point: current, note: cycle.note })}{" "}
          <Link to="/runs/$run" params={{ run: run.id }} search={{ queue: "waiting" }} className="leads">
            {t("whoWaitsOnPermit")}
          </Link>
        </p>
      ) : null}
    </ScrollRegion>
  );
}

function FilteredSoFar({ filtered, prefix }: { filtered: Filtered; prefix: string }) {
  const share = (nodes: number) => `${(nodes / Math.max(1, filtered.of)) * 100}%`;
  const steps = filtered.groups.map((group, place) => ({
    ...group,
    left: filtered.groups.slice(0, place + 1).reduce((left, one) => left - one.nodes, filtered.of),
  }));
  return (
    <>
      <p className={classes.sum}>
        <b>{t("nodesLeft", { count: filtered.of, left: filtered.left })}</b>
        {filtered.left > 0 && filtered.left <= filtered.named.length ? (
          <>
            {" "}
            <Nodes names={filtered.named} all={filtered.left} prefix={prefix} />
          </>
        ) : null}
      </p>
      <ol className={classes.filters}>
        {steps.map((group) => (
          <li key={`${group.plugin} ${group.reasons.join()}`}>
            <div className={classes.line}>
              <b className="num">{count(group.nodes)}</b>
              <span>
                <b>{group.plugin}</b>
                <em>{group.reasons.length === 0 ? group.code : listed(group.reasons)}</em>
              </span>
              <span className="num faint">{t("leftAfter", { left: group.left })}</span>
            </div>
            <div className={classes.bar} aria-hidden="true">
              <i style={{ width: share(group.left) }} />
              <u style={{ width: share(group.nodes) }} />
            </div>
            <p className={classes.names}>
              <Nodes names={group.named} all={group.nodes} prefix={prefix} />
            </p>
          </li>
        ))}
      </ol>
      {filtered.unseen > 0 ? (
        <p className="faint">
          {typeof filtered.nominated === "string"
            ? t("unseenNominated", { count: filtered.unseen, node: filtered.nominated })
            : filtered.batched_with !== undefined
              ? t("unseenBatched", { count: filtered.unseen, pod: filtered.batched_with })
              : t("unseenNodes", { count: filtered.unseen })}
        </p>
      ) : null}
    </>
  );
}

function Nodes({ names, all, prefix }: { names: readonly string[]; all: number; prefix: string }) {
  return (
    <span className="mono">
      {names.map((name, index) => (
        <span key={name}>
          {index === 0 ? "" : ", "}
          <SelectLink node={name} pod={null} title={name}>
            {name.startsWith(prefix) ? name.slice(prefix.length) : name}
          </SelectLink>
        </span>
      ))}
      {all > names.length ? ` ${t("andMoreNodes", { count: all - names.length })}` : ""}
    </span>
  );
}

function ScoredSoFar({ scored }: { scored: Scored }) {
  const [step, setStep] = useState<Step>("total");
  return (
    <section aria-label={t("scoresSoFar")} className={classes.scores}>
      <div className={classes.scoresHead}>
        <h3>{t("scoresSoFar")}</h3>
        <span className="faint">
          {scored.tied > 1 ? t("tiedBest", { count: scored.tied }) : t("bestOf", { count: scored.nodes })}
        </span>
      </div>
      <Segmented
        label={t("scoresSoFar")}
        value={step}
        onChange={setStep}
        options={[
          { value: "raw", label: t("raw"), title: t("rawTitle") },
          { value: "normalized", label: t("normalized"), title: t("normalizedTitle") },
          { value: "total", label: t("totals"), title: t("totalsTitle") },
        ]}
      />
      <ScrollRegion className={classes.scroll} label={t("tableOfScores")}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t("node")}</th>
              {step === "total" ? (
                <th scope="col" className={classes.number}>
                  {t("total")}
                </th>
              ) : null}
              {scored.plugins.map((plugin) => (
                <th key={plugin.name} scope="col" className={classes.number}>
                  {plugin.name}
                  {step === "total" ? ` × ${count(plugin.weight)}` : ""}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {scored.rows.map((row) => (
              <tr key={row.node}>
                <th scope="row" className="mono">
                  {row.node}
                </th>
                {step === "total" ? (
                  <td className={`${classes.number} num`}>
                    <b>{count(row.total)}</b>
                  </td>
                ) : null}
                {scored.plugins.map((plugin, place) => (
                  <td key={plugin.name} className={`${classes.number} num`}>
                    {count(cell(row, place, plugin.weight, step))}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </section>
  );
}

function cell(row: Scored["rows"][number], place: number, weight: number, step: Step): number {
  const normalized = row.normalized[place] ?? 0;
  return step === "raw" ? (row.raw[place] ?? 0) : step === "normalized" ? normalized : normalized * weight;
}
