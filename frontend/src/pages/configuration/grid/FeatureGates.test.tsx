// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import axe from "axe-core";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { Edit, Examination, FeatureGate } from "@/api/configurationTypes";

import { type Editing, EditingContext } from "../draft/editing";
import { FeatureGates } from "./FeatureGates";

afterEach(cleanup);

const gate = (name: string, more: Partial<FeatureGate> = {}): FeatureGate => ({
  name,
  stage: "alpha",
  default: false,
  enabled: false,
  written: false,
  description: `${name} does something.`,
  depends_on: [],
  ...more,
});

function show(gates: FeatureGate[], more: Partial<Examination> = {}, readOnly = false) {
  const edit = vi.fn<(...edits: Edit[]) => void>();
  const examination = { feature_gates: gates, format: "yaml", errors: [], ...more } as unknown as Examination;
  const editing = { examination, readOnly, edit } as unknown as Editing;
  const { container } = render(
    <main>
      <EditingContext value={editing}>
        <FeatureGates />
      </EditingContext>
    </main>,
  );
  return { edit, container };
}

describe("the section of feature gates", () => {
  it("says of each its stage, its default and what it does, and has no accessibility problems", async () => {
    const { container } = show([
      gate("Gang", { depends_on: ["Workload"] }),
      gate("Workload", { stage: "beta", default: true, enabled: true }),
    ]);
    expect(screen.getByRole("region", { name: "Feature gates" })).toBeDefined();
    expect(screen.getByRole("checkbox", { name: "Gang" })).toHaveProperty("checked", false);
    expect(screen.getByText("Gang does something. Needs Workload.")).toBeDefined();
    expect(screen.getByText("on by default")).toBeDefined();
    const found = await axe.run(container, { rules: { "color-contrast": { enabled: false } } });
    expect(found.violations.map((one) => one.id)).toEqual([]);
  });

  it("switches a gate together with what it depends on", () => {
    const { edit } = show([gate("Gang", { depends_on: ["Workload"] }), gate("Workload")]);
    fireEvent.click(screen.getByRole("checkbox", { name: "Gang" }));
    expect(edit).toHaveBeenCalledWith(
      { type: "setFeatureGate", name: "Gang", enabled: true },
      { type: "setFeatureGate", name: "Workload", enabled: true },
    );
  });

  it("shows why gates cannot be set, and switches nothing in a JSON text or one that is only read", () => {
    const error = {
      path: "--feature-gates",
      message: "unrecognized feature gate: Nope",
      text: "unrecognized feature gate: Nope",
    };
    show([gate("Gang")], { errors: [error] as unknown as Examination["errors"] });
    expect(screen.getByRole("alert").textContent).toBe("unrecognized feature gate: Nope");
    cleanup();
    show([gate("Gang")], { format: "json" });
    expect(screen.getByRole("checkbox")).toHaveProperty("disabled", true);
    cleanup();
    show([gate("Gang")], {}, true);
    expect(screen.getByRole("checkbox")).toHaveProperty("disabled", true);
  });

  it("is left out when nothing can be switched", () => {
    const { container } = show([]);
    expect(container.querySelector("section")).toBeNull();
  });
});
