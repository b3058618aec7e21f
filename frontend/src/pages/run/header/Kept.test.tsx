// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { Followed } from "@/api/clusters";
import { type Answer, type Call, ok, refused, serve, showAt } from "@/testing/showPage";

import { Kept } from "./Kept";

const followed = {
  kept_bytes: 320_000_000,
  most_bytes: 500_000_000,
  measured_at: "2026-01-01T10:00:00Z",
} as unknown as Followed;

async function kept(changes = true, answer: (call: Call) => Answer = ok({ ...followed, most_bytes: 900_000_000 })) {
  const calls = serve({ "PUT /runs/r/follow/": answer });
  await showAt("/runs/r", "/runs/$run", <Kept run="r" followed={followed} changes={changes} />);
  fireEvent.click(await screen.findByRole("button", { name: /320 MB of 500 MB kept/ }));
  return () => calls.filter(({ method }) => method === "PUT").map(({ body }) => body);
}
const write = (text: string) => fireEvent.change(screen.getByLabelText("Keep at most"), { target: { value: text } });
const set = () => screen.getByRole<HTMLButtonElement>("button", { name: "Keep so much" });

describe("what is kept of a run beside a real cluster", () => {
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
  });

  it("is said with when it was measured, and can be changed", async () => {
    const sent = await kept();
    screen.getByText(/320 MB of 500 MB, measured .*10:00/);
    expect(set().disabled).toBe(true);
    write("900");
    expect(screen.queryByRole("alert")).toBeNull();
    fireEvent.click(set());
    await waitFor(() => expect(sent()).toEqual([{ megabytes: 900 }]));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  });

  it("says before it is made smaller what goes", async () => {
    await kept();
    write("400");
    expect(screen.getByRole("alert").textContent).toMatch(/320 MB: .* its oldest part goes, down to about 200 MB/);
    write("450");
    expect(screen.queryByRole("alert")).toBeNull();
  });

  it.each(["", "0", "100001", "1.5", "much"])("takes no %j", async (text) => {
    const sent = await kept();
    write(text);
    expect(set().disabled).toBe(true);
    expect(screen.getByRole("alert").textContent).toContain("from 1 to 100,000");
    expect(sent()).toEqual([]);
  });

  it("says why it was not changed", async () => {
    await kept(true, refused("r-0001 was stopped"));
    write("900");
    fireEvent.click(set());
    await screen.findByText(/r-0001 was stopped/);
  });

  it("is only read by whoever may not change it", async () => {
    await kept(false);
    screen.getByText(/320 MB of 500 MB, measured/);
    expect(screen.queryByLabelText("Keep at most")).toBeNull();
  });
});
