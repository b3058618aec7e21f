/** What one configuration changes against another, in words. */
import type { EffectiveChange } from "@/api/configurationTypes";
import { clauses } from "@/format/lists";

import { t } from "../texts";
import classes from "./Changes.module.css";

export function Changes({ changes, several }: { changes: readonly EffectiveChange[]; several: boolean }) {
  if (changes.length === 0) return <p className={classes.nothing}>{t("nothingTakesAnotherEffectOnly")}</p>;
  return (
    <ul className={classes.changes}>
      {changes.map((change) => (
        <li key={`${change.profile ?? ""} ${change.plugin ?? ""}`}>
          <b>{change.plugin ?? change.profile ?? t("allProfiles")}</b>
          {several && change.plugin !== null && change.profile !== null ? (
            <span className="faint"> {t("inProfile", { profile: change.profile })}</span>
          ) : null}{" "}
          {clauses(change.what)}
        </li>
      ))}
    </ul>
  );
}
