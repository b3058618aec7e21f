import { describe, expect, it } from "vitest";

import { objectLabel, objectOf, objectText } from "./objects";

describe("objects in an address", () => {
  it.each([
    [{ kind: "PersistentVolumeClaim", namespace: "data", name: "db-0" }, "PersistentVolumeClaim/data/db-0", "PersistentVolumeClaim data/db-0"],
    [{ kind: "StorageClass", namespace: "", name: "fast" }, "StorageClass//fast", "StorageClass fast"],
  ])("goes there and back: %o", (object, text, label) => {
    expect(objectText(object)).toBe(text);
    expect(objectOf(text)).toEqual(object);
    expect(objectLabel(object)).toBe(label);
  });

  it.each([undefined, "", "StorageClass", "StorageClass/fast", "/data/db-0", "Kind/data/", "a/b/c/d"])("refuses %s", (text) => {
    expect(objectOf(text)).toBeNull();
  });
});
