/** The cycle half done: who is filtered so far, and the scores so far, step by step from raw to total. */
import { useState } from "react";

import type { Cycle } from "@/api/types";
import { Segmented } from "@/components/Segmented";
import { listed } from "@/format/lists";
import { count } from "@/format/number";

import classes from "./CycleSoFar.module.css";
import { t } from "./texts";

type Step = "raw" | "normalized" | "total";
type Filtered = NonNullable<Cycle["filtered"]>;
type Scored = NonNullable<Cycle["scored"]>;

export function CycleSoFar({ cycle }: { cycle: Cycle }) {
  const { filtered, scored } = cycle;
  if (!filtered) return null;
  return (
    <section className={classes.soFar} aria-label={t("title")}>
      <FilteredSoFar filtered={filtered} />
      {scored ? <ScoredSoFar scored={scored} /> : null}
    </section>
  );
}

function FilteredSoFar({ filtered }: { filtered: Filtered }) {
  return (
    <div className={classes.part}>
      <h2>{t("filtered")}</h2>
      <ul>
        <li><b>{t("left", { count: filtered.left, of: filtered.of })}</b> <span className="mono faint">{named(filtered.named, filtered.left)}</span></li>
        {filtered.groups.map((group) => (
          <li key={`${group.plugin} ${group.reasons.join()}`}>
            <b className="num">{count(group.nodes)}</b> {group.plugin}: {group.reasons.length === 0 ? group.code : listed(group.reasons)} <span className="mono faint">{named(group.named, group.nodes)}</span>
          </li>
        ))}
        {filtered.unseen > 0 ? <li className="faint">{t("unseen", { count: filtered.unseen })}</li> : null}
      </ul>
    </div>
  );
}

function named(names: readonly string[], all: number): string {
  return listed(all > names.length ? [...names, "…"] : names);
}

function ScoredSoFar({ scored }: { scored: Scored }) {
  const [step, setStep] = useState<Step>("total");
  return (
    <div className={classes.part}>
      <div className={classes.head}>
        <h2>{t("scored")}</h2>
        <Segmented label={t("scored")} value={step} onChange={setStep} options={[{ value: "raw", label: t("raw"), title: t("rawTitle") }, { value: "normalized", label: t("normalized"), title: t("normalizedTitle") }, { value: "total", label: t("total"), title: t("totalTitle") }]} />
        <span className="faint">{scored.tied > 1 ? t("tied", { count: scored.tied }) : t("nodes", { count: scored.nodes })}</span>
      </div>
      {/* A region that scrolls takes the focus, so that arrow keys scroll it. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, and a keyboard must be able to */}
      <div className={classes.scroll} role="region" aria-label={t("scored")} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th>{t("node")}</th>
              {step === "total" ? <th className={classes.number}>{t("sum")}</th> : null}
              {scored.plugins.map((plugin) => <th key={plugin.name} className={classes.number}>{plugin.name}{step === "total" ? ` × ${count(plugin.weight)}` : ""}</th>)}
            </tr>
          </thead>
          <tbody>
            {scored.rows.map((row) => (
              <tr key={row.node}>
                <td className="mono">{row.node}</td>
                {step === "total" ? <td className={`${classes.number} num`}><b>{count(row.total)}</b></td> : null}
                {scored.plugins.map((plugin, place) => <td key={plugin.name} className={`${classes.number} num`}>{count(cell(row, place, plugin.weight, step))}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function cell(row: Scored["rows"][number], place: number, weight: number, step: Step): number {
  const normalized = row.normalized[place] ?? 0;
  return step === "raw" ? (row.raw[place] ?? 0) : step === "normalized" ? normalized : normalized * weight;
}
