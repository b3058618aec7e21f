/** rjsf's templates and widgets in our look. Labels are the paths a file has; errors and help are tied to the field. */
import type {
  ArrayFieldItemTemplateProps,
  ArrayFieldTemplateProps,
  BaseInputTemplateProps,
  FieldTemplateProps,
  ObjectFieldTemplateProps,
  RegistryWidgetsType,
  TemplatesType,
  WidgetProps,
} from "@rjsf/utils";
import { useState } from "react";

import { Button, IconButton } from "@/components/Button";
import { Segmented } from "@/components/Segmented";
import { sentences } from "@/format/lists";

import { t } from "../texts";
import { describedBy, Errors, labelOf } from "./argParts";
import classes from "./ArgsForm.module.css";

export interface ArgsContext {
  /** The arguments of the saved version. */
  saved: Record<string, unknown> | undefined;
}

const LONG_CHOICES: Record<string, string> = { RequestedToCapacityRatio: "Ratio" };
const SEGMENTS_TO = 3;

function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (at, part) => (typeof at === "object" && at !== null ? (at as Record<string, unknown>)[String(part)] : undefined),
    value,
  );
}

function FieldTemplate({
  id,
  fieldPathId,
  schema,
  children,
  rawErrors,
  rawDescription,
  formData,
  registry,
  uiSchema,
}: FieldTemplateProps) {
  const { path } = fieldPathId;
  if (path.length === 0) return children;
  const inList = typeof path.at(-1) === "number";
  const nested = schema.type === "object" && uiSchema?.["ui:field"] === undefined;
  if (nested || inList)
    return (
      <>
        {children}
        <Errors id={id} messages={rawErrors} />
      </>
    );
  const label = labelOf(path);
  const saved = valueAt((registry.formContext as ArgsContext).saved, path);
  const changed =
    (typeof saved === "string" || typeof saved === "number" || typeof saved === "boolean") && saved !== formData;
  const help = (
    <p className={classes.help} id={`${id}__help`}>
      {sentences([
        rawDescription,
        changed ? t("savedValue", { which: saved === "" ? t("empty") : String(saved) }) : undefined,
      ])}
    </p>
  );
  const single = schema.type !== "array" && schema.type !== "object" && schema.enum === undefined;
  return (
    <div className={classes.field} {...(single ? {} : { role: "group", "aria-labelledby": `${id}__label` })}>
      {single && schema.type !== "boolean" ? (
        <label htmlFor={id}>{label}</label>
      ) : (
        <span className={classes.label} id={`${id}__label`}>
          {schema.type === "boolean" ? "" : label}
        </span>
      )}
      {schema.type === "boolean" ? (
        <label className={classes.check} htmlFor={id}>
          {children}
          {label}
        </label>
      ) : (
        children
      )}
      {uiSchema?.["ui:field"] === "Rows" ? null : <Errors id={id} messages={rawErrors} />}
      {help}
    </div>
  );
}

/** Its fields one under the other; an optional part that is not given stays folded until somebody wants it. */
function ObjectFieldTemplate({
  properties,
  fieldPathId,
  formData,
  errorSchema,
  schema,
  readonly,
}: ObjectFieldTemplateProps) {
  const [opened, setOpened] = useState(false);
  const { path, $id: id } = fieldPathId;
  const given = typeof formData === "object" && formData !== null && Object.keys(formData as object).length > 0;
  const optional = path.length > 0 && typeof path.at(-1) === "string";
  if (optional && !given && !opened && Object.keys(errorSchema ?? {}).length === 0) {
    return (
      <div className={classes.field}>
        <span className={classes.label}>{labelOf(path)}</span>
        {readonly === true ? (
          <span className="faint">{t("notGiven")}</span>
        ) : (
          <Button
            kind="ghost"
            size="sm"
            icon="plus"
            className={classes.addButton ?? ""}
            aria-describedby={`${id}__help`}
            onClick={() => setOpened(true)}
          >
            {t("giveLabelOf", { labelOf: labelOf(path.slice(-1)) })}
          </Button>
        )}
        <p className={classes.help} id={`${id}__help`}>
          {schema.description}
        </p>
      </div>
    );
  }
  return (
    <>
      {properties.map((property) => (
        <div key={property.name} className={property.hidden ? classes.hidden : ""}>
          {property.content}
        </div>
      ))}
    </>
  );
}

