import type { PodDetail } from "@/api/types";
import { Panel, PanelHeader } from "@/components/Panel";

import classes from "./WaitsFor.module.css";

/** The plugins that must change their mind, and which events may do that. */
export function WaitsFor({ plugins }: { plugins: PodDetail["waits_for"] }) {
  return (
    <Panel aria-labelledby="waits-for">
      <PanelHeader id="waits-for" title="Waits for"><span className="faint">events that can wake it</span></PanelHeader>
      <ul className={classes.list}>
        {plugins.map((one) => <li key={one.plugin}><b>{one.plugin}</b><span>{one.text}</span></li>)}
      </ul>
    </Panel>
  );
}
