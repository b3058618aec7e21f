/** Configurations under the names their pages use: aliases of the generated schema. */
import type { components } from "./schema";

type Schemas = components["schemas"];

export type ConfigurationSummary = Schemas["Configuration"];
export type ConfigurationChange = Schemas["PatchedConfigurationChangeRequest"];
export type Version = Schemas["Version"];
export type VersionDetail = Schemas["VersionDetail"];
export type CheckRequest = Schemas["CheckRequest"];
export type CheckResult = Schemas["CheckResult"];
export type Conversion = Schemas["Conversion"];
export type Finding = Schemas["Finding"];
export type Comparison = Schemas["Comparison"];
export type Meanwhile = Schemas["Meanwhile"];
export type EffectiveChange = Schemas["EffectiveChange"];
export type Diff = Schemas["Diff"];
export type DiffLine = Schemas["DiffLine"];
export type Problem = Schemas["ConfigurationProblem"];
export type UnknownField = Schemas["UnknownField"];
export type Effective = Schemas["Effective"];
export type EffectiveProfile = Schemas["EffectiveProfile"];
export type PluginRow = Schemas["PluginRow"];
export type PluginCell = Schemas["PluginCell"];
export type ConfigurationForm = Schemas["ConfigurationForm"];
export type FormArgs = Schemas["FormArgs"];
export type PluginDescription = Schemas["Plugin"];
export type FeatureGate = Schemas["FeatureGate"];
export type Preset = Schemas["Preset"];
export type TextFormat = Schemas["TextFormatEnum"];

/** One change of a form, as framework/configuration/edits.py defines it. */
export type Edit = NonNullable<CheckRequest["edits"]>[number];
export type PathPart = string | number;

/** What can be told of a text: a saved version's or a draft's. */
export type Examination = Pick<
  CheckResult,
  | "format"
  | "errors"
  | "warnings"
  | "unknown_fields"
  | "effective"
  | "form"
  | "feature_gates"
  | "runnable"
  | "why"
  | "older"
>;
