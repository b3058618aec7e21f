// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { Import } from "@/api/types";
import { askedLast, button, fill, isOff, press, sent } from "@/testing/press";
import { type Answers, ok, refused, serve, showAt } from "@/testing/showPage";

import ImportPreview from "./ImportPreview";

const KEY =
  "Pod shop/web-0: Label api-token looks like a key (ghp_…). Labels and names are kept: if it is one, change it in the file.";
const READY = {
  id: "i",
  filename: "cluster.yaml",
  size_bytes: 2_000,
  state: "ready",
  error: "",
  seconds: 0.4,
  context: "",
  progress: null,
  counts: {
    nodes: 0,
    pods: 5,
    pods_by_namespace: [
      { name: "shop", pods: 3 },
      { name: "ml", pods: 2 },
    ],
    empty_namespaces: 0,
    namespaces: 2,
    pending: 0,
    gated: 0,
    kinds: {},
    unused_kinds: {},
    dropped_kinds: {},
  },
  warnings: [],
  notes: [],
  filtered: null,
  configuration: "",
  configuration_errors: [],
  problems: [],
  problem_count: 0,
  load: null,
} as unknown as Import;

async function preview(more: Partial<Import> = {}, answers: Answers = {}, ofText = false) {
  const did = { discarded: vi.fn(), another: vi.fn(), imported: vi.fn() };
  const calls = serve({
    "GET /me/": ok({ username: "ed", role: "editor" }),
    "GET /imports/i/": ok({ ...READY, ...more }),
    ...answers,
  });
  await showAt(
    "/",
    "/",
    <ImportPreview
      id="i"
      ofText={ofText}
      onDiscarded={did.discarded}
      onChooseAnother={did.another}
      onImported={did.imported}
    />,
  );
  return { calls, did, asked: () => askedLast(calls, "/imports/i/") };
}

const ALL = { exclude_namespaces: [], label_selector: "", take_configuration: true, leave_out_problems: false };
const shown = () => screen.findByText("cluster.yaml");

