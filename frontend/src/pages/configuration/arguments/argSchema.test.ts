import { describe, expect, it } from "vitest";

import type { Problem } from "@/api/configurationTypes";

import { sortErrors, uiSchemaOf, withoutDefaults } from "./argSchema";

const resource = { type: "object", properties: { name: { type: "string" }, weight: { type: "integer", default: 1 } } };
const schema = {
  type: "object",
  $schema: "https://json-schema.org/draft/2020-12/schema",
  properties: {
    namespaces: { type: "array", items: { type: "string" }, default: [] },
    minimumRequests: { type: "object", additionalProperties: { type: "string" } },
    scoringStrategy: {
      type: "object",
      properties: { type: { enum: ["A", "default"], default: "A" }, resources: { type: "array", items: resource } },
    },
    constraints: {
      type: "array",
      items: {
        type: "object",
        properties: {
          selector: {
            type: "object",
            properties: { matchLabels: { type: "object", additionalProperties: { type: "string" } } },
          },
        },
      },
    },
  },
};

describe("which field shows a part of the arguments", () => {
  const ui = uiSchemaOf(schema);
  it("takes one line for words, pairs for maps, a table for small objects", () => {
    expect(ui.namespaces).toEqual({ "ui:field": "Words" });
    expect(ui.minimumRequests).toEqual({ "ui:field": "Pairs" });
    expect(ui.scoringStrategy).toEqual({ type: {}, resources: { "ui:field": "Rows" } });
  });
  it("goes into the items of other lists", () => {
    expect(ui.constraints).toEqual({ items: { selector: { matchLabels: { "ui:field": "Pairs" } } } });
  });
  it("gives the form no defaults to write by itself, and leaves choices alone", () => {
    const bare = withoutDefaults(schema) as typeof schema;
    expect(JSON.stringify(bare)).not.toContain('"default":');
    expect(bare.properties.scoringStrategy.properties.type.enum).toEqual(["A", "default"]);
    expect(bare.$schema).toBeUndefined();
  });
});

describe("errors", () => {
  const problem = (field: Problem["field"]) => ({ field, message: "Invalid value: 120: too much" }) as Problem;
  it("stand at their field", () => {
    const { known, others } = sortErrors(
      [problem(["scoringStrategy", "resources", 0, "weight"]), problem(["minimumRequests", "cpu"])],
      schema,
    );
    expect(known).toEqual({
      scoringStrategy: { resources: { 0: { weight: { __errors: ["too much"] } } } },
      minimumRequests: { cpu: { __errors: ["too much"] } },
    });
    expect(others).toEqual([]);
  });
  it("of places the form does not have stand above it", () => {
    const wrong = problem(["scoringStrateggy"]);
    expect(sortErrors([wrong], schema)).toEqual({ known: {}, others: [wrong] });
    expect(sortErrors([problem(["namespaces", "x"])], schema).others).toHaveLength(1);
  });
});
