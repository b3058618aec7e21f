// @vitest-environment jsdom
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";

import { Sparkline } from "./Sparkline";

const LABEL = "cpu load of 60 minutes";
function line(values: readonly number[], target?: number) {
  render(<Sparkline values={values} label={LABEL} {...(target === undefined ? {} : { target })} />);
  const image = screen.getByRole("img", { name: LABEL });
  const points = image.querySelector("polyline")?.getAttribute("points") ?? "";
  return {
    points: points.split(" ").map((point) => point.split(",").map(Number)),
    target: image.querySelector("path")?.getAttribute("d") ?? null,
  };
}

describe("a line of values over time", () => {
  afterEach(cleanup);

  it("goes from the left end to the right one, oldest first, and higher where there is more", () => {
    const { points } = line([0, 50, 100]);
    expect(points.map(([x]) => x)).toEqual([0, 72, 144]);
    expect(points.map(([, y]) => y)).toEqual([41, 21, 1]);
  });

  it("stays within its picture, whatever was measured", () => {
    expect(line([-20, 250]).points.map(([, y]) => y)).toEqual([41, 1]);
  });

  it("is a point where there is one value, and empty without any", () => {
    expect(line([100]).points).toEqual([[0, 1]]);
    cleanup();
    render(<Sparkline values={[]} label={LABEL} />);
    expect(screen.getByRole("img").querySelector("polyline")?.getAttribute("points")).toBe("");
  });

  it("has a line at its target only where there is one", () => {
    expect(line([10, 20]).target).toBeNull();
    cleanup();
    expect(line([10, 20], 40).target).toBe("M0 25.0H144");
    cleanup();
    expect(line([10, 20], 0).target).toBe("M0 41.0H144");
  });
});
