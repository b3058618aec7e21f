import { describe, expect, it } from "vitest";

import { chosen, firstSide, followed, type Happening } from "./sideTab";

const QUIET: Happening = { selected: undefined, stoppedAt: null, fast: false };

describe("the tab beside the nodes", () => {
  it("begins with what there is", () => {
    expect(firstSide(QUIET).tab).toBe("activity");
    expect(firstSide({ ...QUIET, stoppedAt: "3 Filter" }).tab).toBe("cycle");
    expect(firstSide({ ...QUIET, stoppedAt: "3 Filter", selected: "shop/web-1" }).tab).toBe("selected");
  });
  it("shows the cycle at a step, and goes back when the run plays fast", () => {
    const stepped = followed(firstSide(QUIET), { ...QUIET, stoppedAt: "3 Filter" });
    expect(stepped.tab).toBe("cycle");
    expect(followed(stepped, { ...QUIET, fast: true }).tab).toBe("activity");
    expect(followed(stepped, QUIET).tab).toBe("cycle");
  });
  it("shows what is selected, and what was there before when nothing is any more", () => {
    const cycle = firstSide({ ...QUIET, stoppedAt: "3 Filter" });
    const selected = followed(cycle, { ...cycle.seen, selected: "shop/web-1" });
    expect(selected.tab).toBe("selected");
    expect(followed(selected, cycle.seen).tab).toBe("cycle");
    expect(followed(chosen(selected, "activity"), cycle.seen).tab).toBe("activity");
    expect(followed(selected, { ...selected.seen, stoppedAt: "3 Score" }).tab).toBe("cycle");
  });
  it("stays where it is pinned, but for what the reader selects", () => {
    const pinned = { ...firstSide(QUIET), pinned: true };
    expect(followed(pinned, { ...QUIET, stoppedAt: "3 Filter" }).tab).toBe("activity");
    expect(followed(pinned, { ...QUIET, selected: "shop/web-1" }).tab).toBe("selected");
  });
  it("is the same when nothing has happened", () => {
    const side = firstSide(QUIET);
    expect(followed(side, { ...QUIET })).toBe(side);
  });
});
