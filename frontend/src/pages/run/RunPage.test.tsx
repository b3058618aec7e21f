// @vitest-environment jsdom
import { cleanup, screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import { ok, OPERATOR, serve, showAt } from "@/testing/showPage";

import { RunPage } from "./RunPage";

const TEXT = "The past of r-0007 before 2026-11-28 10:15:00 UTC (step 60) went to make room.";

describe("the page of a run", () => {
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
  });

  it("of a step that is not kept any more shows why, and leads to what is", async () => {
    serve({
      "GET /me/": OPERATOR,
      "GET /runs/r%405/board/": () => ({
        status: 422,
        body: {
          error: { code: "thinned", message: TEXT, path: "position" },
          thinned: { position: 60, at: "2026-11-28T10:15:00.000Z", text: TEXT },
        },
      }),
      "GET /runs/r/timeline/": ok({ first: 50, last: 100, attempts: 30, marks: [] }),
    });
    await showAt("/runs/r@5", "/runs/$run", <RunPage />);
    const failed = await screen.findByRole("alert");
    expect(failed.textContent).toBe(`This step is not kept any more.${TEXT}`);
    expect(screen.queryByRole("button", { name: "Try again" })).toBeNull();
    const links = screen.getAllByRole("link", { name: "Back to now" });
    expect(links.map((link) => link.getAttribute("href"))).toEqual(["/runs/r", "/runs/r"]);
    // The server said it newer than the line was read.
    expect(screen.getByRole("slider").getAttribute("aria-valuemin")).toBe("60");
  });

  it("of a run that cannot be read asks again", async () => {
    const calls = serve({
      "GET /me/": OPERATOR,
      "GET /runs/r%405/board/": () => ({ status: 422, body: { error: { code: "no_moment", message: "No worker." } } }),
      "GET /runs/r/timeline/": ok({ first: 0, last: 100, attempts: 30, marks: [] }),
    });
    await showAt("/runs/r@5", "/runs/$run", <RunPage />);
    expect((await screen.findByRole("alert")).textContent).toMatch(/^The run could not be read\.No worker\./);
    const before = calls.filter(({ path }) => path.includes("/board/")).length;
    screen.getByRole("button", { name: "Try again" }).click();
    expect(calls.filter(({ path }) => path.includes("/board/"))).toHaveLength(before + 1);
  });
});
