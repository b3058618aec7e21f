/** The picture of nodes as a table: the same data, sortable, with links, and with the reasons when a pod is selected. */
import { Link } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useMemo, useRef, useState } from "react";

import { Button } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { Empty } from "@/components/Outcome";
import { ScrollRegion } from "@/components/ScrollRegion";
import { matches, parseFilter } from "@/filter/grammar";

import { t } from "../texts";
import { nextSorting, type Sorting, sortRows } from "./nodeOrder";
import classes from "./NodeTable.module.css";
import { columnsOf, type TableColumn } from "./nodeTableColumns";
import type { NodeViewProps } from "./NodeTiles";

const ROW = 28;

export default function NodeTable({ run, table, version, selection, picked }: NodeViewProps) {
  const [sorting, setSorting] = useState<Sorting | null>(null);
  const [query, setQuery] = useState("");
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => {
    const filter = parseFilter(query);
    const all = table.names.map((_, row) => row);
    return query.trim() === ""
      ? all
      : all.filter((row) =>
          matches(
            filter,
            `${table.names[row] ?? ""} ${table.zones[table.zone[row] ?? 0]?.name ?? ""} ${table.types[table.type[row] ?? 0] ?? ""}`,
          ),
        );
  }, [table, query]);
  const columns = useMemo(() => columnsOf(table, selection), [table, selection]);
  const sorted = columns.find((column) => column.id === sorting?.column);
  // The columns are typed arrays that are written in place: `version` says that a reading of them is old.
  const reading = sorted?.isLive === true ? version : 0;
  const keys = useMemo(() => (reading < 0 ? undefined : sorted?.keys()), [sorted, reading]);
  const shown = useMemo(
    () => (keys === undefined ? rows : sortRows(rows, keys, sorting?.descending === true)),
    [rows, keys, sorting],
  );
  // eslint-disable-next-line react-hooks/incompatible-library -- its functions must not be memoised, and are not
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  const before = items[0]?.start ?? 0;
  const after = virtual.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    <div className={classes.wrap}>
      <div className={classes.filter}>
        <Icon name="search" size={13} />
        <input
          type="search"
          value={query}
          placeholder={t("nodeZoneInverse")}
          aria-label={t("filterNodes")}
          onChange={(event) => setQuery(event.currentTarget.value)}
        />
        <span className="faint num" role="status">
          {query === "" ? "" : t("ofNodes", { count: table.names.length, rows: rows.length })}
        </span>
      </div>
      <ScrollRegion className={classes.scroller} ref={scroller} label={t("rowsOfNodes")}>
        <table className={classes.table} aria-rowcount={shown.length + 1}>
          <thead>
            <tr>
              {columns.map(({ id, header, isNumber }) => {
                const direction = sorting?.column !== id ? "none" : sorting.descending ? "descending" : "ascending";
                return (
                  <th key={id} scope="col" aria-sort={direction} className={isNumber ? classes.right : undefined}>
                    <button type="button" onClick={() => setSorting(nextSorting(sorting, id, isNumber))}>
                      {header}
                      {direction === "none" ? null : (
                        <Icon name={direction === "ascending" ? "chevronUp" : "chevronDown"} size={10} />
                      )}
                    </button>
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody>
            {before > 0 ? (
              <tr aria-hidden="true">
                <td style={{ height: before }} />
              </tr>
            ) : null}
            {items.map((item) => {
              const row = shown[item.index];
              if (row === undefined) return null;
              const name = table.names[row] ?? "";
              return (
                <Row
                  key={name}
                  run={run}
                  name={name}
                  place={item.index + 2}
                  isPicked={name === picked}
                  columns={columns}
                  texts={columns.map((column) => column.show(row))}
                />
              );
            })}
            {after > 0 ? (
              <tr aria-hidden="true">
                <td style={{ height: after }} />
              </tr>
            ) : null}
          </tbody>
        </table>
        {rows.length === 0 ? (
          <Empty
            action={
              <Button size="sm" onClick={() => setQuery("")}>
                {t("clearTheFilter")}
              </Button>
            }
          >
            {t("noNodeMatches", { query })}
          </Empty>
        ) : null}
      </ScrollRegion>
    </div>
  );
}

interface RowProps {
  run: string;
  name: string;
  /** Among all rows, the head included, from 1. */
  place: number;
  isPicked: boolean;
  columns: readonly TableColumn[];
  /** By column. */
  texts: readonly string[];
}

const Row = memo(
  function Row({ run, name, place, isPicked, columns, texts }: RowProps) {
    return (
      <tr aria-rowindex={place} data-picked={isPicked}>
        {columns.map(({ id, isNumber }, index) =>
          index === 0 ? (
            <th key={id} scope="row">
              <Link
                to="/runs/$run"
                params={{ run }}
                search={(old) => ({ ...old, node: name })}
                replace
                resetScroll={false}
                className="mono leads"
              >
                {name}
              </Link>
            </th>
          ) : (
            <td key={id} className={isNumber ? `${classes.right} num` : undefined}>
              {texts[index]}
            </td>
          ),
        )}
      </tr>
    );
  },
  (old, now) =>
    old.run === now.run &&
    old.name === now.name &&
    old.place === now.place &&
    old.isPicked === now.isPicked &&
    old.columns === now.columns &&
    old.texts.every((text, index) => text === now.texts[index]),
);
