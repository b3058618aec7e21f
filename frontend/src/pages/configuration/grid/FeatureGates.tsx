/** The switches of kube-scheduler that change something here. The file keeps them in a comment, as the flag that sets them. */
import { Chip } from "@/components/Chip";
import { Icon } from "@/components/Icon";
import { Panel, PanelHeader } from "@/components/Panel";
import { both, sentences } from "@/format/lists";

import { useEditing } from "../draft/editing";
import { gateEdits } from "../draft/edits";
import { rich, t } from "../texts";
import classes from "./FeatureGates.module.css";

const FLAG = "--feature-gates";

export function FeatureGates() {
  const { examination, readOnly, edit } = useEditing();
  const gates = examination.feature_gates;
  if (gates.length === 0) return null;
  const json = examination.format === "json";
  const errors = examination.errors.filter((error) => error.path === FLAG);
  return (
    <Panel aria-labelledby="feature-gates">
      <PanelHeader title={t("featureGates")} id="feature-gates">
        <span className="faint">
          {json ? t("aJSONFileHasNo") : rich("keptAsComment", { flag: <span className="mono">{FLAG}</span> })}
        </span>
      </PanelHeader>
      {errors.length === 0 ? null : (
        <ul className={classes.errors} role="alert">
          {errors.map((error) => (
            <li key={error.text}>
              <Icon name="warning" size={13} />
              <span>{error.message}</span>
            </li>
          ))}
        </ul>
      )}
      <ul className={classes.gates}>
        {gates.map((gate) => (
          <li key={gate.name} {...(gate.enabled === gate.default ? {} : { "data-changed": "" })}>
            <label>
              <input
                type="checkbox"
                checked={gate.enabled}
                disabled={readOnly || json}
                onChange={() => edit(...gateEdits(gates, gate.name, !gate.enabled))}
              />
              <b>{gate.name}</b>
            </label>
            <Chip kind="line">{gate.stage}</Chip>
            <span className="faint">{gate.default ? t("gateIsOnByDefault") : t("gateIsOffByDefault")}</span>
            <p>
              {sentences([
                gate.description,
                ...(gate.depends_on.length === 0 ? [] : [t("gateNeeds", { dependson: both(gate.depends_on) })]),
              ])}
            </p>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
