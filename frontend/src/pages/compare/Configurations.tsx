/** What the configuration of B changes against A's: in words beside the figures, and line by line on demand. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";

import { comparedConfigurationsQuery, type Comparison } from "@/api/compareQueries";
import type { Run } from "@/api/types";
import { Failed, Outlines } from "@/components/Outcome";
import { Panel, PanelHeader } from "@/components/Panel";
import { Changes } from "@/pages/configuration/changes/Changes";
import { DiffNumbers, DiffView } from "@/pages/configuration/changes/DiffView";

import classes from "./Compare.module.css";
import { t } from "./texts";
import { configurationName } from "./words";

export function Configurations({ comparison: { a, b } }: { comparison: Comparison }) {
  const same = a.run.configuration.version_id === b.run.configuration.version_id;
  return (
    <Panel aria-labelledby="configurations">
      <PanelHeader id="configurations" title={t("configurations")} />
      <div className={classes.body}>
        {same ? (
          <p>{t("bothRunsUse", { name: configurationName(a.run) })}</p>
        ) : (
          <>
            <p className={classes.sidesNamed}>
              <ConfigurationLink run={a.run} side="A" />
              <ConfigurationLink run={b.run} side="B" />
            </p>
            <WhatDiffers a={a.run.id} b={b.run.id} />
          </>
        )}
      </div>
    </Panel>
  );
}

function ConfigurationLink({ run, side }: { run: Run; side: string }) {
  const { id, version, builtin } = run.configuration;
  return (
    <span>
      <b>{side}</b>{" "}
      <Link
        to="/configurations/$configuration"
        params={{ configuration: id }}
        search={builtin ? {} : { version }}
        className="leads"
      >
        {configurationName(run)}
      </Link>
    </span>
  );
}

function WhatDiffers({ a, b }: { a: string; b: string }) {
  const seen = useQuery(comparedConfigurationsQuery(a, b));
  const [lines, setLines] = useState(false);
  if (seen.data === undefined) {
    return seen.error === null ? (
      <Outlines count={3} height={20} label={t("comparingTheConfigurations")} />
    ) : (
      <Failed what={t("theConfigurationsCouldNot")} error={seen.error} retry={() => void seen.refetch()} small />
    );
  }
  const { changes, diff } = seen.data;
  return (
    <>
      {diff.lines.length === 0 ? (
        <p>{t("bothHaveOneText")}</p>
      ) : (
        <Changes changes={changes} several={new Set(changes.map((one) => one.profile)).size > 1} />
      )}
      {diff.lines.length === 0 ? null : (
        <details open={lines} onToggle={(event) => setLines(event.currentTarget.open)}>
          <summary>
            {t("lineByLine")} <DiffNumbers diff={diff} />
          </summary>
          {lines ? <DiffView diff={diff} label={t("linesThatDiffer")} /> : null}
        </details>
      )}
    </>
  );
}
