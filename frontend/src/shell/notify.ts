/**
 * Short messages at the edge of the window. Mantine's notifications are fetched after the first picture, so a page that has
 * nothing to say does not carry them; a message that comes while they cannot be fetched is shown without them.
 */
import { Part } from "@/parts/part";

import type { Notice } from "./Notices";

export const noticesPart = new Part(() => import("./Notices"));

const watchers = new Set<() => void>();
let state: { wanted: boolean; plain: readonly Notice[] } = { wanted: false, plain: [] };

function become(next: typeof state): void {
  state = next;
  for (const watcher of watchers) watcher();
}

export const notifications = {
  watch: (callback: () => void): (() => void) => {
    watchers.add(callback);
    return () => watchers.delete(callback);
  },
  getState: (): typeof state => state,
  dismiss: (notice: Notice): void => become({ ...state, plain: state.plain.filter((one) => one !== notice) }),
};

export function notify(notice: Notice): void {
  if (!state.wanted) become({ ...state, wanted: true });
  void noticesPart.fetch().then(() => {
    const fetched = noticesPart.getState();
    if (fetched === null || fetched === "missing") become({ ...state, plain: [...state.plain, notice] });
    else fetched.value.show(notice);
  });
}

/** For a failed command: the server's sentence under what was tried. */
export function notifyError(title: string, error: unknown): void {
  notify({ kind: "error", title, text: error instanceof Error ? error.message : String(error) });
}
