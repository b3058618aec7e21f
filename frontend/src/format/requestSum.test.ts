import { expect, it } from "vitest";

import { quantity, requestSum } from "./requestSum";

it("reads quantities as the API writes them", () => {
  expect(["250m", "6", "24Gi", "1e3", "512Mi", "2k"].map(quantity)).toEqual([
    0.25,
    6,
    24 * 2 ** 30,
    1000,
    512 * 2 ** 20,
    2000,
  ]);
  expect(quantity("lots")).toBeNaN();
  expect(quantity("3Xi")).toBeNaN();
});

it("adds up what pods ask for, in the order it is first asked", () => {
  const serve = { requests: { cpu: "6", memory: "24Gi", "nvidia.com/gpu": "1" } };
  expect(requestSum([serve, serve, serve])).toBe("18 cpu · 72 Gi · 3 GPU");
  expect(requestSum([{ requests: { cpu: "250m", memory: "2Gi" } }, { requests: { cpu: "1" } }], ", ")).toBe(
    "1.25 cpu, 2 Gi",
  );
  expect(requestSum([{ requests: { cpu: "0" } }, {}])).toBe("");
});
