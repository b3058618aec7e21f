/** What the table of nodes has in its columns. */
import type { Selection } from "@/api/types";
import { clauses, listed } from "@/format/lists";
import { count } from "@/format/number";
import { amount, resourceLabel } from "@/format/resources";
import type { NodeColumns } from "@/live/nodeColumns";

import { t } from "../texts";
import { ranksOf } from "./nodeOrder";
import { verdictOf } from "./selection";

export interface TableColumn {
  id: string;
  header: string;
  isNumber: boolean;
  /** Changes with the run; the others stay as they are for as long as the table does. */
  isLive: boolean;
  show: (row: number) => string;
  /** By row, what it is sorted by. */
  keys: () => Float64Array;
}

export function columnsOf(table: NodeColumns, selection: Selection | null): TableColumn[] {
  const rows = table.names.map((_, row) => row);
  const text = (id: string, header: string, show: (row: number) => string): TableColumn => {
    let ranks: Float64Array | null = null;
    return { id, header, isNumber: false, isLive: false, show, keys: () => (ranks ??= ranksOf(rows.map(show))) };
  };
  const number = (
    id: string,
    header: string,
    value: (row: number) => number,
    show: (row: number) => string,
    isLive = true,
  ): TableColumn => ({ id, header, isNumber: true, isLive, show, keys: () => Float64Array.from(rows, value) });
  return [
    text("name", t("node"), (row) => table.names[row] ?? ""),
    text("zone", t("zone"), (row) => table.zones[table.zone[row] ?? 0]?.name ?? ""),
    text("type", t("type"), (row) => table.types[table.type[row] ?? 0] ?? ""),
    ...(selection === null
      ? []
      : [
          text("verdict", t("forTheSelectedPod"), (row) => verdictText(verdictOf(selection, row))),
          number(
            "total",
            t("total"),
            (row) => selection.total[row] ?? -1,
            (row) =>
              selection.total[row] === null || selection.total[row] === undefined ? "" : count(selection.total[row]),
            false,
          ),
        ]),
    ...table.resources.map((name, resource) =>
      number(
        name,
        t("requestedAllocatable", { resourceLabel: resourceLabel(name) }),
        (row) => table.share(resource, row).requested + table.share(resource, row).reserved,
        (row) => {
          const whole = table.allocatable[resource]?.[row] ?? 0;
          if (whole === 0) return t("noneOfIt");
          const used = (table.requested[resource]?.[row] ?? 0) + (table.reserved[resource]?.[row] ?? 0);
          return `${amount(name, used)} / ${amount(name, whole)}`;
        },
      ),
    ),
    number(
      "bound",
      t("bound"),
      (row) => table.bound[row] ?? 0,
      (row) => count(table.bound[row] ?? 0),
    ),
    number(
      "waiting",
      t("waiting"),
      (row) => table.waiting[row] ?? 0,
      (row) => count(table.waiting[row] ?? 0),
    ),
    text("marks", t("marks"), (row) =>
      listed(
        [table.cordoned.has(row) ? t("cordoned") : "", table.tainted.has(row) ? t("nodeIsTainted") : ""].filter(
          Boolean,
        ),
      ),
    ),
  ];
}

function verdictText(verdict: ReturnType<typeof verdictOf>): string {
  if (verdict.kind === "refused")
    return t("pluginReason", { plugin: verdict.plugin ?? "", reason: verdict.reason ?? "" });
  if (verdict.kind === "unseen") return t("notChecked");
  const word = t(`verdict.${verdict.kind}`);
  return verdict.rank ? clauses([word, t("verdictRank", { rank: verdict.rank })]) : word;
}
