import { describe, expect, it, vi } from "vitest";

import { KeyRegistry } from "./registry";

const press = (key: string, more: { ctrlKey?: boolean; altKey?: boolean } = {}) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  ...more,
});
const binding = (keys: string, everywhere = false) => ({ keys, label: keys, group: "g", run: vi.fn(), everywhere });

describe("the keyboard", () => {
  it("finds a key, and the last page that registered it wins until it leaves", () => {
    const keys = new KeyRegistry();
    const shell = binding("Escape");
    const page = binding("Escape");
    keys.register([shell]);
    const leave = keys.register([page]);
    expect(keys.resolve(press("Escape"), false, 0)).toBe(page);
    leave();
    expect(keys.resolve(press("Escape"), false, 0)).toBe(shell);
  });

  it("gives what floats over a page its keys first, also when the page registers later", () => {
    const keys = new KeyRegistry();
    const preview = { ...binding("Escape"), floats: true };
    const page = binding("Escape");
    const close = keys.register([preview]);
    keys.register([page]);
    expect(keys.resolve(press("Escape"), false, 0)).toBe(preview);
    expect(keys.getBindings()).toEqual([preview]);
    close();
    expect(keys.resolve(press("Escape"), false, 0)).toBe(page);
  });

  it("reads a chord within a second, and forgets it after", () => {
    const keys = new KeyRegistry();
    const home = binding("g h");
    keys.register([home, binding("h")]);
    expect(keys.resolve(press("g"), false, 0)).toBeNull();
    expect(keys.resolve(press("h"), false, 900)).toBe(home);
    keys.resolve(press("g"), false, 2000);
    expect(keys.resolve(press("h"), false, 3500)?.keys).toBe("h");
  });

  it("is off in text fields, except for what works everywhere", () => {
    const keys = new KeyRegistry();
    keys.register([binding("a"), binding("Ctrl+k", true)]);
    expect(keys.resolve(press("a"), true, 0)).toBeNull();
    expect(keys.resolve(press("K", { ctrlKey: true }), true, 0)?.keys).toBe("Ctrl+k");
  });

  it("can switch single keys off and keeps the others", () => {
    const keys = new KeyRegistry();
    keys.register([binding("a"), binding("Escape"), binding("g h")]);
    keys.setSingleKeys(false);
    expect(keys.resolve(press("a"), false, 0)).toBeNull();
    expect(keys.resolve(press("Escape"), false, 0)?.keys).toBe("Escape");
    keys.resolve(press("g"), false, 0);
    expect(keys.resolve(press("h"), false, 1)).toBeNull();
  });

  it("calls the space bar by its name, and does not take Ctrl+a for a", () => {
    const keys = new KeyRegistry();
    keys.register([binding("space"), binding("a")]);
    expect(keys.resolve(press(" "), false, 0)?.keys).toBe("space");
    expect(keys.resolve(press("a", { ctrlKey: true }), false, 0)).toBeNull();
  });

  it("lists a key once, with its last meaning", () => {
    const keys = new KeyRegistry();
    keys.register([{ ...binding("j"), label: "first" }]);
    keys.register([{ ...binding("j"), label: "second" }]);
    expect(keys.getBindings().map((one) => one.label)).toEqual(["second"]);
  });
});
