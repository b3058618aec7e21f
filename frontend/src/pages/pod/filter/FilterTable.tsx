import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef } from "react";

import { filterQuery } from "@/api/podQueries";
import { Button } from "@/components/Button";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { ScrollRegion } from "@/components/ScrollRegion";
import { useRowHeight } from "@/components/useRowHeight";
import { listed } from "@/format/lists";

import { t } from "../texts";
import { useWindows } from "../useWindows";
import classes from "./FilterTable.module.css";

const SIZE = 200;
const ROW = 28;

interface FilterTableProps {
  run: string;
  attempt: number;
  q: string;
  onClear: () => void;
}

/** Node × first rejecting plugin × code × reasons, in the order the scheduler looked at them. */
export function FilterTable({ run, attempt, q, onClear }: FilterTableProps) {
  const window = { table: 1 as const, limit: SIZE, ...(q === "" ? {} : { q }) };
  const first = useQuery(filterQuery(run, attempt, { ...window, offset: 0 }));
  const scroller = useRef<HTMLDivElement>(null);
  const rowHeight = useRowHeight(ROW);
  const rows = useWindows({
    scroller,
    count: first.data?.count ?? 0,
    rowHeight,
    size: SIZE,
    query: (offset) => filterQuery(run, attempt, { ...window, offset }),
    rows: (answer) => answer.rows,
  });
  if (first.data === undefined) {
    return first.error === null ? (
      <Outlines count={6} height={28} label={t("readingTheNodes")} />
    ) : (
      <Failed what={t("theNodesCouldNotBe")} error={first.error} retry={() => void first.refetch()} />
    );
  }
  if (first.data.count === 0) {
    return q === "" ? (
      <Empty>{t("noNodeWasLookedAt")}</Empty>
    ) : (
      <Empty
        action={
          <Button size="sm" onClick={onClear}>
            {t("clearTheFilter")}
          </Button>
        }
      >
        {t("noNodeMatches", { q })}
      </Empty>
    );
  }
  return (
    <ScrollRegion className={classes.scroll} ref={scroller} label={t("nodesAndWhatTheFilters")}>
      <table className={classes.table} aria-rowcount={first.data.count + 1}>
        <thead>
          <tr>
            <th>{t("node")}</th>
            <th>{t("plugin")}</th>
            <th>{t("code")}</th>
            <th>{t("reasons")}</th>
          </tr>
        </thead>
        <tbody>
          {rows.before > 0 ? <tr aria-hidden="true" style={{ height: rows.before }} /> : null}
          {rows.items.map((item) => {
            const row = rows.rowAt(item.index);
            return (
              <tr
                key={item.index}
                aria-rowindex={item.index + 2}
                style={{ height: rowHeight }}
                data-ok={row?.code === "Success" || undefined}
              >
                {row === undefined ? (
                  <td colSpan={4} className="faint">
                    …
                  </td>
                ) : (
                  <>
                    <td>
                      <Link className="mono leads" to="/runs/$run" params={{ run }} search={{ node: row.node }}>
                        {row.node}
                      </Link>
                    </td>
                    <td>{row.plugin}</td>
                    <td className="muted">{row.code === "NotChecked" ? t("notLookedAt") : row.code}</td>
                    <td className={classes.reasons} title={listed(row.reasons)}>
                      {listed(row.reasons)}
                    </td>
                  </>
                )}
              </tr>
            );
          })}
          {rows.after > 0 ? <tr aria-hidden="true" style={{ height: rows.after }} /> : null}
        </tbody>
      </table>
      {rows.failed === null ? null : (
        <Failed small what={t("moreNodesCouldNotBe")} error={rows.failed} retry={rows.retry} />
      )}
    </ScrollRegion>
  );
}
