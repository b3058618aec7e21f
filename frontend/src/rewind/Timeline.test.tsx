// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { type ComponentProps } from "react";
import { afterEach, describe, expect, it, vi } from "vitest";

import { useKeyboard } from "@/keys/useKeys";
import { type Answers, ok, serve, showAt } from "@/testing/showPage";

import { Timeline } from "./Timeline";

const marks = [
  { kind: "failure", position: 20, text: "shop/web-0", count: 2 },
  { kind: "failure", position: 60, text: "shop/web-1", count: 1 },
  { kind: "preemption", position: 90, text: "shop/web-2", count: 1 },
];
const answers = {
  "GET /runs/r/timeline/": ok({ first: 0, last: 100, attempts: 30, marks }),
  "GET /me/": ok({ username: "mira", role: "operator" }),
};

const PROPS = {
  runKey: "r",
  position: 100,
  kept: 0,
  playing: false,
  forkedAt: null,
  reading: false,
  onFork: undefined,
};
/** Its past up to step 60 went. */
const thinned = {
  ...answers,
  "GET /runs/r/timeline/": ok({ first: 60, last: 100, attempts: 30, marks: marks.slice(1) }),
};

async function timeline(props: Partial<ComponentProps<typeof Timeline>> = {}, from: Answers = answers) {
  serve(from);
  const all = { ...PROPS, ...props };
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

  it.each([
    ["ArrowLeft", 99],
    ["PageDown", 98],
    ["Home", 60],
  ])("of a run whose past went goes with %s no further than what is kept", async (key, step) => {
    const { slider, address } = await timeline({}, thinned);
    expect(slider.getAttribute("aria-valuemin")).toBe("60");
    fireEvent.keyDown(slider, { key });
    expect(valueOf(slider)).toBe(step);
    await waitFor(() => expect(address()).toBe(`/runs/r@${step}`));
  });

  it("begins at the left with what is kept, and stops there", async () => {
    const { slider, address } = await timeline({ runKey: "r@60", position: null }, thinned);
    const back = screen.getByRole("button", { name: /^One step back/ });
    expect([valueOf(slider), where(), back]).toEqual([
      60,
      "step 60 of 100",
      expect.objectContaining({ disabled: true }),
    ]);
    slider.hasPointerCapture = () => true;
    fireEvent(slider, new MouseEvent("pointerup", { bubbles: true, clientX: 0 }));
    await waitFor(() => expect(screen.queryByRole("tooltip")).toBeNull());
    expect(address()).toBe("/runs/r@60");
    fireEvent.keyDown(slider, { key: "ArrowLeft" });
    expect(valueOf(slider)).toBe(60);
  });

  it("knows from the page what went before the server says it", async () => {
    serve({ ...thinned, "GET /runs/r/timeline/": () => new Promise<never>(() => undefined) });
    await showAt("/runs/r", "/runs/$run", <Timeline {...PROPS} kept={60} />);
    const slider = await screen.findByRole("slider");
    fireEvent.keyDown(slider, { key: "Home" });
    expect([slider.getAttribute("aria-valuemin"), valueOf(slider)]).toEqual(["60", 60]);
  });

  it("of a step that went says so, and stands at the beginning", async () => {
    const { slider } = await timeline({ runKey: "r@5", position: null }, thinned);
    expect([valueOf(slider), where()]).toEqual([60, "step 5; kept from 60 on"]);
    expect(screen.getByRole("link", { name: /[Bb]ack to now/ }).getAttribute("href")).toBe("/runs/r");
    fireEvent.click(screen.getByRole("button", { name: /^One step on/ }));
    expect(valueOf(slider)).toBe(61);
  });

  it("shows no fork that parted before what is kept", async () => {
    await timeline({ forkedAt: 59 }, thinned);
    expect(screen.queryByTitle(/^Forked here/)).toBeNull();
    cleanup();
    await timeline({ forkedAt: 60 }, thinned);
    expect(screen.getByTitle("Forked here, at step 60")).toBeTruthy();
  });
});
