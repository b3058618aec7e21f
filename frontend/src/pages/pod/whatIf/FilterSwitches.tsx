import { t } from "./texts";
import classes from "./WhatIf.module.css";

/** Which Filter plugins run. Nodes that one of them rejected have no scores, so nothing stored can rank them. */
export function FilterSwitches({
  filters,
  off,
  onChange,
}: {
  filters: readonly string[];
  off: readonly string[];
  onChange: (off: string[]) => void;
}) {
  return (
    <details className={classes.filters} open={off.length > 0}>
      <summary>{off.length === 0 ? t("filters") : t("filtersOff", { count: off.length })}</summary>
      <p>{t("filtersNeedARun")}</p>
      <ul>
        {filters.map((name) => (
          <li key={name}>
            <label>
              <input
                type="checkbox"
                checked={!off.includes(name)}
                onChange={() => onChange(off.includes(name) ? off.filter((one) => one !== name) : [...off, name])}
              />
              {name}
            </label>
          </li>
        ))}
      </ul>
    </details>
  );
}
