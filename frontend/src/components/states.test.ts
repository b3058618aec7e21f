import { expect, it } from "vitest";

import { placeWord, queueOf, STATES } from "./states";

it("a pod that has ended or is gone is in no queue, and says what became of it", () => {
  expect([queueOf({ column: "completed" }), queueOf({ column: "deleted" }), queueOf({})]).toEqual([null, null, null]);
  expect([placeWord({ column: "completed" }), placeWord({ column: "deleted" })]).toEqual(["Completed", "Deleted"]);
  expect(placeWord({ column: "bound" })).toBe(STATES.bound.title);
});
