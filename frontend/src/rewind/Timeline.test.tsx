// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { type ComponentProps } from "react";
import { afterEach, describe, expect, it, vi } from "vitest";

import { useKeyboard } from "@/keys/useKeys";
import { ok, serve, showAt } from "@/testing/showPage";

import { Timeline } from "./Timeline";

const marks = [
  { kind: "failure", step: 20, count: 2 },
  { kind: "failure", step: 60, count: 1 },
  { kind: "preemption", step: 90, count: 1 },
];
const answers = {
  "GET /runs/r/timeline/": ok({ last: 100, attempts: 30, marks }),
  "GET /me/": ok({ username: "mira", role: "operator" }),
};

const PROPS = { runKey: "r", position: 100, playing: false, forkedAt: null, reading: false, onFork: undefined };

async function timeline(props: Partial<ComponentProps<typeof Timeline>> = {}) {
  serve(answers);
  const all = {
    runKey: "r",
    position: 100,
    playing: false,
    forkedAt: null,
    reading: false,
    onFork: undefined,
    ...props,
  };
  const page = await showAt(`/runs/${all.runKey}`, "/runs/$run", <Timeline {...all} />);
  const slider = await screen.findByRole("slider", { name: "Step of the run" });
  await waitFor(() => expect(slider.ariaValueMax ?? slider.getAttribute("aria-valuemax")).toBe("100"));
  return { slider, ...page };
}
const where = () => screen.getByRole("status").textContent;
const valueOf = (slider: HTMLElement) => Number(slider.getAttribute("aria-valuenow"));

describe("the timeline", () => {
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
  });

  it("stands at now, counts its marks, and goes no further", async () => {
    const { slider } = await timeline();
    expect(valueOf(slider)).toBe(100);
    expect(where()).toBe("step 100 now");
    await waitFor(() => expect(screen.getByRole("list", { name: "Marks" }).children).toHaveLength(2));
    const legend = within(screen.getByRole("list", { name: "Marks" }));
    expect(legend.getAllByRole("listitem").map((one) => one.textContent)).toEqual(["3 found no node", "1 preempted"]);
    expect(screen.getByRole("button", { name: /^One step on/ })).toHaveProperty("disabled", true);
  });

  it.each([
    ["ArrowLeft", 99],
    ["PageDown", 95],
    ["Home", 0],
  ])("goes with %s, and to the step's address once the key rests", async (key, step) => {
    const { slider, address } = await timeline();
    fireEvent.keyDown(slider, { key });
    expect(valueOf(slider)).toBe(step);
    await waitFor(() => expect(address()).toBe(`/runs/r@${step}`));
  });

  it("of a step says which it is of how many, and leads back to now", async () => {
    const { slider } = await timeline({ runKey: "r@40", position: null });
    expect([valueOf(slider), where()]).toEqual([40, "step 40 of 100"]);
    expect(screen.getByRole("link", { name: /[Bb]ack to now/ }).getAttribute("href")).toBe("/runs/r");
    expect(screen.queryByRole("list", { name: "Marks" })).toBeNull();
  });

  it("says that the step is being read", async () => {
    await timeline({ runKey: "r@40", position: null, reading: true });
    expect(where()).toMatch(/40/);
    expect(where()).not.toMatch(/ of /);
  });

  it("forks at the step that is pointed at, by the key", async () => {
    const onFork = vi.fn();
    function Page() {
      useKeyboard();
      return <Timeline {...{ ...PROPS, onFork }} />;
    }
    serve(answers);
    await showAt("/runs/r", "/runs/$run", <Page />);
    const slider = await screen.findByRole("slider");
    await waitFor(() => expect(slider.getAttribute("aria-valuemax")).toBe("100"));
    fireEvent.keyDown(document.body, { key: "f" });
    expect(onFork).not.toHaveBeenCalled();
    // jsdom has no pointers to capture, and nothing in it has a width: every place is the beginning.
    slider.hasPointerCapture = () => false;
    fireEvent(slider, new MouseEvent("pointermove", { bubbles: true, clientX: 0 }));
    expect((await screen.findByRole("tooltip")).textContent).toMatch(/^Step 0/);
    fireEvent.keyDown(document.body, { key: "f" });
    expect(onFork).toHaveBeenCalledExactlyOnceWith(0);
  });
});
