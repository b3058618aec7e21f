import type { PodDetail } from "@/api/types";
import { Panel, PanelHeader } from "@/components/Panel";
import { exact, runTime } from "@/format/time";

import { t } from "../texts";
import classes from "./WaitsFor.module.css";

/** The plugins that must change their mind, which events may do that, and which came and did not. */
export function WaitsFor({ plugins, ignored }: { plugins: PodDetail["waits_for"]; ignored: PodDetail["ignored"] }) {
  return (
    <Panel aria-labelledby="waits-for">
      <PanelHeader id="waits-for" title={t("waitsFor")}>
        <span className="faint">{t("eventsThatCanWakeIt")}</span>
      </PanelHeader>
      <ul className={classes.list}>
        {plugins.map((one) => (
          <li key={one.plugin}>
            <b>{one.plugin}</b>
            <span>{one.text}</span>
          </li>
        ))}
      </ul>
      {ignored.length === 0 ? null : (
        <div className={classes.ignored}>
          <h3 id="ignored">{t("cameAndWereIgnored")}</h3>
          <ul className={classes.list} aria-labelledby="ignored">
            {ignored.map((one, index) => (
              <li key={`${one.at} ${one.object} ${index}`}>
                <p>
                  <time dateTime={one.at} title={exact(one.at)}>
                    {runTime(one.at)}
                  </time>{" "}
                  {one.event}: <span className="mono">{one.object}</span>
                </p>
                {one.why.map((why) => (
                  <span key={why.plugin} className={classes.why}>
                    {why.plugin}: {why.text}.
                  </span>
                ))}
              </li>
            ))}
          </ul>
        </div>
      )}
    </Panel>
  );
}