/** Lists of what does not fit a table row: cards. */
function ArrayFieldTemplate({ items, canAdd, onAddClick, readonly, fieldPathId }: ArrayFieldTemplateProps) {
  return (
    <div className={classes.cards}>
      {items}
      {canAdd === true && readonly !== true ? (
        <Button kind="ghost" size="sm" icon="plus" className={classes.addButton ?? ""} onClick={onAddClick}>
          {t("addAnEntryTo", { field: labelOf(fieldPathId.path) })}
        </Button>
      ) : null}
    </div>
  );
}

function ArrayFieldItemTemplate({ children, buttonsProps, index, readonly }: ArrayFieldItemTemplateProps) {
  return (
    <div className={classes.card}>
      {readonly === true ? null : (
        <IconButton
          className={classes.cardRemove ?? ""}
          icon="trash"
          iconSize={14}
          label={t("removeNumber", { index: index + 1 })}
          onClick={buttonsProps.onRemoveItem}
        />
      )}
      {children}
    </div>
  );
}

function BaseInputTemplate({ id, value, onChange, schema, readonly, disabled, rawErrors }: BaseInputTemplateProps) {
  const number = schema.type === "integer" || schema.type === "number";
  const bad = (rawErrors?.length ?? 0) > 0;
  return (
    <input
      id={id}
      className={number ? "num" : "mono"}
      value={value === undefined || value === null ? "" : String(value)}
      inputMode={number ? "numeric" : "text"}
      readOnly={readonly}
      disabled={disabled}
      aria-invalid={bad}
      aria-describedby={describedBy(id, bad)}
      spellCheck={false}
      autoComplete="off"
      placeholder={t("none")}
      onChange={(event) => onChange(event.currentTarget.value === "" ? undefined : event.currentTarget.value)}
    />
  );
}

function SelectWidget({ id, value, onChange, options, readonly, disabled, label, rawErrors }: WidgetProps) {
  const choices = (options.enumOptions ?? []).map((option) => String(option.value));
  const off = readonly === true || disabled === true;
  if (choices.length <= SEGMENTS_TO) {
    return (
      <Segmented
        className={classes.segments ?? ""}
        label={label}
        value={String(value ?? "")}
        disabled={off}
        onChange={onChange}
        options={choices.map((choice) => ({ value: choice, label: LONG_CHOICES[choice] ?? choice, title: choice }))}
      />
    );
  }
  return (
    <select
      id={id}
      value={String(value ?? "")}
      disabled={off}
      aria-labelledby={`${id}__label`}
      aria-describedby={describedBy(id, (rawErrors?.length ?? 0) > 0)}
      onChange={(event) => onChange(event.currentTarget.value === "" ? undefined : event.currentTarget.value)}
    >
      <option value="">{t("none")}</option>
      {choices.map((choice) => (
        <option key={choice} value={choice}>
          {choice}
        </option>
      ))}
    </select>
  );
}

function CheckboxWidget({ id, value, onChange, readonly, disabled, rawErrors }: WidgetProps) {
  return (
    <input
      id={id}
      type="checkbox"
      checked={value === true}
      disabled={readonly === true || disabled === true}
      aria-describedby={describedBy(id, (rawErrors?.length ?? 0) > 0)}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  );
}

export const argTemplates: Partial<TemplatesType> = {
  FieldTemplate,
  ObjectFieldTemplate,
  ArrayFieldTemplate,
  ArrayFieldItemTemplate,
  BaseInputTemplate,
};
export const argWidgets: RegistryWidgetsType = { SelectWidget, CheckboxWidget };
