// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { CheckRequest, ConfigurationSummary, Edit, VersionDetail } from "@/api/configurationTypes";
import { type Answers, type Call, ok, refused, serve, showAt } from "@/testing/showPage";

import { Editor } from "./Editor";

vi.mock("./text/YamlEditor", () => ({
  default: ({ text, onChange }: { text: string; onChange: (text: string) => void }) => (
    <textarea aria-label="Text" value={text} onChange={(event) => onChange(event.currentTarget.value)} />
  ),
}));

const cell = { state: "default", origin: "default", position: 0, weight: null, default_weight: null, moved: false };
const row = { plugin: "Fit", origin: "default", known: true, off: false, changed: false, args_changed: false };
const problem = (message: string) => ({
  plugin: null,
  profile: null,
  field: [],
  path: "",
  line: 2,
  message,
  text: message,
});

/** A server that reads "name: …" as the first profile's name, and takes an edit of that name. */
function read(text: string) {
  const name = /name: (\S+)/.exec(text)?.[1];
  return {
    text,
    format: "yaml",
    errors: name === undefined ? [problem("no name")] : name === "bad" ? [problem("a bad name")] : [],
    warnings: [],
    unknown_fields: [],
    feature_gates: [],
    form: null,
    runnable: true,
    why: "",
    config_error: "",
    effective:
      name === undefined
        ? null
        : {
            globals: { percentage_of_nodes_to_score: 0 },
            profiles: [
              {
                scheduler_name: name,
                plugins_count: 1,
                points: { Filter: [{ name: "Fit", state: "enabled" }] },
                rows: [{ ...row, has_args: false, cells: { Filter: { ...cell, disabled_in: null } } }],
                args: {},
              },
            ],
          },
  };
}
const renamed = (text: string, edit: Edit) =>
  edit.type === "setField" ? text.replace(/name: \S+/, `name: ${String(edit.value)}`) : text;
function check({ body }: Call) {
  const { text, edits } = body as CheckRequest;
  const made = read((edits ?? []).reduce(renamed, text));
  const what = [{ profile: null, plugin: null, what: ["another name"] }];
  const lines = [{ kind: "add", text: made.text, old: null, new: 1 }];
  const comparison = { changes: what, diff: { added: 1, removed: 0, lines } };
  return ok({ ...made, comparison, saved_meanwhile: null })();
}

const version = { ...read("name: first"), id: "v3", number: 3 } as unknown as VersionDetail;
const configuration = {
  id: "c",
  name: "shop",
  builtin: false,
  what_if: false,
  latest: { number: 3 },
} as unknown as ConfigurationSummary;

async function editor(more: Answers = {}, role = "editor"): Promise<Call[]> {
  const calls = serve({
    "GET /me/": ok({ username: "mira", role }),
    "GET /plugins/": ok([]),
    "GET /presets/": ok([]),
    "GET /configurations/c/versions/": ok({ count: 0, results: [] }),
    "GET /configurations/c/versions/3/": ok(version),
    "POST /configurations/check/": check,
    ...more,
  });
  await showAt(
    "/configurations/c",
    "/configurations/$configuration",
    <Editor configuration={configuration} version={version} viewed={null} />,
  );
  return calls;
}
const button = (name: RegExp | string) => screen.getByRole("button", { name });
const field = () => screen.getByRole("textbox", { name: "schedulerName" });
const text = () => screen.findByRole<HTMLTextAreaElement>("textbox", { name: "Text" });
const show = (view: "Form" | "YAML") => fireEvent.click(screen.getByRole("radio", { name: view }));

async function rename(to: string): Promise<void> {
  await screen.findByRole("heading", { name: "first" });
  await waitFor(() => expect(field()).toHaveProperty("readOnly", false));
  fireEvent.change(field(), { target: { value: to } });
  fireEvent.blur(field());
}

describe("the editor of a configuration", () => {
  beforeEach(() => localStorage.clear());
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
  });

  it("has what was changed in the form in the text, and what was typed in the text in the form", async () => {
    await editor();
    await rename("second");
    expect(await screen.findByText("Draft, 1 change")).toBeDefined();
    show("YAML");
    expect((await text()).value).toBe("name: second");
    fireEvent.change(await text(), { target: { value: "name: third" } });
    show("Form");
    expect(await screen.findByRole("heading", { name: "third" })).toBeDefined();
    expect(field()).toHaveProperty("value", "third");
  });

  it("keeps the form shut while the text cannot be read, and Save while it has errors", async () => {
    await editor();
    await screen.findByRole("heading", { name: "first" });
    show("YAML");
    fireEvent.change(await text(), { target: { value: "name: bad" } });
    expect(await screen.findByRole("button", { name: "1 error" })).toBeDefined();
    expect(button(/^Save/)).toHaveProperty("title", "There are errors");
    expect(screen.getByRole("radio", { name: "Form" })).toHaveProperty("disabled", false);
    fireEvent.change(await text(), { target: { value: "{" } });
    await waitFor(() => expect(screen.getByRole("radio", { name: "Form" })).toHaveProperty("disabled", true));
    expect(button(/^Save/)).toHaveProperty("disabled", true);
  });

  it("says that a change was refused, and keeps the text", async () => {
    const answers = { "POST /configurations/check/": (call: Call) => first(call) ?? refused("Not that name.", 422)() };
    const first = (call: Call) => ((call.body as CheckRequest).edits?.length === 0 ? check(call) : undefined);
    await editor(answers);
    await rename("second");
    const alert = (await screen.findByText(/That change was not made/)).parentElement ?? document.body;
    expect(alert.textContent).toContain("Not that name.");
    fireEvent.click(button("All right"));
    await waitFor(() => expect(screen.queryByText(/That change was not made/)).toBeNull());
    expect(screen.queryByText(/^Draft/)).toBeNull();
  });

  it("shows what a save changes, keeps the text of one that failed, and saves with a comment", async () => {
    let fails = true;
    const saved = { ...version, number: 4, id: "v4", configuration };
    const calls = await editor({
      "POST /configurations/c/versions/": () => (fails ? refused("The disk is full.", 507)() : ok(saved)()),
    });
    await rename("second");
    await screen.findByText("Draft, 1 change");
    fireEvent.click(button(/^Save/));
    const drawer = await screen.findByRole("dialog", { name: "Save as version 4" });
    fireEvent.change(within(drawer).getByRole("textbox"), { target: { value: "why" } });
    fireEvent.click(within(drawer).getByRole("button", { name: "Save" }));
    expect(await within(drawer).findByText(/The disk is full\./)).toBeDefined();
    fails = false;
    fireEvent.click(within(drawer).getByRole("button", { name: "Save" }));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(calls.filter((call) => call.path === "/configurations/c/versions/").at(-1)?.body).toEqual({
      text: "name: second",
      base_version: 3,
      comment: "why",
    });
    await waitFor(() => expect(screen.queryByText(/^Draft/)).toBeNull());
  });

  it("only shows it to who may not edit", async () => {
    await editor({}, "viewer");
    await screen.findByRole("heading", { name: "first" });
    expect(field()).toHaveProperty("readOnly", true);
    expect(screen.queryByRole("button", { name: /^Save/ })).toBeNull();
  });
});
