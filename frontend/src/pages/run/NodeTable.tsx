/** The picture of nodes as a table: the same data, sortable, with links, and with the reasons when a pod is selected. */
import { Link } from "@tanstack/react-router";
import {
  createColumnHelper, flexRender, getCoreRowModel, getFilteredRowModel, getSortedRowModel, type SortingState, useReactTable,
} from "@tanstack/react-table";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef, useState } from "react";

import { Button } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { Empty } from "@/components/Outcome";
import { matches, parseFilter } from "@/filter/grammar";
import { count } from "@/format/number";
import { amount, resourceLabel } from "@/format/resources";

import classes from "./NodeTable.module.css";
import type { NodeViewProps } from "./NodeTiles";
import { verdictOf } from "./selection";
import { t } from "./texts";

const ROW = 28;
const helper = createColumnHelper<number>();

export default function NodeTable({ run, table, version, selection, picked }: NodeViewProps) {
  // The columns are typed arrays that are written in place: `version` says that a reading of them is old.
  const [sorting, setSorting] = useState<SortingState>([]);
  const [query, setQuery] = useState("");
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => {
    const filter = parseFilter(query);
    const all = version < 0 ? [] : table.names.map((_, row) => row);
    return query.trim() === "" ? all : all.filter((row) => matches(filter, `${table.names[row] ?? ""} ${table.zones[table.zone[row] ?? 0]?.name ?? ""} ${table.types[table.type[row] ?? 0] ?? ""}`));
  }, [table, query, version]);
  const columns = useMemo(() => {
    const text = (id: string, header: string, value: (row: number) => string) => helper.accessor(value, { id, header });
    const number = (id: string, header: string, value: (row: number) => number, show: (row: number) => string) =>
      helper.accessor(value, { id, header, cell: ({ row }) => show(row.original), meta: { right: true } });
    return [
      text("name", "Node", (row) => table.names[row] ?? ""),
      text("zone", "Zone", (row) => table.zones[table.zone[row] ?? 0]?.name ?? ""),
      text("type", "Type", (row) => table.types[table.type[row] ?? 0] ?? ""),
      ...(selection === null ? [] : [
        text("verdict", "For the selected pod", (row) => verdictText(verdictOf(selection, row))),
        number("total", t("total"), (row) => selection.total[row] ?? -1, (row) => (selection.total[row] === null || selection.total[row] === undefined ? "" : count(selection.total[row]))),
      ]),
      ...table.resources.map((name, resource) => number(
        name, t("requestedAllocatable", { resourceLabel: resourceLabel(name) }),
        (row) => table.share(resource, row).requested + table.share(resource, row).reserved,
        (row) => {
          const whole = table.allocatable[resource]?.[row] ?? 0;
          if (whole === 0) return "none";
          const used = (table.requested[resource]?.[row] ?? 0) + (table.reserved[resource]?.[row] ?? 0);
          return `${amount(name, used)} / ${amount(name, whole)}`;
        },
      )),
      number("bound", t("bound"), (row) => table.bound[row] ?? 0, (row) => count(table.bound[row] ?? 0)),
      number("waiting", t("waiting"), (row) => table.waiting[row] ?? 0, (row) => count(table.waiting[row] ?? 0)),
      text("marks", "Marks", (row) => [table.cordoned.has(row) ? "cordoned" : "", table.tainted.has(row) ? "tainted" : ""].filter(Boolean).join(", ")),
    ];
  }, [table, selection]);
  // TanStack Table gives functions that must not be memoised; the compiler rule is told so.
  // eslint-disable-next-line react-hooks/incompatible-library
  const model = useReactTable({
    data: rows, columns, state: { sorting }, onSortingChange: setSorting, getCoreRowModel: getCoreRowModel(), getSortedRowModel: getSortedRowModel(),
    getFilteredRowModel: getFilteredRowModel(), getRowId: (row) => table.names[row] ?? String(row),
  });
  const shown = model.getRowModel().rows;
  const virtual = useVirtualizer({ count: shown.length, getScrollElement: () => scroller.current, estimateSize: () => ROW, overscan: 12 });
  const items = virtual.getVirtualItems();
  const before = items[0]?.start ?? 0;
  const after = virtual.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    <div className={classes.wrap}>
      <div className={classes.filter}>
        <Icon name="search" size={13} />
        <input type="search" value={query} placeholder={t("nodeZoneInverse")} aria-label={t("filterNodes")} onChange={(event) => setQuery(event.currentTarget.value)} />
        <span className="faint num" role="status">{query === "" ? "" : t("ofNodes", { count: table.names.length, rows: rows.length })}</span>
      </div>
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, and a keyboard must be able to */}
      <div className={classes.scroller} ref={scroller} tabIndex={0} role="region" aria-label={t("rowsOfNodes")}>
        <table className={classes.table} aria-rowcount={shown.length + 1}>
          <thead>
            {model.getHeaderGroups().map((group) => (
              <tr key={group.id}>
                {group.headers.map((header) => {
                  const sorted = header.column.getIsSorted();
                  return (
                    <th key={header.id} scope="col" aria-sort={sorted === "asc" ? "ascending" : sorted === "desc" ? "descending" : "none"}
                      className={isRight(header.column.columnDef.meta) ? classes.right : undefined}>
                      <button type="button" onClick={header.column.getToggleSortingHandler()}>
                        {flexRender(header.column.columnDef.header, header.getContext())}
                        {sorted === false ? null : <Icon name={sorted === "asc" ? "chevronUp" : "chevronDown"} size={10} />}
                      </button>
                    </th>
                  );
                })}
              </tr>
            ))}
          </thead>
          <tbody>
            {before > 0 ? <tr aria-hidden="true"><td style={{ height: before }} /></tr> : null}
            {items.map((item) => {
              const row = shown[item.index];
              if (row === undefined) return null;
              const name = table.names[row.original] ?? "";
              return (
                <tr key={row.id} aria-rowindex={item.index + 2} data-picked={name === picked}>
                  {row.getVisibleCells().map((cell, index) => (index === 0 ? (
                    <th key={cell.id} scope="row">
                      <Link to="/runs/$run" params={{ run }} search={(old) => ({ ...old, node: name })} replace resetScroll={false} className="mono leads">{name}</Link>
                    </th>
                  ) : (
                    <td key={cell.id} className={isRight(cell.column.columnDef.meta) ? `${classes.right} num` : undefined}>
                      {flexRender(cell.column.columnDef.cell, cell.getContext())}
                    </td>
                  )))}
                </tr>
              );
            })}
            {after > 0 ? <tr aria-hidden="true"><td style={{ height: after }} /></tr> : null}
          </tbody>
        </table>
        {rows.length === 0 ? <Empty action={<Button size="sm" onClick={() => setQuery("")}>{t("clearTheFilter")}</Button>}>{t("noNodeMatches", { query })}</Empty> : null}
      </div>
    </div>
  );
}

function isRight(meta: unknown): boolean {
  return typeof meta === "object" && meta !== null && "right" in meta;
}

function verdictText(verdict: ReturnType<typeof verdictOf>): string {
  if (verdict.kind === "refused") return t("pluginReason", { plugin: verdict.plugin ?? "", reason: verdict.reason ?? "" });
  if (verdict.kind === "unseen") return t("notChecked");
  return `${verdict.kind}${verdict.rank ? t("rankRank", { rank: verdict.rank }) : ""}`;
}
