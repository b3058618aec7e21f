/** Nothing is selected: the profile itself, what is wrong, and how it differs from the default one. */
import { useState } from "react";

import { Icon } from "@/components/Icon";
import { Panel } from "@/components/Panel";

import { useEditing } from "./editing";
import classes from "./Panels.module.css";
import { shortMessage } from "./words";

export function ProfilePanel() {
  const { examination, shown, profile, goTo, changes, select, readOnly } = useEditing();
  const named = changes.filter((change) => change.profile === null || change.profile === shown.scheduler_name);
  const differing = shown.rows.filter((row) => row.changed || row.off || row.origin === "added");
  return (
    <Panel className={classes.panel ?? ""} aria-labelledby="profile-name">
      <header className={classes.head}><h2 id="profile-name">{shown.scheduler_name === "" ? "Profile without a name" : shown.scheduler_name}</h2></header>
      <p className={classes.says}>Pods whose spec.schedulerName is this are scheduled by this profile.{readOnly ? "" : " Choose a plugin for its weight and arguments, an extension point for its order."}</p>
      {examination.errors.length === 0 ? null : (
        <>
          <h3>Errors <span className="faint">nothing is saved while there are any</span></h3>
          <ul className={classes.problems}>
            {examination.errors.map((error) => (
              <li key={`${error.path} ${error.text}`}>
                <button type="button" onClick={() => goTo(error)} title={error.text}>
                  <Icon name="warning" size={13} />
                  <span>{error.path === "" ? null : <span className="mono">{error.path}</span>}{shortMessage(error)}{error.hint === "" ? null : <em>{error.hint}</em>}</span>
                  {error.line === null ? null : <span className="faint num">line {error.line}</span>}
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
      {examination.warnings.length === 0 ? null : (
        <>
          <h3>Warnings</h3>
          <ul className={classes.plain}>{examination.warnings.map((warning) => <li key={warning.text}>{warning.message}</li>)}</ul>
        </>
      )}
      <ProfileFields key={profile} />
      {named.length === 0 ? null : (
        <>
          <h3>Changes <span className="faint">against the saved version</span></h3>
          <ul className={classes.plain}>
            {named.map((change) => <li key={`${change.profile ?? ""} ${change.plugin ?? ""}`}><b>{change.plugin ?? change.profile ?? "All profiles"}</b> {change.what.join(", ")}</li>)}
          </ul>
        </>
      )}
      <h3>Against the default profile</h3>
      {differing.length === 0 ? <p className={classes.note}>The same plugins, weights and arguments as kube-scheduler without a file.</p> : (
        <ul className={classes.plain}>
          {differing.map((row) => (
            <li key={row.plugin}>
              <button type="button" className="leads" onClick={() => select(row.plugin)}>{row.plugin}</button>{" "}
              {row.off ? "is off" : row.origin === "added" ? "is added" : row.args_changed ? "has other arguments" : "runs elsewhere, in another order or with another weight"}
            </li>
          ))}
        </ul>
      )}
    </Panel>
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
  const commitName = () => {
    const wanted = name.trim();
    if (wanted === "" || wanted === shown.scheduler_name) return;
    edit({ type: "setField", path: ["profiles", profile, "schedulerName"], value: wanted });
    showProfile(wanted);
  };
  const commitShare = () => {
    const path = ["profiles", profile, "percentageOfNodesToScore"];
    if (share.trim() === "") edit({ type: "removeField", path });
    else edit({ type: "setField", path, value: Number.isNaN(Number(share)) ? share : Number(share) });
  };
  return (
    <>
      <div className={classes.field}>
        <label htmlFor="scheduler-name">schedulerName</label>
        <input id="scheduler-name" className="mono" value={name} readOnly={readOnly} spellCheck={false} onChange={(event) => setName(event.currentTarget.value)}
          onBlur={commitName} onKeyDown={(event) => { if (event.key === "Enter") commitName(); }} />
      </div>
      <div className={classes.field}>
        <label htmlFor="nodes-to-score">percentageOfNodesToScore</label>
        <input id="nodes-to-score" className="num" inputMode="numeric" value={share} readOnly={readOnly} placeholder={`as for all profiles: ${effective.globals.percentage_of_nodes_to_score === 0 ? "adaptive" : `${effective.globals.percentage_of_nodes_to_score} %`}`}
          aria-invalid={error !== undefined} aria-describedby="nodes-to-score-help" onChange={(event) => setShare(event.currentTarget.value)}
          onBlur={commitShare} onKeyDown={(event) => { if (event.key === "Enter") commitShare(); }} />
        <p id="nodes-to-score-help" className={error === undefined ? classes.help : classes.error}>
          {error === undefined ? "How much of a large cluster is searched before scoring. 0 is adaptive." : shortMessage(error)}
        </p>
      </div>
    </>
  );
}
