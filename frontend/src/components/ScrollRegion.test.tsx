// @vitest-environment jsdom
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";

import { ScrollRegion } from "./ScrollRegion";

describe("what scrolls", () => {
  afterEach(cleanup);

  it("is a region that says what it is and takes the focus", () => {
    render(<ScrollRegion label="Rows">…</ScrollRegion>);
    const region = screen.getByRole("region", { name: "Rows" });
    region.focus();
    expect(document.activeElement).toBe(region);
  });

  it("stays a list where it is one", () => {
    const ref = { current: null as HTMLOListElement | null };
    render(
      <ScrollRegion as="ol" label="Points" ref={ref}>
        <li>Filter</li>
      </ScrollRegion>,
    );
    const list = screen.getByRole("list", { name: "Points" });
    expect(list.tagName).toBe("OL");
    expect(list).toBe(ref.current);
    expect(list.tabIndex).toBe(0);
  });
});
