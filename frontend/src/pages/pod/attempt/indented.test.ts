import { expect, it } from "vitest";

import { indented } from "./indented";

it("puts JSON over lines and leaves its values alone", () => {
  const text = '{"NodeNames":["a","b"], "Failed":{},"Score":12345678901234567890,"said":"a, \\"b\\": [c]"}';
  expect(indented(text)).toBe(
    '{\n  "NodeNames": [\n    "a",\n    "b"\n  ],\n  "Failed": {},\n  "Score": 12345678901234567890,\n  "said": "a, \\"b\\": [c]"\n}',
  );
  expect(JSON.stringify(JSON.parse(indented('[{"a":[1,{"b":null}]},[]]')))).toBe('[{"a":[1,{"b":null}]},[]]');
});

it("takes what is cut off, and leaves what is no JSON", () => {
  expect(indented('{"Pod":{"metadata":{"na')).toBe('{\n  "Pod": {\n    "metadata": {\n      "na');
  expect(indented("<html>, {")).toBe("<html>, {");
  expect(indented("")).toBe("");
});
