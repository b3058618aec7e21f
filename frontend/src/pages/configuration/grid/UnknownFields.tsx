import { Fragment } from "react";

import type { Examination } from "@/api/configurationTypes";

import { useEditing } from "../draft/editing";
import classes from "../text/Yaml.module.css";
import { rich } from "../texts";

/** Fields that kube-scheduler does not know: kept as written, and named, because it would refuse the file. */
export function UnknownFields() {
  const { examination } = useEditing();
  const unknown = examination.unknown_fields;
  if (unknown.length === 0) return null;
  const fields = (
    <>
      {unknown.map((field, index) => (
        <Fragment key={`${field.path} ${field.line ?? ""}`}>
          {index > 0 ? ", " : ""}
          <UnknownField field={field} />
        </Fragment>
      ))}
    </>
  );
  return (
    <p className={classes.unknown}>
      {unknown.length === 1
        ? rich("unknownFieldIsRefused", { fields })
        : rich("unknownFieldsAreRefused", { number: unknown.length, fields })}
    </p>
  );
}

function UnknownField({ field: { path, line, hint } }: { field: Examination["unknown_fields"][number] }) {
  const { examination, goTo } = useEditing();
  const problem = examination.errors.find((error) => error.path === path && error.line === line);
  const field =
    problem === undefined ? (
      <span className="mono">{path}</span>
    ) : (
      <button type="button" className="leads mono" onClick={() => goTo(problem)}>
        {path}
      </button>
    );
  return (
    <span>
      {line === null ? field : rich("fieldAtLine", { field, line })}
      {hint === "" ? "" : ` (${hint})`}
    </span>
  );
}
