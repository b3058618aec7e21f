// @vitest-environment jsdom
import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { Import } from "@/api/types";
import { type Answers, type Call, ok, refused, serve, showAt } from "@/testing/showPage";

import ImportLoad from "./ImportLoad";

const LOAD = { source: "node-load.json", nodes: 2, notes: ["1 node of it is not in the cluster."] };
const READ = { id: "i", load: null } as unknown as Import;

async function load(answers: Answers = {}, more: Partial<Import> = {}, disabled = false) {
  const calls = serve({ "POST /imports/i/load/": ok(READ), "DELETE /imports/i/load/": ok(READ), ...answers });
  const bodies: unknown[] = [];
  const answering = fetch;
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    if (init.method !== undefined && init.method !== "GET") bodies.push(init.body);
    return answering(url, init);
  });
  await showAt("/", "/", <ImportLoad read={{ ...READ, ...more }} disabled={disabled} />);
  return { calls, bodies };
}
const sent = (calls: readonly Call[]) => calls.map(({ method, path }) => `${method} ${path}`);
const button = (name: string) => screen.getByRole<HTMLButtonElement>("button", { name });
const choose = (name: string, text: string) =>
  fireEvent.change(screen.getByLabelText("Choose a file…", { selector: "input" }), {
    target: { files: [new File([text], name)] },
  });

describe("the load of nodes beside an import", () => {
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
  });

  it("is brought as a file, of the resource that was chosen", async () => {
    const { calls, bodies } = await load();
    fireEvent.click(screen.getByRole("radio", { name: "Memory" }));
    choose("memory.json", "{}");
    await vi.waitFor(() => expect(sent(calls)).toEqual(["POST /imports/i/load/"]));
    const form = bodies[0] as FormData;
    expect([form.get("resource"), (form.get("file") as File).name]).toEqual(["Memory", "memory.json"]);
    expect(screen.getByText(/Files add to each other/)).toBeTruthy();
  });

  it("is what the file says where nothing was chosen, and no file is nothing to send", async () => {
    const { calls, bodies } = await load();
    fireEvent.change(screen.getByLabelText("Choose a file…", { selector: "input" }), { target: { files: [] } });
    expect(calls).toEqual([]);
    choose("all.json", "{}");
    await vi.waitFor(() => expect(bodies).toHaveLength(1));
    expect((bodies[0] as FormData).get("resource")).toBe("");
  });

  it("is made up from a seed", async () => {
    const { calls } = await load();
    fireEvent.click(screen.getByRole("radio", { name: "Make it up" }));
    fireEvent.change(screen.getByLabelText("Seed"), { target: { value: "42" } });
    fireEvent.click(button("Make it"));
    await vi.waitFor(() => expect(calls.map((call) => call.body)).toEqual([{ seed: 42 }]));
    expect(screen.queryByText(/Files add to each other/)).toBeNull();
  });

  it("says what it is of and what to know about it, and is left out again", async () => {
    const { calls } = await load({}, { load: LOAD });
    expect(screen.getByRole("status").textContent).toContain("node-load.json: 2 nodes");
    expect(screen.getByText("1 node of it is not in the cluster.")).toBeTruthy();
    fireEvent.click(button("Leave it out"));
    await vi.waitFor(() => expect(sent(calls)).toEqual(["DELETE /imports/i/load/"]));
  });

  it("tells why a file was not taken, and takes the next one", async () => {
    const { calls } = await load({ "POST /imports/i/load/": refused("This is no load: line 1.", 422) });
    choose("wrong.json", "x");
    expect((await screen.findByRole("alert")).textContent).toContain("This is no load: line 1.");
    choose("wrong.json", "y");
    await vi.waitFor(() => expect(calls).toHaveLength(2));
  });

  it("takes nothing while the import is busy", async () => {
    await load({}, { load: LOAD }, true);
    expect([button("Choose a file…").disabled, button("Leave it out").disabled]).toEqual([true, true]);
  });
});
