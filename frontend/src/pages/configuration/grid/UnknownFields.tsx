import { useEditing } from "../draft/editing";
import classes from "../text/Yaml.module.css";
import { t } from "../texts";

/** Fields that kube-scheduler does not know: kept as written, and named, because it would refuse the file. */
export function UnknownFields() {
  const { examination, goTo } = useEditing();
  const fields = examination.unknown_fields;
  if (fields.length === 0) return null;
  return (
    <p className={classes.unknown}>
      {fields.length === 1 ? t("oneUnknownFieldIsKept") : t("unknownFieldsAreKept", { fields: fields.length })}{" "}
      {fields.map((field, index) => {
        const problem = examination.errors.find((error) => error.path === field.path && error.line === field.line);
        return (
          <span key={`${field.path} ${field.line ?? ""}`}>
            {index > 0 ? ", " : ""}
            {problem === undefined ? (
              <span className="mono">{field.path}</span>
            ) : (
              <button type="button" className="leads mono" onClick={() => goTo(problem)}>
                {field.path}
              </button>
            )}
            {field.line === null ? "" : t("lineLine4", { line: field.line })}
            {field.hint === "" ? "" : ` (${field.hint})`}
          </span>
        );
      })}
      {t("kubeSchedulerRefuses", { which: fields.length === 1 ? t("it") : t("them") })}
    </p>
  );
}
