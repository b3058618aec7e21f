// @vitest-environment jsdom
import { EditorView } from "@codemirror/view";
import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { type Answers, type Call, ok, OPERATOR, serve, showAt } from "@/testing/showPage";

import { dropDraft } from "./drafts";
import YamlDrawer from "./YamlDrawer";

const OBJECT = { kind: "ElasticQuota", namespace: "shop", name: "shop" };
const READ = [
  "apiVersion: scheduling.x-k8s.io/v1alpha1",
  "kind: ElasticQuota",
  "metadata:",
  "  name: shop",
  "spec:",
  "  min:",
  "    cpu: '2'",
  "",
].join("\n");
/** A command that is taken, and what becomes of it: each has an id of its own, as outcomes are remembered. */
let commands = 0;
function outcome(status: string, text = ""): Answers {
  commands += 1;
  const id = `j${commands.toString()}`;
  return {
    "POST /runs/r/commands/": ok({ id, status: "pending", warnings: [] }),
    [`GET /runs/r/journal/${id}/`]: ok({ id, status, text, result: {} }),
  };
}
const onClose = vi.fn();

async function drawer(answers: Answers = {}, role = "operator", editable = true) {
  const calls = serve({
    "GET /me/": ok({ username: "mira", role }),
    "GET /runs/r/objects/yaml/": ok({ yaml: READ, version: "7", editable }),
    ...outcome("applied"),
    ...answers,
  });
  await showAt("/runs/r/objects", "/runs/$run/objects", <YamlDrawer run="r" object={OBJECT} onClose={onClose} />);
  await screen.findByRole("dialog", { name: "shop" });
  await screen.findByRole("button", { name: /Copy|Apply/ });
  return calls;
}
const button = (name: string) => screen.getByRole("button", { name });
const sent = (calls: readonly Call[]) => calls.filter((call) => call.method === "POST").map((call) => call.body);
function view(): EditorView {
  const found = EditorView.findFromDOM(screen.getByRole("textbox", { name: "YAML of ElasticQuota shop/shop" }));
  if (found === null) throw new Error("no editor");
  return found;
}
/** As the keyboard does. */
function typed(old: string, now: string): void {
  const from = view().state.doc.toString().indexOf(old);
  view().dispatch({ changes: { from, to: from + old.length, insert: now } });
}
async function edited(old: string, now: string): Promise<void> {
  fireEvent.click(button("Edit"));
  await screen.findByRole("button", { name: "Apply" });
  await waitFor(view);
  typed(old, now);
  await screen.findByRole("button", { name: "Drop my changes" });
}

