/**
 * What if: one stored attempt ranked again with other weights, as the engine would have ranked it. Which nodes are feasible
 * and their normalised scores do not depend on weights; a plugin that is off adds nothing (framework/advice/other_weights.py
 * is the same rule over a whole run, and a test holds this module against the engine).
 */

export interface MatrixAnswer {
  profile: string;
  ties: "seeded" | "upstream" | "smallest";
  seed: number;
  plugins: { name: string; weight: number; normalized: string | null }[];
  filters: string[];
  nodes: string[];
  chosen: number | null;
  tied: number[];
}

export interface MatrixPlugin {
  name: string;
  /** As the attempt was made with. */
  weight: number;
  /** By place among the nodes, 0 to 100; null when the plugin skipped this pod. */
  normalized: Uint8Array | null;
}

export interface Matrix extends Omit<MatrixAnswer, "plugins"> {
  plugins: MatrixPlugin[];
  /** Place → place in the order of names. */
  nameOrder: Uint32Array;
  /** The opposite: places in the order of names. */
  byName: Uint32Array;
}

/** Plugin → weight, 0 for off; only what differs from the attempt. */
export type Weights = ReadonlyMap<string, number>;

export const OFF = 0;
export const MAX_WEIGHT = 1_000_000;

export function matrixOf(answer: MatrixAnswer): Matrix {
  const byName = Uint32Array.from(answer.nodes, (_, place) => place);
  byName.sort((a, b) => compare(answer.nodes[a] ?? "", answer.nodes[b] ?? ""));
  const nameOrder = new Uint32Array(byName.length);
  byName.forEach((place, order) => {
    nameOrder[place] = order;
  });
  return {
    ...answer,
    nameOrder,
    byName,
    plugins: answer.plugins.map((one) => ({
      ...one,
      normalized: one.normalized === null ? null : bytesOf(one.normalized),
    })),
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
}

export function weightOf(plugin: Pick<MatrixPlugin, "name" | "weight">, weights: Weights): number {
  return weights.get(plugin.name) ?? plugin.weight;
}

/** "NodeResourcesFit:5,ImageLocality:off"; what names no Score plugin, or no weight, is left out. */
export function readWeights(
  text: string | undefined,
  plugins: readonly Pick<MatrixPlugin, "name" | "weight">[],
): Weights {
  const found = new Map<string, number>();
  for (const part of (text ?? "").split(",")) {
    const at = part.lastIndexOf(":");
    const plugin = plugins.find((one) => one.name === part.slice(0, at));
    const value = part.slice(at + 1);
    const weight = value === "off" ? OFF : /^\d{1,7}$/.test(value) ? Number(value) : NaN;
    if (plugin === undefined || Number.isNaN(weight) || weight > MAX_WEIGHT || (weight === OFF && value !== "off"))
      continue;
    if (weight !== plugin.weight) found.set(plugin.name, weight);
  }
  return found;
}

export function writeWeights(weights: Weights): string | undefined {
  const parts = [...weights].map(([name, weight]) => `${name}:${weight === OFF ? "off" : weight}`);
  return parts.length === 0 ? undefined : parts.join(",");
}

export function withWeight(weights: Weights, plugin: Pick<MatrixPlugin, "name" | "weight">, weight: number): Weights {
  const next = new Map(weights);
  if (weight === plugin.weight) next.delete(plugin.name);
  else next.set(plugin.name, weight);
  return next;
}

/**
 * How the winner is known: it alone is best; the tie rule says so; the seed draws the same place among as many equals as
 * before; nothing scores, so the search ends at the first feasible node; or it is not known, because the seed would draw
 * among another number of nodes.
 */
export type Settled = "alone" | "rule" | "same draw" | "first found" | "open";

export interface Ranking {
  /** By place. */
  total: Float64Array;
  rank: Uint32Array;
  /** Places, best first; the winner before its equals, then by name. */
  order: Uint32Array;
  best: number;
  /** Places with the best total, in the order in which they were found. */
  tied: number[];
  winner: number | null;
  settled: Settled;
  /** To the best total below; null when all are equal. */
  margin: number | null;
}

export function totals(matrix: Matrix, weights: Weights): Float64Array {
  const total = new Float64Array(matrix.nodes.length);
  for (const plugin of matrix.plugins) {
    const weight = weightOf(plugin, weights);
    const { normalized } = plugin;
    if (weight === OFF || normalized === null) continue;
    for (let place = 0; place < total.length; place += 1)
      total[place] = (total[place] ?? 0) + (normalized[place] ?? 0) * weight;
  }
  return total;
}

export function rerank(matrix: Matrix, weights: Weights): Ranking {
  const total = totals(matrix, weights);
  let best = -Infinity;
  let second = -Infinity;
  for (const value of total) {
    if (value > best) {
      second = best;
      best = value;
    } else if (value < best && value > second) second = value;
  }
  const tied: number[] = [];
  total.forEach((value, place) => {
    if (value === best) tied.push(place);
  });
  const { winner, settled } = choose(matrix, weights, tied);
  const order = ordered(matrix, total, best);
  if (winner !== null && tied.includes(winner)) {
    const at = order.indexOf(winner);
    order.copyWithin(1, 0, at);
    order[0] = winner;
  }
  const rank = new Uint32Array(total.length);
  order.forEach((place, index) => {
    const before = order[index - 1] ?? -1;
    rank[place] = total[before] === total[place] ? (rank[before] ?? 0) : index + 1;
  });
  return { total, rank, order, best, tied, winner, settled, margin: second === -Infinity ? null : best - second };
}

/** Places, best first, equals by name: each node as one number, because numbers are sorted without asking a function. */
function ordered({ nameOrder, byName }: Matrix, total: Float64Array, best: number): Uint32Array {
  const size = total.length;
  const keys = total.map((value, place) => (best - value) * size + (nameOrder[place] ?? 0)).sort();
  return Uint32Array.from(keys, (key) => byName[key % size] ?? 0);
}

function choose(
  matrix: Matrix,
  weights: Weights,
  tied: readonly number[],
): { winner: number | null; settled: Settled } {
  if (matrix.nodes.length === 0) return { winner: null, settled: "open" };
  // Without Score plugins kube-scheduler looks for one feasible node, and scores nothing.
  if (matrix.plugins.every((plugin) => weightOf(plugin, weights) === OFF)) return { winner: 0, settled: "first found" };
  const first = tied[0] ?? 0;
  if (tied.length === 1) return { winner: first, settled: "alone" };
  if (matrix.ties === "upstream") return { winner: heapRoot(matrix.nodes.length, tied), settled: "rule" };
  if (matrix.ties === "smallest") {
    return {
      winner: tied.reduce((a, b) => ((matrix.nameOrder[b] ?? 0) < (matrix.nameOrder[a] ?? 0) ? b : a), first),
      settled: "rule",
    };
  }
  const drawn = matrix.chosen === null ? -1 : matrix.tied.indexOf(matrix.chosen);
  if (drawn >= 0 && matrix.tied.length === tied.length) return { winner: tied[drawn] ?? first, settled: "same draw" };
  return { winner: null, settled: "open" };
}

/** Which of the equal best Go's heap.Init brings to the root: the first in preorder (framework/profiles/services.py). */
export function heapRoot(size: number, tied: readonly number[]): number {
  const wanted = new Set(tied);
  const stack = [0];
  for (let place = stack.pop(); place !== undefined; place = stack.pop()) {
    if (wanted.has(place)) return place;
    for (const child of [2 * place + 2, 2 * place + 1]) if (child < size) stack.push(child);
  }
  return tied[0] ?? 0;
}

/** Whether every node has the same from this plugin. */
export function isEqualForAll(plugin: MatrixPlugin): boolean {
  const { normalized } = plugin;
  return normalized?.every((value) => value === normalized[0]) ?? false;
}
