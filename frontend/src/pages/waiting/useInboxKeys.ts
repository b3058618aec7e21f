/** The keys of the inbox: to go along it, to mark, and to decide about what is marked or pointed at. */
import { useNavigate } from "@tanstack/react-router";
import type { RefObject } from "react";

import { useKeys } from "@/keys/useKeys";

import type { InboxStore, InboxView } from "./inboxStore";
import { t } from "./texts";

interface InboxKeys {
  store: InboxStore;
  view: InboxView;
  page: RefObject<HTMLElement | null>;
  mayDecide: boolean;
  onFilter: () => void;
}

export function useInboxKeys({ store, view, page, mayDecide, onFilter }: InboxKeys): void {
  const navigate = useNavigate();
  const group = t("decide");
  const move = (step: number) => {
    const at = store.movePointer(step, (key) => rowElement(page.current, key) !== null);
    if (at !== null) rowElement(page.current, at)?.scrollIntoView({ block: "nearest" });
  };
  const open = () => {
    const [row] = store.pointed();
    if (row === undefined) return;
    const { run, namespace, name } = row;
    void navigate({ to: "/runs/$run/pods/$namespace/$name", params: { run, namespace, name } });
  };
  const approveWithReason = () =>
    store.ask(
      "approve",
      store.targets().filter((row) => row.decidable),
    );
  useKeys([
    { keys: "j", label: t("nextPod"), group, run: () => move(1) },
    { keys: "k", label: t("previousPod"), group, run: () => move(-1) },
    { keys: "space", label: t("mark"), group, run: () => store.toggleMarks() },
    { keys: "Enter", label: t("openThePod"), group, run: open },
    { keys: "h", label: t("holdTheOrder"), group, run: () => store.toggleOrderHeld() },
    { keys: "/", label: t("filterTheInbox"), group, run: onFilter },
    ...(mayDecide
      ? [
          { keys: "a", label: t("approve"), group, run: () => store.approve(store.targets()) },
          { keys: "Alt+a", label: t("approveWithAReason"), group, run: approveWithReason },
          { keys: "r", label: t("rejectWithAReason"), group, run: () => store.ask("reject", store.targets()) },
        ]
      : []),
    ...(view.marked.length > 0
      ? [{ keys: "Escape", label: t("clearTheMarks"), group, run: () => store.clearMarks() }]
      : []),
  ]);
}

function rowElement(page: HTMLElement | null, key: string): HTMLElement | null {
  return page?.querySelector<HTMLElement>(`[data-row="${CSS.escape(key)}"]`) ?? null;
}