describe("the drawer of an object", () => {
  beforeEach(() => {
    Range.prototype.getClientRects = () => [] as unknown as DOMRectList;
    Range.prototype.getBoundingClientRect = () => new DOMRect();
  });
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
    dropDraft("r", OBJECT);
  });

  it.each([
    ["to somebody who only looks", "viewer", true],
    ["where the server does not take it", "operator", false],
  ])("offers no editing %s", async (_, role, editable) => {
    await drawer({}, role, editable);
    expect(screen.queryByRole("button", { name: "Edit" })).toBeNull();
  });

  it("sends the text with the state that it was made of, and closes the editor", async () => {
    const calls = await drawer();
    await edited("'2'", "'4'");
    fireEvent.click(button("Apply"));
    await screen.findByRole("button", { name: "Edit" });
    expect(document.activeElement).toBe(button("Edit"));
    expect(sent(calls)).toEqual([
      {
        type: "change",
        verb: "replace",
        manifest: READ.replace("'2'", "'4'"),
        ...OBJECT,
        resource_version: "7",
        client_id: expect.any(String) as unknown,
      },
    ]);
    await screen.findByText("ElasticQuota shop/shop was changed.");
  });

  it("tells what is wrong at its line, and keeps the text when it is closed", async () => {
    const message = "Invalid value: quantities must match";
    const problems = [{ path: "spec.min[cpu]", message, line: 7, column: 5 }];
    await drawer({
      "POST /runs/r/commands/": () => ({
        status: 422,
        body: { error: { code: "invalid_manifest", message: `spec.min[cpu]: ${message}`, line: 7, problems } },
      }),
    });
    await edited("'2'", "two");
    fireEvent.click(button("Apply"));
    await screen.findByText("It was not changed, your text is kept.");
    const line = view().dom.querySelectorAll(".cm-line")[6];
    await waitFor(() => expect(line?.textContent).toContain("quantities must match"));
    expect(view().state.doc.lineAt(view().state.selection.main.head).number).toBe(7);

    cleanup();
    await drawer();
    await waitFor(() => expect(view().state.doc.toString()).toContain("cpu: two"));
    fireEvent.click(button("Drop my changes"));
    fireEvent.click(await screen.findByRole("button", { name: "Edit" }));
    await waitFor(() => expect(view().state.doc.toString()).toBe(READ));
  });

  it("lets the person say whose text counts where it has changed meanwhile", async () => {
    const read = [
      { yaml: READ, version: "7", editable: true },
      { yaml: READ.replace("'2'", "'3'"), version: "8", editable: true },
    ];
    const answers: Answers = {
      "GET /me/": OPERATOR,
      "GET /runs/r/objects/yaml/": () => ({ status: 200, body: read.length > 1 ? read.shift() : read[0] }),
    };
    const calls = await drawer({ ...answers, ...outcome("refused", "It has changed since it was read.") });
    await edited("'2'", "'4'");
    fireEvent.click(button("Apply"));
    await screen.findByText("It has changed since it was read.");
    expect(view().state.doc.toString()).toContain("'4'");
    const over = await screen.findByRole("button", { name: "Apply mine over it" });
    const later = serve({ ...answers, ...outcome("applied") });
    fireEvent.click(over);
    await screen.findByRole("button", { name: "Edit" });
    const [first, second] = [...sent(calls), ...sent(later)] as Record<string, unknown>[];
    expect(first).toHaveProperty("resource_version", "7");
    expect(second).not.toHaveProperty("resource_version");
    expect(second?.manifest).toBe(first?.manifest);
  });

  it("begins with it as it is now where the person wants that", async () => {
    const read = [
      { yaml: READ, version: "7", editable: true },
      { yaml: READ.replace("'2'", "'3'"), version: "8", editable: true },
    ];
    await drawer({
      "GET /runs/r/objects/yaml/": () => ({ status: 200, body: read.length > 1 ? read.shift() : read[0] }),
      ...outcome("refused", "It has changed."),
    });
    await edited("'2'", "'4'");
    fireEvent.click(button("Apply"));
    fireEvent.click(await screen.findByRole("button", { name: "Begin with it as it is now" }));
    await waitFor(() => expect(view().state.doc.toString()).toContain("'3'"));
    expect(button("Apply")).toHaveProperty("disabled", true);
    expect(screen.queryByText("It has changed.")).toBeNull();
  });

  it("asks before it deletes, and says what rests on the object", async () => {
    const calls = await drawer({
      "GET /runs/r/objects/yaml/": ok({
        yaml: READ,
        version: "7",
        editable: true,
        rests_on_it: "3 pods are held to it.",
      }),
    });
    fireEvent.click(button("Delete"));
    await screen.findByText("3 pods are held to it.");
    expect(document.activeElement).toBe(button("Delete it"));
    fireEvent.click(button("Keep it"));
    expect(screen.queryByText("3 pods are held to it.")).toBeNull();
    expect(sent(calls)).toEqual([]);
    fireEvent.click(button("Delete"));
    fireEvent.click(button("Delete it"));
    await screen.findByText("ElasticQuota shop/shop was deleted.");
    expect(sent(calls)).toEqual([
      { type: "change", verb: "delete", manifest: READ, ...OBJECT, client_id: expect.any(String) as unknown },
    ]);
    expect(onClose).toHaveBeenCalled();
  });

  it("keeps an object whose deletion was refused, and says why", async () => {
    await drawer(outcome("refused", "ElasticQuota shop/shop not found"));
    fireEvent.click(button("Delete"));
    fireEvent.click(await screen.findByRole("button", { name: "Delete it" }));
    await screen.findByText("ElasticQuota shop/shop not found");
    await screen.findByText("It was not deleted.");
    expect(document.activeElement).toBe(button("Delete it"));
  });

  it("says what was refused where the object is still the one that was read", async () => {
    await drawer(outcome("refused", "spec.owners: Required value"));
    await edited("'2'", "'4'");
    fireEvent.click(button("Apply"));
    await screen.findByText("spec.owners: Required value");
    await waitFor(() => expect(button("Apply")).toHaveProperty("disabled", false));
    expect(screen.queryByRole("button", { name: "Apply mine over it" })).toBeNull();
  });
});
