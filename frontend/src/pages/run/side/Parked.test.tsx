// @vitest-environment jsdom
import { cleanup, screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { Run } from "@/api/types";
import { press } from "@/testing/press";
import { showAt } from "@/testing/showPage";

import { Parked } from "./Parked";

type Seen = NonNullable<Run["parked"]>;

const RUN = { error: "Its engine died three times at step 41.", attempts: 12, position: 41 } as Run;
const SEEN: Seen = {
  ended: "killed by signal 9",
  at: "2026-11-28T10:20:30Z",
  kept: 3,
  lines: "MemoryError\nat step 41",
};

const shows = (parked: Seen, onTryAgain: (() => void) | null) =>
  showAt("/a", "/a", <Parked run={RUN} parked={parked} onTryAgain={onTryAgain} />);

describe("a parked run", () => {
  afterEach(cleanup);

  it("says why, what was seen of its engine and how many commands it keeps, and is tried again", async () => {
    const again = vi.fn();
    await shows(SEEN, again);
    const told = (await screen.findByRole("region", { name: "What was seen of the parked run" })).textContent;
    expect(told).toContain(RUN.error);
    expect(told).toContain("killed by signal 9");
    expect(told).toMatch(/2026-11-28 10:20:30.*cycle 12.*step 41/);
    expect(told).toContain("3 commands");
    expect(told).toContain("MemoryError\nat step 41");
    press("Try again");
    expect(again).toHaveBeenCalledOnce();
  });

  it("leaves out what was not seen, and offers nothing to who may only look", async () => {
    await shows({ ...SEEN, ended: "", at: null, kept: 0, lines: "" }, null);
    await screen.findByRole("region");
    expect(screen.queryAllByRole("term").map((each) => each.textContent)).toHaveLength(1);
    expect(screen.queryByRole("button")).toBeNull();
  });
});
