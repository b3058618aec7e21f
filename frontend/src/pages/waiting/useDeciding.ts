/** What is marked and pointed at in the inbox, and what is decided about it, with the keys for both. */
import { useNavigate } from "@tanstack/react-router";
import { type RefObject, useState } from "react";

import type { WaitingRow } from "@/api/waitingTypes";
import { approvals } from "@/decisions/decide";
import type { ReasonRequest } from "@/decisions/ReasonDrawer";
import { listed } from "@/format/lists";
import { useKeys } from "@/keys/useKeys";
import { notify } from "@/shell/notify";

import { type Group, keyOf } from "./inbox";
import { t } from "./texts";

interface Inbox {
  present: readonly WaitingRow[];
  groups: readonly Group[];
  page: RefObject<HTMLElement | null>;
  can: boolean;
  onHold: () => void;
  onFilter: () => void;
}

export function useDeciding({ present, groups, page, can, onHold, onFilter }: Inbox) {
  const navigate = useNavigate();
  const [marks, setMarks] = useState<ReadonlySet<string>>(new Set());
  const marked = present.filter((row) => marks.has(keyOf(row)));
  const [cursor, setCursor] = useState<string | null>(null);
  const [asking, setAsking] = useState<ReasonRequest | null>(null);
  const clear = () => setMarks(new Set());

  const mark = (targets: readonly WaitingRow[], on: boolean) =>
    setMarks((old) => {
      const next = new Set(old);
      for (const row of targets) {
        if (on) next.add(keyOf(row));
        else next.delete(keyOf(row));
      }
      return next;
    });
  const approve = (targets: readonly WaitingRow[]) => {
    const asks = targets.filter((row) => row.decidable);
    const first = targets[0];
    if (first === undefined) return;
    if (asks.length === 0) {
      notify({
        title: t("nobodyIsAsked"),
        text: t("goesOnByItselfTo", { map: listed(first.waiting_on.map((wait) => wait.plugin)) }),
      });
      return;
    }
    for (const run of new Set(asks.map((row) => row.run)))
      approvals.approve(
        run,
        asks.filter((row) => row.run === run),
      );
    clear();
  };
  const ask = (kind: ReasonRequest["kind"], targets: readonly WaitingRow[]) => {
    const first = targets[0];
    if (first === undefined) return;
    const pods = targets.map((row) => ({
      ...row,
      letsGo: (row.waiting_on.find((wait) => !wait.asks_person) ?? row.waiting_on[0])?.plugin,
    }));
    const plugins = new Set(
      targets.map(
        (row) =>
          (row.waiting_on.find((wait) => wait.asks_person === (kind !== "override")) ?? row.waiting_on[0])?.plugin,
      ),
    );
    setAsking({ kind, run: first.run, pods, plugin: plugins.size === 1 ? [...plugins][0] : undefined });
  };
  const keys = groups.flatMap((group) => [...(group.gang === null ? [] : [group.key]), ...group.rows.map(keyOf)]);
  const pointed = (): WaitingRow[] =>
    present.filter(
      (row) => keyOf(row) === cursor || groups.some((group) => group.key === cursor && group.rows.includes(row)),
    );
  const targets = (): WaitingRow[] => (marked.length > 0 ? marked : pointed());
  const move = (step: number) => {
    const visible = keys.filter((key) => key.startsWith("gang ") || rowElement(page.current, key) !== null);
    const at = cursor === null ? -1 : visible.indexOf(cursor);
    const next = visible[Math.max(0, Math.min(visible.length - 1, at + step))];
    if (next === undefined) return;
    setCursor(next);
    rowElement(page.current, next)?.scrollIntoView({ block: "nearest" });
  };
  useKeys([
    { keys: "j", label: t("nextPod"), group: t("decide"), run: () => move(1) },
    { keys: "k", label: t("previousPod"), group: t("decide"), run: () => move(-1) },
    {
      keys: "space",
      label: t("mark"),
      group: t("decide"),
      run: () => {
        const rowsAt = pointed();
        mark(rowsAt, !rowsAt.every((row) => marks.has(keyOf(row))));
      },
    },
    {
      keys: "Enter",
      label: t("openThePod"),
      group: t("decide"),
      run: () => {
        const row = pointed()[0];
        if (row !== undefined)
          void navigate({
            to: "/runs/$run/pods/$namespace/$name",
            params: { run: row.run, namespace: row.namespace, name: row.name },
          });
      },
    },
    { keys: "h", label: t("holdTheOrder"), group: t("decide"), run: onHold },
    { keys: "/", label: t("filterTheInbox"), group: t("decide"), run: onFilter },
    ...(can
      ? [
          { keys: "a", label: t("approve"), group: t("decide"), run: () => approve(targets()) },
          {
            keys: "Alt+a",
            label: t("approveWithAReason"),
            group: t("decide"),
            run: () => {
              const asks = targets().filter((row) => row.decidable);
              if (asks.length > 0) ask("approve", asks);
            },
          },
          { keys: "r", label: t("rejectWithAReason"), group: t("decide"), run: () => ask("reject", targets()) },
        ]
      : []),
    ...(marked.length > 0 ? [{ keys: "Escape", label: t("clearTheMarks"), group: t("decide"), run: clear }] : []),
  ]);
  return { marks, marked, cursor, setCursor, asking, setAsking, clear, mark, approve, ask };
}

function rowElement(page: HTMLElement | null, key: string): HTMLElement | null {
  return page?.querySelector<HTMLElement>(`[data-row="${CSS.escape(key)}"]`) ?? null;
}
