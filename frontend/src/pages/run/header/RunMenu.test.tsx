// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { Run } from "@/api/types";
import { aRun } from "@/testing/run";
import { type Answers, type Call, ok, refused, serve, showAt } from "@/testing/showPage";

import { useCommand } from "../useCommand";
import RunMenu from "./RunMenu";

const taken = { id: "j1", status: "pending", warnings: [] };
const applied = { id: "j1", status: "applied", text: "", result: {} };

function Menu({ run, operates, onClosed }: { run: Run; operates: boolean; onClosed: () => void }) {
  const commander = useCommand(run.id);
  return (
    <>
      <RunMenu run={run} commander={commander} operates={operates} onClosed={onClosed} />
      <button type="button" onClick={() => void commander.send({ type: "play", speed: "max" })}>
        {run.number}
      </button>
    </>
  );
}

async function menu(run: Partial<Run> = {}, answers: Answers = {}, role = "operator") {
  const calls = serve({
    "GET /me/": ok({ username: "mira", role }),
    "POST /runs/r/commands/": ok(taken),
    "GET /runs/r/journal/j1/": ok(applied),
    ...answers,
  });
  const onClosed = vi.fn();
  const page = await showAt(
    "/runs/r",
    "/runs/$run",
    <Menu run={aRun(run)} operates={role !== "viewer"} onClosed={onClosed} />,
  );
  await screen.findByRole("menuitem", { name: role === "visitor" ? /Attempts/ : /Delete the run/ });
  return { calls, onClosed, ...page };
}
const item = (name: RegExp) => screen.getByRole("menuitem", { name });
const sent = (calls: readonly Call[]) => calls.filter((call) => call.method !== "GET");
async function dialog(name: string): Promise<HTMLElement> {
  fireEvent.click(item(new RegExp(name)));
  return screen.findByRole("dialog", { name });
}

describe("the menu of a run", () => {
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
  });

  it.each<[string, Partial<Run>, string, RegExp, string]>([
    ["has ended", { state: "stopped" }, "operator", /Add a pod/, "The run has ended"],
    ["has taken its first step", {}, "operator", /Change the seed/, "Only before the first step"],
    ["is looked at only", {}, "viewer", /Delete the run/, "Your role can look, but not change runs"],
  ])("says why not, of a run that %s", async (_, run, role, name, why) => {
    await menu(run, {}, role);
    expect(item(name).ariaDisabled ?? item(name).getAttribute("data-disabled")).toBe("true");
    expect(item(name).title).toBe(why);
  });

  it("shows a visitor nothing that changes the run", async () => {
    await menu({}, {}, "visitor");
    await waitFor(() =>
      expect(screen.queryAllByRole("menuitem", { name: /Add a|Delete|Compare|Capacity/ })).toEqual([]),
    );
    expect(item(/Attempts/)).toBeDefined();
  });

  it("adds a pod from a manifest, keeps one that is refused, and points to its line", async () => {
    const body = { error: { code: "invalid", message: "cpu is no quantity", line: 9 } };
    let answer = () => ({ status: 422, body: body as unknown });
    const { calls, onClosed } = await menu({}, { "POST /runs/r/commands/": () => answer() });
    const drawer = await dialog("Add a pod");
    const field = within(drawer).getByRole("textbox");
    fireEvent.change(field, { target: { value: "kind: Pod" } });
    fireEvent.click(within(drawer).getByRole("button", { name: "Add the pod" }));
    expect(await within(drawer).findByText(/cpu is no quantity/)).toBeDefined();
    expect(within(drawer).getByText(/line 9/)).toBeDefined();
    expect([field.ariaInvalid ?? field.getAttribute("aria-invalid"), (field as HTMLTextAreaElement).value]).toEqual([
      "true",
      "kind: Pod",
    ]);
    answer = ok({ ...taken, warnings: ["specs is not read."] });
    fireEvent.click(within(drawer).getByRole("button", { name: "Add the pod" }));
    await waitFor(() => expect(onClosed).toHaveBeenCalledOnce());
    expect(sent(calls).at(-1)?.body).toMatchObject({ type: "pod_add", manifest: "kind: Pod" });
    expect(await screen.findByText("specs is not read.")).toBeDefined();
  });

  it("changes the seed to a whole number only", async () => {
    await menu({ points: 0 });
    const drawer = await dialog("Change the seed");
    const button = within(drawer).getByRole("button", { name: "Change" });
    fireEvent.change(within(drawer).getByRole("textbox"), { target: { value: "1.5" } });
    expect(button).toHaveProperty("disabled", true);
    fireEvent.change(within(drawer).getByRole("textbox"), { target: { value: "15" } });
    expect(button).toHaveProperty("disabled", false);
  });

  it("deletes a run only after it was said what goes with it, and leaves its page", async () => {
    const { calls, address } = await menu({}, { "DELETE /runs/r/": ok({}) });
    const drawer = await dialog("Delete the run");
    expect(drawer.textContent).toContain("r-0007");
    expect(sent(calls)).toEqual([]);
    fireEvent.click(within(drawer).getByRole("button", { name: "Delete the run" }));
    await waitFor(() => expect(address()).toBe("/runs"));
    expect(sent(calls)).toMatchObject([{ method: "DELETE", path: "/runs/r/" }]);
  });

  it("tells a command that failed in a notice, with what was tried and why", async () => {
    await menu({}, { "POST /runs/r/commands/": refused("The run is being deleted.") });
    fireEvent.click(screen.getByText("r-0007"));
    expect(await screen.findByText("The run did not start.")).toBeDefined();
    expect(screen.getByText("The run is being deleted.")).toBeDefined();
  });
});
