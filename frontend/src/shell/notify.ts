/**
 * Short messages at the edge of the window. Mantine's notifications are fetched with the first message, so a page that has
 * nothing to say does not carry them.
 */
export interface Notice {
  title: string;
  text?: string;
  kind?: "info" | "error" | "ok";
}

const watchers = new Set<() => void>();
let wanted = false;

export const notifications = {
  watch: (callback: () => void): (() => void) => {
    watchers.add(callback);
    return () => watchers.delete(callback);
  },
  wanted: (): boolean => wanted,
};

export function notify(notice: Notice): void {
  if (!wanted) {
    wanted = true;
    for (const watcher of watchers) watcher();
  }
  void import("./Notices").then(({ show }) => show(notice));
}

/** For a failed command: the server's sentence under what was tried. */
export function notifyError(title: string, error: unknown): void {
  notify({ kind: "error", title, text: error instanceof Error ? error.message : String(error) });
}
