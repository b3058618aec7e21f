// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import { type Answer, ok, refused, serve, showAt } from "@/testing/showPage";

import ForkDialog from "./ForkDialog";
import { useFork } from "./useFork";

const answers = {
  "GET /configurations/": ok({ results: [{ id: "c", name: "bin packing", latest: { id: "v7" } }], count: 1 }),
  "GET /runs/r/timeline/40/": ok({ step: { position: 40, clock: "2026-01-01T09:00:00Z", counts: {} } }),
  "GET /me/": ok({ username: "mira", role: "operator" }),
};

const GO = "go";

function Forks({ runKey, follows }: { runKey: string; follows: string }) {
  const { fork, asked, forget } = useFork(runKey, follows);
  return (
    <>
      <button onClick={() => fork()} aria-label={GO} />
      {asked === null ? null : <ForkDialog run="r" cluster={follows} step={asked} onClose={forget} />}
    </>
  );
}

async function forks(runKey: string, follows: string, made: () => Answer = ok({ id: "made" })) {
  const calls = serve({ ...answers, "POST /runs/r/forks/": made });
  const page = await showAt(`/runs/${runKey}`, "/runs/$run", <Forks runKey={runKey} follows={follows} />);
  fireEvent.click(await screen.findByLabelText(GO));
  const sent = () => calls.filter(({ method }) => method === "POST").map(({ body }) => body);
  return { ...page, sent };
}

describe("a fork of a run beside a real cluster", () => {
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
  });

  it("takes what came afterwards with another configuration, and its page is opened", async () => {
    const { sent, address } = await forks("r@40", "prod");
    await screen.findByText(/begins as this one was at .*9:00/);
    fireEvent.change(await screen.findByLabelText("Configuration"), { target: { value: "v7" } });
    fireEvent.click(screen.getByRole("button", { name: "Fork" }));
    await waitFor(() => expect(address()).toBe("/runs/made"));
    expect(sent()).toEqual([{ position: 40, arrivals: true, configuration_version: "v7" }]);
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  });

  it("goes without where that is wished, and says what follows", async () => {
    const { sent } = await forks("r@40", "prod");
    const box = await screen.findByLabelText("Take what came to prod afterwards");
    screen.getByText(/this run decides/);
    fireEvent.click(box);
    screen.getByText(/Controllers are simulated/);
    fireEvent.click(screen.getByRole("button", { name: "Fork" }));
    await waitFor(() => expect(sent()).toEqual([{ position: 40, arrivals: false }]));
  });

  it("says why there is none, and stays", async () => {
    const why = "The past of r-0007 before 09:00 went to make room.";
    await forks("r@40", "prod", refused(why, 422));
    fireEvent.click(await screen.findByRole("button", { name: "Fork" }));
    await screen.findByText(new RegExp(why));
    screen.getByRole("dialog");
  });

  it.each([
    ["r@40", ""],
    ["r", "prod"],
  ])("of %s beside %j asks nothing", async (runKey, follows) => {
    const { address } = await forks(runKey, follows);
    await waitFor(() => expect(address()).toBe("/runs/made"));
  });
});
