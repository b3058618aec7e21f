// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { Edit } from "@/api/configurationTypes";

import { type Editing, EditingContext } from "../draft/editing";
import { ExtenderForms } from "./ExtenderForms";

afterEach(cleanup);

const WRITTEN = {
  urlPrefix: "http://127.0.0.1:9876",
  filterVerb: "filter",
  prioritizeVerb: "",
  weight: 0,
  httpTimeout: "5s",
  nodeCacheCapable: true,
  ignorable: false,
  enableHTTPS: false,
  tlsConfig: null,
  managedResources: [{ name: "example.com/gpu", ignoredByScheduler: false }],
};

function show(extenders: unknown[], errors: unknown[] = [], readOnly = false) {
  const edit = vi.fn<(...edits: Edit[]) => void>();
  const editing = { effective: { extenders }, examination: { errors }, readOnly, edit } as unknown as Editing;
  render(
    <EditingContext value={editing}>
      <ExtenderForms />
    </EditingContext>,
  );
  return edit;
}

describe("the form of extenders", () => {
  it("writes a field that was changed, a number as a number, and takes out what was emptied", () => {
    const edit = show([WRITTEN]);
    const weight = screen.getByLabelText("weight");
    fireEvent.change(weight, { target: { value: "5" } });
    fireEvent.blur(weight);
    expect(edit).toHaveBeenLastCalledWith({ type: "setField", path: ["extenders", 0, "weight"], value: 5 });
    const verb = screen.getByLabelText("filterVerb");
    fireEvent.change(verb, { target: { value: " " } });
    fireEvent.blur(verb);
    expect(edit).toHaveBeenLastCalledWith({ type: "removeField", path: ["extenders", 0, "filterVerb"] });
    fireEvent.click(screen.getByLabelText("ignorable"));
    expect(edit).toHaveBeenLastCalledWith({ type: "setField", path: ["extenders", 0, "ignorable"], value: true });
    fireEvent.blur(screen.getByLabelText("urlPrefix"));
    expect(edit).toHaveBeenCalledTimes(3);
  });

  it("reaches into tlsConfig and managedResources, whose list goes with its last entry", () => {
    const edit = show([WRITTEN]);
    fireEvent.click(screen.getByLabelText("insecure"));
    expect(edit).toHaveBeenLastCalledWith({
      type: "setField",
      path: ["extenders", 0, "tlsConfig", "insecure"],
      value: true,
    });
    fireEvent.click(screen.getByRole("button", { name: "Remove example.com/gpu" }));
    expect(edit).toHaveBeenLastCalledWith({ type: "removeField", path: ["extenders", 0, "managedResources"] });
  });

  it("adds one behind the others, removes one, and says what is wrong with each", () => {
    const edit = show([WRITTEN, WRITTEN], [{ path: "extenders[1].weight", message: "must be positive" }]);
    expect(screen.getAllByText(/must be positive/)).toHaveLength(1);
    fireEvent.click(screen.getByRole("button", { name: "Add an extender" }));
    expect(edit.mock.lastCall?.[0]).toMatchObject({ type: "setField", path: ["extenders", 2] });
    fireEvent.click(screen.getByRole("button", { name: "Remove extender 2" }));
    expect(edit).toHaveBeenLastCalledWith({ type: "removeField", path: ["extenders", 1] });
  });

  it("changes nothing where the configuration may only be read", () => {
    show([WRITTEN], [], true);
    expect(screen.queryByRole("button", { name: "Add an extender" })).toBeNull();
    expect(screen.getByRole("group", { name: /Extender 1/ })).toHaveProperty("disabled", true);
  });
});
