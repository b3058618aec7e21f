/** Nothing is selected: the profile itself, what is wrong, and how it differs from the default one. */
import { useState } from "react";

import type { Problem } from "@/api/configurationTypes";
import { Icon } from "@/components/Icon";
import { Panel } from "@/components/Panel";
import { clauses } from "@/format/lists";

import { useEditing } from "../draft/editing";
import { t } from "../texts";
import { shortMessage } from "../words";
import classes from "./Panels.module.css";

export function ProfilePanel() {
  const { examination, shown, profile, changes, select, readOnly } = useEditing();
  const named = changes.filter((change) => change.profile === null || change.profile === shown.scheduler_name);
  const differing = shown.rows.filter((row) => row.changed || row.off || row.origin === "added");
  return (
    <Panel className={classes.panel ?? ""} aria-labelledby="profile-name">
      <header className={classes.head}>
        <h2 id="profile-name">{shown.scheduler_name === "" ? t("profileWithoutAName") : shown.scheduler_name}</h2>
      </header>
      <p className={classes.says}>{readOnly ? t("profileTakesPods") : t("profileTakesPodsAndIsEdited")}</p>
      {examination.errors.length === 0 ? null : (
        <>
          <h3>
            {t("errors")} <span className="faint">{t("nothingIsSavedWhileThere")}</span>
          </h3>
          <Problems of={examination.errors} />
        </>
      )}
      {examination.warnings.length === 0 ? null : (
        <>
          <h3>{t("warnings")}</h3>
          <Problems of={examination.warnings} mild />
        </>
      )}
      <ProfileFields key={profile} />
      {named.length === 0 ? null : (
        <>
          <h3>
            {t("changes")} <span className="faint">{t("againstTheSavedVersion")}</span>
          </h3>
          <ul className={classes.plain}>
            {named.map((change) => (
              <li key={`${change.profile ?? ""} ${change.plugin ?? ""}`}>
                <b>{change.plugin ?? change.profile ?? t("allProfiles")}</b> {clauses(change.what)}
              </li>
            ))}
          </ul>
        </>
      )}
      <h3>{t("againstTheDefaultProfile")}</h3>
      {differing.length === 0 ? (
        <p className={classes.note}>{t("theSamePluginsWeightsAnd")}</p>
      ) : (
        <ul className={classes.plain}>
          {differing.map((row) => (
            <li key={row.plugin}>
              <button type="button" className="leads" onClick={() => select(row.plugin)}>
                {row.plugin}
              </button>{" "}
              {row.off
                ? t("isOff")
                : row.origin === "added"
                  ? t("isAdded")
                  : row.args_changed
                    ? t("hasOtherArguments")
                    : t("runsElsewhereInAnotherOrder")}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

/** Each leads to its place. */
function Problems({ of, mild = false }: { of: readonly Problem[]; mild?: boolean }) {
  const { goTo } = useEditing();
  return (
    <ul className={classes.problems} data-mild={mild || undefined}>
      {of.map((one) => (
        <li key={`${one.path} ${one.text}`}>
          <button type="button" onClick={() => goTo(one)} title={one.text}>
            <Icon name="warning" size={13} />
            <span>
              {one.path === "" ? null : <span className="mono">{one.path}</span>}
              {shortMessage(one)}
              {one.hint === "" ? null : <em>{one.hint}</em>}
            </span>
            {one.line === null ? null : <span className="faint num">{t("problemLine", { line: one.line })}</span>}
          </button>
        </li>
      ))}
    </ul>
  );
}

/** The profile's name and its own share of nodes; left empty they are taken from above. */
function ProfileFields() {
  const { examination, effective, profile, shown, readOnly, edit, showProfile } = useEditing();
  const form = examination.form?.profiles[profile];
  const [name, setName] = useState(shown.scheduler_name);
  const [share, setShare] = useState(String(form?.percentage_of_nodes_to_score ?? ""));
  const own = `profiles[${profile}].percentageOfNodesToScore`;
  const error = examination.errors.find((one) => one.path === own);
  const ofAll = effective.globals.percentage_of_nodes_to_score;
  const wanted = name.trim();
  const others = effective.profiles.filter((_, index) => index !== profile).map((one) => one.scheduler_name);
  const badName =
    wanted === ""
      ? t("aProfileNeedsAName")
      : others.includes(wanted)
        ? t("anotherProfileIsCalled", { name: wanted })
        : null;
  const commitName = () => {
    if (badName !== null || wanted === shown.scheduler_name) return;
    edit({ type: "setField", path: ["profiles", profile, "schedulerName"], value: wanted });
    showProfile(wanted);
  };
  const typeShare = (typed: string) => {
    setShare(typed);
    const path = ["profiles", profile, "percentageOfNodesToScore"];
    const value = typed.trim();
    if (value === "") edit({ type: "removeField", path });
    else edit({ type: "setField", path, value: Number.isNaN(Number(value)) ? value : Number(value) });
  };
  return (
    <>
      <div className={classes.field}>
        <label htmlFor="scheduler-name">schedulerName</label>
        <input
          id="scheduler-name"
          className="mono"
          value={name}
          readOnly={readOnly}
          spellCheck={false}
          aria-invalid={badName !== null}
          aria-describedby="scheduler-name-error"
          onChange={(event) => setName(event.currentTarget.value)}
          onBlur={commitName}
          onKeyDown={(event) => {
            if (event.key === "Enter") commitName();
          }}
        />
        <p id="scheduler-name-error" className={classes.error} role="status">
          {badName === null ? null : (
            <>
              <Icon name="warning" size={14} />
              {badName}
            </>
          )}
        </p>
      </div>
      <div className={classes.field}>
        <label htmlFor="nodes-to-score">percentageOfNodesToScore</label>
        <input
          id="nodes-to-score"
          className="num"
          inputMode="numeric"
          value={share}
          readOnly={readOnly}
          placeholder={ofAll === 0 ? t("shareOfAllProfilesAdaptive") : t("shareOfAllProfiles", { share: ofAll })}
          aria-invalid={error !== undefined}
          aria-describedby="nodes-to-score-help"
          onChange={(event) => typeShare(event.currentTarget.value)}
        />
        <p id="nodes-to-score-help" className={error === undefined ? classes.help : classes.error}>
          {error === undefined ? t("howMuchOfALarge") : shortMessage(error)}
        </p>
      </div>
    </>
  );
}
