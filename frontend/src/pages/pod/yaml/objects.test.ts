import { describe, expect, it } from "vitest";

import { kindName, objectLabel, objectOf, objectText } from "./objects";

describe("objects in an address", () => {
  it.each([
    [
      { kind: "PersistentVolumeClaim", namespace: "data", name: "db-0" },
      "PersistentVolumeClaim/data/db-0",
      "PersistentVolumeClaim data/db-0",
    ],
    [{ kind: "StorageClass", namespace: "", name: "fast" }, "StorageClass//fast", "StorageClass fast"],
    [{ kind: "Reservation", namespace: "", name: "training" }, "Reservation//training", "Reservation training"],
  ])("goes there and back: %o", (object, text, label) => {
    expect(objectText(object)).toBe(text);
    expect(objectOf(text)).toEqual(object);
    expect(objectLabel(object)).toBe(label);
  });

  it("names the API group only where the kind alone says too little", () => {
    const kinds = [
      { kind: "PodGroup", group: "scheduling.k8s.io" },
      { kind: "PodGroup", group: "scheduling.x-k8s.io" },
      { kind: "StorageClass", group: "storage.k8s.io" },
    ];
    expect(kinds.map((one) => kindName(one, kinds))).toEqual([
      "PodGroup.scheduling.k8s.io",
      "PodGroup.scheduling.x-k8s.io",
      "StorageClass",
    ]);
    expect(objectOf("PodGroup.scheduling.k8s.io/ml/train")).toEqual({
      kind: "PodGroup.scheduling.k8s.io",
      namespace: "ml",
      name: "train",
    });
  });

  it.each([undefined, "", "StorageClass", "StorageClass/fast", "/data/db-0", "Kind/data/", "a/b/c/d"])(
    "refuses %s",
    (text) => {
      expect(objectOf(text)).toBeNull();
    },
  );
});
