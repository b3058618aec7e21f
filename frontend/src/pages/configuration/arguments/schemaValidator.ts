/**
 * What the form library asks a validator: which alternative of a schema (`anyOf`) a value is one of. The library's own
 * validator compiles schemas to code, which the page's Content-Security-Policy forbids; this one interprets them.
 */
import { type Schema, Validator } from "@cfworker/json-schema";
import type { RJSFSchema, ValidatorType } from "@rjsf/utils";

export const schemaValidator: ValidatorType = {
  isValid: (schema: RJSFSchema, value: unknown, root: RJSFSchema): boolean => isValid(schema, value, root),
  // The server judges; the form shows what it says (`extraErrors`).
  validateFormData: () => ({ errors: [], errorSchema: {} }),
  rawValidation: () => ({ errors: [] }),
};

function isValid(schema: RJSFSchema, value: unknown, root: RJSFSchema): boolean {
  // Definitions that a `$ref` in it names stand in the whole schema.
  const definitions = { definitions: root.definitions, $defs: root.$defs };
  try {
    return new Validator({ ...definitions, ...schema } as Schema, "2020-12").validate(value ?? null).valid;
  } catch {
    return false;
  }
}
