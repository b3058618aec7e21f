import { Link } from "@tanstack/react-router";
import { memo } from "react";

import { Icon } from "@/components/Icon";
import { clauses } from "@/format/lists";
import { count, percent } from "@/format/number";
import { resourceLabel } from "@/format/resources";
import type { NodeColumns } from "@/live/nodeColumns";

import { t } from "../texts";
import { barsOf, FULL } from "./nodeGroups";
import classes from "./NodeTile.module.css";
import { type NodeVerdict, shortReason } from "./selection";

export interface TileProps {
  run: string;
  table: NodeColumns;
  row: number;
  /** Changes with every value, so the memo notices writes into the typed arrays. */
  version: number;
  prefix: string;
  verdict: NodeVerdict | null;
  picked: boolean;
  ringed: boolean;
  onPoint: (name: string | null) => void;
}

const MOST_DOTS = 20;

/** "cpu 95 % requested, 3 % reserved" and so on: what the bars show, as the tile's accessible name. */
export function nodeSentence(table: NodeColumns, row: number, verdict: NodeVerdict | null): string {
  const name = table.names[row] ?? "";
  const parts = barsOf(table, row).map((resource) => {
    const { requested, reserved } = table.share(resource, row);
    const shares = {
      resourceLabel: resourceLabel(table.resources[resource] ?? ""),
      requested: percent(requested),
    };
    return reserved > 0
      ? t("nodeRequestedAndReserved", { ...shares, reserved: percent(reserved) })
      : t("nodeRequested", shares);
  });
  const marks = [table.cordoned.has(row) ? t("cordoned") : "", table.tainted.has(row) ? t("nodeIsTainted") : ""].filter(
    Boolean,
  );
  const said =
    verdict === null
      ? []
      : verdict.kind === "refused" || verdict.kind === "unseen"
        ? [t("notFeasible", { reason: verdict.reason ?? "" })]
        : [
            t(`verdict.${verdict.kind}`),
            ...(verdict.rank ? [t("verdictRank", { rank: verdict.rank })] : []),
            ...(typeof verdict.total === "number" ? [t("verdictTotal", { total: verdict.total })] : []),
          ];
  return clauses([name, ...marks, ...said, ...parts]);
}

export const NodeTile = memo(function NodeTile({
  run,
  table,
  row,
  prefix,
  verdict,
  picked,
  ringed,
  onPoint,
}: TileProps) {
  const name = table.names[row] ?? "";
  const refused = verdict?.kind === "refused" || verdict?.kind === "unseen";
  const type = table.types[table.type[row] ?? -1];
  return (
    <Link
      to="/runs/$run"
      params={{ run }}
      search={(old) => ({ ...old, node: picked ? undefined : name })}
      replace
      resetScroll={false}
      className={classes.tile}
      data-verdict={verdict?.kind}
      data-picked={picked}
      data-ringed={ringed}
      title={[
        name,
        type,
        verdict?.plugin === undefined
          ? ""
          : t("pluginReason", { plugin: verdict.plugin, reason: verdict.reason ?? "" }),
      ]
        .filter(Boolean)
        .join(" · ")}
      onMouseEnter={() => onPoint(name)}
      onMouseLeave={() => onPoint(null)}
      onFocus={() => onPoint(name)}
      onBlur={() => onPoint(null)}
    >
      {/* What the bars show, in words: the pictures themselves are hidden from a screen reader. */}
      <span className="srOnly">{nodeSentence(table, row, verdict)}</span>
      <span className={classes.head} aria-hidden="true">
        <span className={`${classes.name} mono clip`}>{name.slice(prefix.length)}</span>
        {refused || verdict === null ? (
          <Marks table={table} row={row} />
        ) : (
          <span className={classes.rank}>{verdict.rank ? `#${verdict.rank}` : ""}</span>
        )}
      </span>
      <Bars table={table} row={row} quiet={refused} />
      <span className={classes.foot} aria-hidden="true">
        {refused ? (
          <span className={classes.why}>{shortReason(verdict.reason ?? "")}</span>
        ) : (
          <Dots table={table} row={row} />
        )}
        {verdict?.total === null || verdict?.total === undefined || refused ? null : (
          <b className={`${classes.total} num`}>{verdict.total}</b>
        )}
      </span>
    </Link>
  );
});

function Marks({ table, row }: { table: NodeColumns; row: number }) {
  if (table.cordoned.has(row))
    return (
      <span className={classes.mark} title={t("nodeIsCordoned")}>
        <Icon name="cordon" size={11} />
      </span>
    );
  if (table.tainted.has(row))
    return (
      <span className={classes.mark} title={t("tainted")}>
        <Icon name="tag" size={11} />
      </span>
    );
  return null;
}

export function Bars({ table, row, quiet = false }: { table: NodeColumns; row: number; quiet?: boolean }) {
  return (
    <span className={classes.bars} data-quiet={quiet} aria-hidden="true">
      {barsOf(table, row).map((resource) => {
        const { requested, reserved } = table.share(resource, row);
        return (
          <span key={resource} className={classes.bar}>
            <span className={classes.label}>
              {resourceLabel(table.resources[resource] ?? "")}
              <b>{percent(requested + reserved)}</b>
            </span>
            <span className={classes.track} data-full={requested + reserved >= FULL}>
              <i style={{ width: `${Math.min(100, requested * 100)}%` }} />
              {reserved > 0 ? (
                <i
                  className={classes.reserved}
                  style={{ width: `${Math.min(100 - requested * 100, reserved * 100)}%` }}
                />
              ) : null}
            </span>
          </span>
        );
      })}
    </span>
  );
}

/** A square per bound pod, hatched while it waits, round while in flight; above twenty the number says it. */
function Dots({ table, row }: { table: NodeColumns; row: number }) {
  const bound = table.bound[row] ?? 0;
  const waiting = table.waiting[row] ?? 0;
  const inFlight = table.inFlight[row] ?? 0;
  if (bound + waiting + inFlight > MOST_DOTS) {
    return (
      <span className={classes.many}>
        {waiting > 0 ? (
          <>
            <i className={classes.waiting} />
            {count(waiting)}{" "}
          </>
        ) : null}
        {inFlight > 0 ? (
          <>
            <i className={classes.inFlight} />
            {count(inFlight)}{" "}
          </>
        ) : null}
        <i className={classes.bound} />
        {count(bound)}
      </span>
    );
  }
  return (
    <span className={classes.dots}>
      {Array.from({ length: waiting }, (_, index) => (
        <i key={`w${index}`} className={classes.waiting} />
      ))}
      {Array.from({ length: inFlight }, (_, index) => (
        <i key={`f${index}`} className={classes.inFlight} />
      ))}
      {Array.from({ length: bound }, (_, index) => (
        <i key={`b${index}`} className={classes.bound} />
      ))}
    </span>
  );
}

/** The same marks, for the legend. */
export function Legend() {
  return (
    <span className={classes.legend}>
      <span>
        <i className={classes.bound} />
        {t("legendBound")}
      </span>
      <span>
        <i className={classes.waiting} />
        {t("legendWaiting")}
      </span>
      <span>
        <i className={classes.inFlight} />
        {t("inFlight")}
      </span>
    </span>
  );
}
