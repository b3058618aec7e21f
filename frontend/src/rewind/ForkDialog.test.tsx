// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import { type Answer, ok, refused, serve, showAt } from "@/testing/showPage";

import ForkDialog from "./ForkDialog";
import { useFork } from "./useFork";

const AT = { position: 37, clock: "2026-01-01T08:59:58Z", counts: {} };
let when: () => Answer = ok({ first: 0, last: 50, at: AT });

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
      {asked === null ? null : <ForkDialog run="r" cluster={follows} step={asked.step} onClose={forget} />}
    </>
  );
}

async function forks(runKey: string, follows: string, made: () => Answer = ok({ id: "made" })) {
  const calls = serve({ ...answers, "GET /runs/r/timeline/": () => when(), "POST /runs/r/forks/": made });
  const page = await showAt(`/runs/${runKey}`, "/runs/$run", <Forks runKey={runKey} follows={follows} />);
  fireEvent.click(await screen.findByLabelText(GO));
  const sent = () => calls.filter(({ method }) => method === "POST").map(({ body }) => body);
  return { ...page, sent };
}

describe("a fork of a run beside a real cluster", () => {
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
    when = ok({ first: 0, last: 50, at: AT });
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

  it.each(["r@40", "r"])("of %s beside no cluster asks nothing", async (runKey) => {
    const { address } = await forks(runKey, "");
    await waitFor(() => expect(address()).toBe("/runs/made"));
  });

  it("as it is now takes nothing that came", async () => {
    const { sent } = await forks("r", "prod");
    await screen.findByText("As it is now. With a time: as it was then.");
    expect(screen.queryByRole("checkbox")).toBeNull();
    fireEvent.click(screen.getByRole("button", { name: "Fork" }));
    await waitFor(() => expect(sent()).toEqual([{ arrivals: false }]));
  });

  it("takes a time of the reader's, and says which step that is", async () => {
    const { sent } = await forks("r", "prod");
    fireEvent.change(await screen.findByLabelText("Since"), { target: { value: "2026-01-01T09:00:00" } });
    await screen.findByText(/^Takes step 37, of 2026-01-01 08:59:58 UTC/);
    fireEvent.click(screen.getByRole("button", { name: "Fork" }));
    const at = new Date("2026-01-01T09:00:00").toISOString();
    await waitFor(() => expect(sent()).toEqual([{ at, arrivals: true }]));
  });

  it("says of a time without a step why there is none, and makes no fork", async () => {
    when = refused("r-0007 began at 10:00: it has no step at 09:00.", 422);
    const { sent } = await forks("r@40", "prod");
    fireEvent.change(await screen.findByLabelText("Since"), { target: { value: "2026-01-01T09:00:00" } });
    expect((await screen.findByRole("alert")).textContent).toMatch(/it has no step at 09:00/);
    const button = screen.getByRole<HTMLButtonElement>("button", { name: "Fork" });
    expect(button.disabled).toBe(true);
    fireEvent.submit(screen.getByLabelText("Since"));
    expect(sent()).toEqual([]);
  });
});
