/** After something was deleted: the notice with its way back. */
import type { QueryClient } from "@tanstack/react-query";

import { type Named, restoreDeleted, type SeveralDone } from "@/api/keeping";
import { notify, notifyError } from "@/shell/notify";

import { t } from "./texts";

/** Every list that may show it, or not any more. */
export function deletionsChanged(queries: QueryClient): void {
  for (const queryKey of [["runs"], ["run"], ["snapshots"], ["configurations"], ["deleted"], ["storage"]])
    void queries.invalidateQueries({ queryKey });
}

/** What became of what was asked for, in a notice; what was refused says why. */
export function tellRestored({ done, refused }: SeveralDone): void {
  const [first] = done;
  if (first !== undefined)
    notify({
      kind: "ok",
      title: done.length === 1 ? t("isBack", { name: first.name }) : t("areBack", { count: done.length }),
    });
  for (const one of refused) notify({ kind: "error", title: t("notBack"), text: one.why });
}

export async function bringBack(queries: QueryClient, items: readonly Named[]): Promise<void> {
  try {
    tellRestored(await restoreDeleted(items));
  } catch (error) {
    notifyError(t("notBack"), error);
  }
  deletionsChanged(queries);
}

export function tellDeleted(queries: QueryClient, title: string, items: readonly Named[]): void {
  deletionsChanged(queries);
  notify({
    title,
    text: t("recentlyDeletedHasIt", { count: items.length }),
    action: { label: t("undo"), run: () => void bringBack(queries, items) },
  });
}
