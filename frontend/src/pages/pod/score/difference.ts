/** Two nodes' scores side by side: what each plugin gives to one and to the other, and what decides between them. */
import type { ScoreCell, ScoreRow } from "@/api/podTypes";
import { listed } from "@/format/lists";
import { count } from "@/format/number";

import { t } from "../texts";
import type { PluginLook } from "./pluginColours";

export interface Difference {
  look: PluginLook;
  one: ScoreCell;
  other: ScoreCell;
  /** Points that the first has more. */
  ahead: number;
}

const NOTHING: ScoreCell = { raw: 0, normalized: 0, points: 0 };

/** In the plugins' order. */
export function differences(one: ScoreRow, other: ScoreRow, looks: readonly PluginLook[]): Difference[] {
  return looks.map((look) => {
    const first = one.cells[look.cell] ?? NOTHING;
    const second = other.cells[look.cell] ?? NOTHING;
    return { look, one: first, other: second, ahead: first.points - second.points };
  });
}

/** "+5", "−12", "0" */
export function signed(value: number): string {
  return value > 0 ? `+${count(value)}` : value < 0 ? `−${count(-value)}` : "0";
}

/** "node-00 is 5 points ahead of node-21, all from NodeResourcesFit." */
export function differenceSentence(one: ScoreRow, other: ScoreRow, all: readonly Difference[]): string {
  const margin = one.total - other.total;
  const differing = all.filter((each) => each.ahead !== 0).sort((a, b) => Math.abs(b.ahead) - Math.abs(a.ahead));
  if (differing.length === 0) return t("bothHavePointsTheSame", { total: one.total });
  const named = listed(differing.map((each) => `${each.look.name} ${signed(each.ahead)}`));
  if (margin === 0) return t("bothHavePointsButNot", { total: one.total, named });
  const [ahead, behind] = margin > 0 ? [one, other] : [other, one];
  const said = t("isPointsAheadOf", { count: Math.abs(margin), node: ahead.node, node2: behind.node });
  const [only, ...more] = differing;
  if (only !== undefined && more.length === 0) return t("saidAllFrom", { said, plugin: only.look.name });
  const decided = differing.filter((each) => Math.sign(each.ahead) === Math.sign(margin));
  const [first] = decided;
  // Without it the other node would not be behind.
  const decides =
    first !== undefined &&
    Math.abs(first.ahead) >= Math.abs(margin) &&
    decided.every((each) => each === first || Math.abs(each.ahead) < Math.abs(margin));
  return decides ? t("saidAndDecides", { said, plugin: first.look.name, named }) : t("saidNamed", { said, named });
}
