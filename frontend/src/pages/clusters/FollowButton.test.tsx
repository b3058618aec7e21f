// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { ClusterDetails } from "@/api/clusters";
import { ok, serve, showAt } from "@/testing/showPage";

import { FollowButton } from "./FollowButton";

const cluster = {
  name: "prod",
  is_offered: true,
  can_be_read: true,
  follow_megabytes: 500,
} as unknown as ClusterDetails;

describe("the way to follow a cluster", () => {
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
  });

  it("asks how much is kept of the run", async () => {
    const calls = serve({
      "GET /me/": ok({ username: "mira", role: "operator" }),
      "POST /clusters/prod/follow/": ok({ run: { id: "made" }, reading: null }),
    });
    const { address } = await showAt("/runs/none", "/runs/$run", <FollowButton cluster={cluster} />);
    fireEvent.click(await screen.findByRole("button", { name: "Follow…" }));
    const field = screen.getByLabelText<HTMLInputElement>("Keep at most");
    const button = screen.getByRole<HTMLButtonElement>("button", { name: "Follow" });
    expect([field.value, button.disabled]).toEqual(["500", false]);
    fireEvent.change(field, { target: { value: "" } });
    expect(button.disabled).toBe(true);
    fireEvent.change(field, { target: { value: "80" } });
    fireEvent.click(button);
    await waitFor(() => expect(address()).toBe("/runs/made"));
    expect(calls.filter(({ method }) => method === "POST").map(({ body }) => body)).toEqual([{ megabytes: 80 }]);
  });
});