describe("the preview of an import", () => {
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
  });

  it("points out every label and name that looks like a key, and imports all the same", async () => {
    const more = "2 more labels and names look like keys.";
    const { calls, did } = await preview({ warnings: [KEY, more] }, { "POST /imports/i/commit/": ok({ id: "s1" }) });
    await shown();
    expect([screen.getByText(KEY).tagName, screen.getByText(more).tagName]).toEqual(["LI", "LI"]);
    press("Import");
    await waitFor(() => expect(did.imported).toHaveBeenCalledExactlyOnceWith({ id: "s1" }, false));
    expect(sent(calls)).toEqual([["POST /imports/i/commit/", ALL]]);
  });

  it("points nothing out where nothing looks like a key", async () => {
    await preview();
    await shown();
    expect(screen.queryByText(/looks like a key/)).toBeNull();
  });

  it("leaves namespaces out and takes them in again", async () => {
    const { asked, calls } = await preview({}, { "POST /imports/i/commit/": ok({ id: "s1" }) });
    await shown();
    press(/^shop/);
    await waitFor(() => expect(asked()).toEqual({ exclude_namespaces: "shop" }));
    press(/^ml/);
    await waitFor(() => expect(asked()).toEqual({ exclude_namespaces: "shop,ml" }));
    press(/^shop/);
    await waitFor(() => expect(button(/^shop/).getAttribute("aria-pressed")).toBe("true"));
    expect(button(/^ml/).getAttribute("aria-pressed")).toBe("false");
    await waitFor(() => expect(isOff("Import")).toBe(false));
    press("Import");
    await waitFor(() =>
      expect(sent(calls)).toEqual([["POST /imports/i/commit/", { ...ALL, exclude_namespaces: ["ml"] }]]),
    );
  });

  it("is imported with the selector that is typed, once the server has read it", async () => {
    const { asked, calls, did } = await preview({}, { "POST /imports/i/commit/": ok({ id: "s1" }) });
    await shown();
    fill("Label selector", " app=web ");
    expect([isOff("Import"), isOff("Import and run")]).toEqual([true, true]);
    await waitFor(() => expect(asked()).toEqual({ label_selector: "app=web" }));
    await waitFor(() => expect(isOff("Import and run")).toBe(false));
    press("Import and run");
    await waitFor(() => expect(did.imported).toHaveBeenCalledExactlyOnceWith({ id: "s1" }, true));
    expect(sent(calls)).toEqual([["POST /imports/i/commit/", { ...ALL, label_selector: "app=web" }]]);
  });

  it("says beside the field why a selector cannot be, and goes on once it can", async () => {
    await preview(
      {},
      {
        "GET /imports/i/": ({ path }) =>
          path.includes("%3D%3D%3D")
            ? {
                status: 400,
                body: { error: { code: "invalid", message: "A selector has no ===.", path: "label_selector" } },
              }
            : ok(READY)(),
      },
    );
    await shown();
    fill("Label selector", "app===web");
    expect(await screen.findByText("A selector has no ===.")).toBeTruthy();
    const field = screen.getByLabelText<HTMLInputElement>("Label selector");
    expect([field.value, field.getAttribute("aria-invalid")]).toEqual(["app===web", "true"]);
    expect([isOff("Import"), isOff("Import and run"), isOff("Discard")]).toEqual([true, true, false]);
    fill("Label selector", "app=web");
    await waitFor(() => expect(isOff("Import")).toBe(false));
    expect(screen.queryByText("A selector has no ===.")).toBeNull();
  });

  it("asks again for what a filter comes to where that could not be read", async () => {
    let isBusy = true;
    await preview(
      {},
      { "GET /imports/i/": ({ path }) => (isBusy && path.includes("app") ? refused("Busy.", 503)() : ok(READY)()) },
    );
    await shown();
    fill("Label selector", "app=web");
    expect((await screen.findByRole("alert")).textContent).toBe("The import could not be read.Busy.Try again");
    expect([screen.getByLabelText("Label selector").getAttribute("aria-invalid"), isOff("Import")]).toEqual([
      "false",
      true,
    ]);
    isBusy = false;
    press("Try again");
    await waitFor(() => expect(isOff("Import")).toBe(false));
    expect(screen.queryByRole("alert")).toBeNull();
  });

  it("imports the rest of what cannot be taken whole only when told so", async () => {
    const problems = [{ words: "Pod shop/web-0 has no containers." }] as unknown as Import["problems"];
    const { calls } = await preview({ problem_count: 3, problems }, { "POST /imports/i/commit/": ok({ id: "s1" }) });
    await shown();
    expect(screen.getByText("Pod shop/web-0 has no containers.")).toBeTruthy();
    expect(screen.getByText("and 2 more")).toBeTruthy();
    expect([isOff("Import"), isOff("Import and run")]).toEqual([true, true]);
    fireEvent.click(screen.getByLabelText("Leave them out and import the rest"));
    press("Import");
    await waitFor(() =>
      expect(sent(calls)).toEqual([["POST /imports/i/commit/", { ...ALL, leave_out_problems: true }]]),
    );
  });

  it("leaves the file's configuration where it is", async () => {
    const { calls } = await preview({ configuration: "kind: X" }, { "POST /imports/i/commit/": ok({ id: "s1" }) });
    await shown();
    fireEvent.click(screen.getByLabelText(/^Take its scheduler configuration, too/));
    press("Import");
    await waitFor(() =>
      expect(sent(calls)).toEqual([["POST /imports/i/commit/", { ...ALL, take_configuration: false }]]),
    );
  });

  it("says why nothing was imported, and lets it be tried again", async () => {
    const { did } = await preview({}, { "POST /imports/i/commit/": refused("There is a cluster of this name.") });
    await shown();
    press("Import and run");
    expect((await screen.findByRole("alert")).textContent).toBe(
      "Nothing was imported.There is a cluster of this name.",
    );
    expect(did.imported).not.toHaveBeenCalled();
    expect(isOff("Import and run")).toBe(false);
  });

  it.each([
    ["is discarded", ok(null)],
    ["is gone for the page also when the server had none", refused("There is no such import.", 404)],
  ])("%s", async (_, answer) => {
    const { calls, did } = await preview({}, { "DELETE /imports/i/": answer });
    await shown();
    press("Discard");
    await waitFor(() => expect(did.discarded).toHaveBeenCalledOnce());
    expect(sent(calls)).toEqual([["DELETE /imports/i/", undefined]]);
  });

  it("of a file that cannot be read says why, and offers another", async () => {
    const { did } = await preview({ state: "failed", error: "Line 3 is no YAML." });
    expect((await screen.findByRole("alert")).textContent).toContain("Nothing was imported. Line 3 is no YAML.");
    press("Choose another file");
    expect(did.another).toHaveBeenCalledOnce();
    press("Dismiss");
    expect(did.discarded).toHaveBeenCalledOnce();
  });

  it("reads again what could not be read", async () => {
    let isBusy = true;
    await preview({}, { "GET /imports/i/": () => (isBusy ? refused("Busy.", 503)() : ok(READY)()) });
    expect((await screen.findByRole("alert")).textContent).toBe("The import could not be read.Busy.Try again");
    isBusy = false;
    press("Try again");
    expect(await shown()).toBeTruthy();
  });
});
