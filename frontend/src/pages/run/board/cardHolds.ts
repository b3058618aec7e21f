import type { Card } from "@/api/types";

/** A group's card stands for all its members, so a selected member marks it. */
export function holds(card: Card, selected: string | undefined): boolean {
  if (selected === undefined) return false;
  if (`${card.namespace}/${card.name}` === selected) return true;
  return (
    card.kind === "group" &&
    selected.startsWith(`${card.namespace}/${card.workload}-`) &&
    (card.pods ?? []).some((tail) => selected.endsWith(`-${tail}`))
  );
}
