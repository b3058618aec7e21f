import type { RJSFSchema } from "@rjsf/utils";
import { describe, expect, it } from "vitest";

import { schemaValidator } from "./schemaValidator";

const ROOT: RJSFSchema = { $defs: { Weight: { type: "integer", minimum: 1 } } };

describe("which alternative a value is one of", () => {
  it.each([
    [{ type: "null" }, null, true],
    [{ type: "integer" }, null, false],
    [{ type: "integer" }, 3, true],
    [{ enum: ["a", "b"] }, "c", false],
    [{ $ref: "#/$defs/Weight" }, 2, true],
    [{ $ref: "#/$defs/Weight" }, 0, false],
    [{ $ref: "#/$defs/Nothing" }, 0, false],
  ] as [RJSFSchema, unknown, boolean][])("%j, %j: %s", (schema, value, valid) => {
    expect(schemaValidator.isValid(schema, value, ROOT)).toBe(valid);
  });

  it("needs no code made from text", () => {
    const forbidden = Function;
    globalThis.Function = (() => {
      throw new EvalError("forbidden");
    }) as unknown as FunctionConstructor;
    try {
      expect(schemaValidator.isValid({ type: "array", items: { type: "string" } }, ["a"], ROOT)).toBe(true);
    } finally {
      globalThis.Function = forbidden;
    }
  });
});
