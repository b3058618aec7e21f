import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";

import { differenceQuery } from "@/api/podQueries";
import type { AttemptDifference as Difference, ScoreChange, VerdictChange } from "@/api/podTypes";
import { Button } from "@/components/Button";
import { Failed, Outlines } from "@/components/Outcome";
import { ScrollRegion } from "@/components/ScrollRegion";
import { listed } from "@/format/lists";
import { count } from "@/format/number";

import { signed } from "../score/difference";
import { t } from "../texts";
import { differenceAnswer, verdictText } from "./attemptDifference";
import classes from "./AttemptDifference.module.css";

const ROWS = 50;

/** What changed between two attempts: verdicts in groups, and the points of nodes that both scored. */
export function AttemptDifference({ run, before, after }: { run: string; before: number; after: number }) {
  const [limit, setLimit] = useState(ROWS);
  const found = useQuery(differenceQuery(run, before, after, limit));
  if (found.data === undefined) {
    return found.error === null ? (
      <Outlines count={3} height={32} label={t("comparingTheAttempts")} />
    ) : (
      <Failed what={t("theAttemptsCouldNotBe")} error={found.error} retry={() => void found.refetch()} />
    );
  }
  const difference = found.data;
  return (
    <section className={classes.difference} aria-labelledby="attempt-difference">
      <h3 id="attempt-difference" className={classes.answer}>
        {differenceAnswer(difference)}
      </h3>
      {difference.groups.length === 0 ? null : <Verdicts run={run} groups={difference.groups} />}
      {difference.rows.length === 0 ? null : <Points difference={difference} />}
      {difference.rows.length < difference.count ? (
        <Button size="sm" disabled={found.isFetching} onClick={() => setLimit((old) => Math.min(old * 4, 1000))}>
          {t("moreNodes", { count: difference.count - difference.rows.length })}
        </Button>
      ) : null}
    </section>
  );
}

function Verdicts({ run, groups }: { run: string; groups: readonly VerdictChange[] }) {
  return (
    <ScrollRegion className={classes.scroll} label={t("nodesWithAnotherVerdict")}>
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">{t("then")}</th>
            <th scope="col">{t("now")}</th>
            <th scope="col" className={classes.number}>
              {t("nodes")}
            </th>
            <th scope="col">{t("which")}</th>
          </tr>
        </thead>
        <tbody>
          {groups.map((group) => (
            <tr key={`${verdictText(group.before)}\n${verdictText(group.after)}`}>
              <td data-kind={group.before.kind}>{verdictText(group.before)}</td>
              <td data-kind={group.after.kind}>{verdictText(group.after)}</td>
              <td className={`${classes.number} num`}>{count(group.count)}</td>
              <td className={classes.nodes}>
                {group.nodes.map((node) => (
                  <Link key={node} to="/runs/$run" params={{ run }} search={{ node }} className="mono leads">
                    {node}
                  </Link>
                ))}
                {group.count > group.nodes.length ? (
                  <span className="faint">{t("andMore", { n: group.count - group.nodes.length })}</span>
                ) : null}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

function Points({ difference }: { difference: Difference }) {
  const places = difference.plugins
    .map((plugin, place) => ({ ...plugin, place }))
    .filter((plugin) => plugin.changed > 0);
  return (
    <>
      <p className={classes.lead}>
        {t("pointsOfNodesThatBoth", {
          count: difference.count,
          map: listed(places.map((plugin) => t("pluginOnN", { plugin: plugin.name, count: plugin.changed }))),
        })}
      </p>
      <ScrollRegion className={classes.scroll} label={t("nodesWithOtherPoints")}>
        <table className={classes.table}>
          <thead>
            <tr>
              <th scope="col">{t("node")}</th>
              <th scope="col" className={classes.number}>
                {t("total")}
              </th>
              {places.map((plugin) => (
                <th key={plugin.name} scope="col" className={classes.number}>
                  {plugin.name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {difference.rows.map((row) => (
              <Row key={row.node} row={row} places={places.map((plugin) => plugin.place)} />
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </>
  );
}

function Row({ row, places }: { row: ScoreChange; places: readonly number[] }) {
  return (
    <tr>
      <th scope="row" className="mono">
        {row.node}
      </th>
      <td className={`${classes.number} num`}>
        {count(row.before)} → {count(row.after)} <b>{row.after === row.before ? "" : signed(row.after - row.before)}</b>
      </td>
      {places.map((place) => (
        <Cell key={place} change={row.cells[place]} />
      ))}
    </tr>
  );
}

function Cell({ change }: { change: ScoreChange["cells"][number] | undefined }) {
  const same = change === undefined || change.before === change.after;
  return (
    <td className={`${classes.number} num ${same ? "faint" : ""}`}>
      {change === undefined
        ? ""
        : same
          ? change.after
          : `${change.before ?? t("notScored")} → ${change.after ?? t("notScored")}`}
    </td>
  );
}
