import { describe, expect, it } from "vitest";

import {
  heapRoot,
  isEqualForAll,
  type Matrix,
  type MatrixAnswer,
  matrixOf,
  readWeights,
  rerank,
  withWeight,
  writeWeights,
} from "./ranking";
import { verdictOf } from "./verdict";

const base64 = (values: number[]) => btoa(String.fromCharCode(...values));
const answer: MatrixAnswer = {
  profile: "default-scheduler",
  ties: "seeded",
  seed: 7,
  filters: ["NodeResourcesFit"],
  nodes: ["n2", "n1", "n3"],
  chosen: 0,
  tied: [0, 1],
  plugins: [
    { name: "Fit", weight: 1, normalized: base64([80, 80, 40]) },
    { name: "Image", weight: 1, normalized: base64([10, 10, 30]) },
    { name: "Volume", weight: 1, normalized: null },
  ],
};
const matrix = (more: Partial<MatrixAnswer> = {}): Matrix => matrixOf({ ...answer, ...more });
const names = (one: Matrix, places: Iterable<number>) => [...places].map((place) => one.nodes[place]);

describe("rerank", () => {
  it("is what was stored when nothing changes", () => {
    const one = matrix();
    const ranking = rerank(one, new Map());
    expect([...ranking.total]).toEqual([90, 90, 70]);
    expect([...ranking.rank]).toEqual([1, 1, 3]);
    expect(names(one, ranking.order)).toEqual(["n2", "n1", "n3"]);
    expect([ranking.winner, ranking.settled, ranking.margin]).toEqual([0, "same draw", 20]);
  });

  it("weighs otherwise and leaves out what is off", () => {
    const one = matrix();
    const ranking = rerank(one, new Map([["Image", 5]]));
    expect([...ranking.total]).toEqual([130, 130, 190]);
    expect(names(one, ranking.order)).toEqual(["n3", "n1", "n2"]);
    expect([ranking.winner, ranking.settled, ranking.margin]).toEqual([2, "alone", 60]);
    expect([...rerank(one, new Map([["Fit", 0]])).total]).toEqual([10, 10, 30]);
  });

  it("does not say what a seed would draw among another number of equals", () => {
    const ranking = rerank(matrix({ chosen: 2, tied: [2] }), new Map());
    expect([ranking.winner, ranking.settled, ranking.tied]).toEqual([null, "open", [0, 1]]);
  });

  it("breaks ties by the run's rule", () => {
    expect(rerank(matrix({ ties: "smallest" }), new Map()).winner).toBe(1);
    expect(rerank(matrix({ ties: "upstream" }), new Map()).winner).toBe(0);
  });

  it("takes the first feasible node when nothing scores", () => {
    const ranking = rerank(
      matrix({ ties: "smallest" }),
      new Map([
        ["Fit", 0],
        ["Image", 0],
        ["Volume", 0],
      ]),
    );
    expect([ranking.winner, ranking.settled, ranking.margin]).toEqual([0, "first found", null]);
  });
});

it("finds the heap's root in preorder", () => {
  // 0 → 1 → 3, 4 → 2 → 5, 6
  expect([heapRoot(7, [2, 3]), heapRoot(7, [4, 5]), heapRoot(7, [5, 6])]).toEqual([3, 4, 5]);
});

it("keeps weights in the address, and drops what is no weight", () => {
  const { plugins } = matrix();
  const weights = readWeights("Fit:5,Image:off,Volume:1,Other:3,Fit", plugins);
  expect([...weights]).toEqual([
    ["Fit", 5],
    ["Image", 0],
  ]);
  expect(writeWeights(weights)).toBe("Fit:5,Image:off");
  expect(readWeights("Fit:0,Image:9999999,Volume:x", plugins).size).toBe(0);
  expect(
    writeWeights(withWeight(withWeight(weights, { name: "Fit", weight: 1 }, 1), { name: "Image", weight: 1 }, 1)),
  ).toBeUndefined();
});

it("knows what is equal for all", () => {
  expect(
    matrix({ plugins: [{ name: "A", weight: 1, normalized: base64([4, 4, 4]) }, ...answer.plugins] }).plugins.map(
      isEqualForAll,
    ),
  ).toEqual([true, false, false, false]);
});

describe("the verdict", () => {
  const said = (one: Matrix, weights: Map<string, number>) =>
    verdictOf(one, rerank(one, new Map()), rerank(one, weights), weights);

  it("names the node it would have gone to, and where its own would stand", () => {
    expect(said(matrix(), new Map([["Image", 5]]))).toEqual({
      headline: "It would have gone to n3 instead of n2.",
      detail: "60 points ahead of n1. n2 would be number 2 (was 1), 60 points behind.",
      moved: true,
    });
  });

  it("says how a tie is broken", () => {
    expect(said(matrix(), new Map([["Fit", 2]])).detail).toBe(
      "n2, n1 are equal; the tie is broken by seed 7, which draws the same place among as many as before. 60 points ahead of n3.",
    );
    expect(said(matrix({ ties: "smallest", chosen: 1 }), new Map([["Fit", 2]])).detail).toContain(
      "the tie is broken by the smallest name.",
    );
    const open = said(matrix({ chosen: 2, tied: [2] }), new Map([["Fit", 2]]));
    expect([open.headline, open.moved]).toEqual([
      "It would not have gone to n3, but to one of 2 equally good nodes.",
      true,
    ]);
  });
});
