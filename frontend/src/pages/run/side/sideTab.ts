/** Which tab stands beside the nodes: the page follows what happens unless the reader chose or pinned one. */
export type SideTab = "cycle" | "activity" | "selected";

export interface SideState {
  tab: SideTab;
  /** Where it goes back to when nothing is selected any more. */
  before: "cycle" | "activity";
  pinned: boolean;
  seen: Happening;
}

export interface Happening {
  /** The pod or node that is selected. */
  selected: string | undefined;
  /** The attempt and the point where the run stands; null between two cycles and while it plays. */
  stoppedAt: string | null;
  /** Plays faster than anybody reads a cycle. */
  fast: boolean;
}

export function firstSide(now: Happening): SideState {
  const before = now.stoppedAt === null ? "activity" : "cycle";
  return { tab: now.selected === undefined ? before : "selected", before, pinned: false, seen: now };
}

/** The same object when nothing has happened that the tab follows. */
export function followed(side: SideState, now: Happening): SideState {
  const { seen, pinned } = side;
  if (seen.selected === now.selected && seen.stoppedAt === now.stoppedAt && seen.fast === now.fast) return side;
  const next = { ...side, seen: now };
  if (seen.selected !== now.selected) {
    // Selecting is the reader's own doing, so no pin keeps from it.
    if (now.selected !== undefined) return { ...next, tab: "selected" };
    return side.tab === "selected" ? { ...next, tab: side.before } : next;
  }
  if (pinned) return next;
  if (now.stoppedAt !== null && now.stoppedAt !== seen.stoppedAt) return { ...next, tab: "cycle", before: "cycle" };
  if (now.fast && !seen.fast && side.before === "cycle")
    return { ...next, tab: side.tab === "cycle" ? "activity" : side.tab, before: "activity" };
  return next;
}

export function chosen(side: SideState, tab: SideTab): SideState {
  return { ...side, tab, before: tab === "selected" ? side.before : tab };
}
