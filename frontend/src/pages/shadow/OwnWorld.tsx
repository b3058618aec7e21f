/** A shadow on its own: what our world and the real cluster came to, in Compare's figures, and the pods that differ. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";

import { OWN_WORLD_DIFFERENT, type OwnWorld as Beside, ownWorldQuery } from "@/api/ownWorldQueries";
import type { Run } from "@/api/types";
import { Failed, Outlines } from "@/components/Outcome";
import { Panel } from "@/components/Panel";
import { clauses } from "@/format/lists";
import { exact } from "@/format/time";
import compare from "@/pages/compare/Compare.module.css";
import { Fullness } from "@/pages/compare/Fullness";
import { CameTo, StillFits, Zones } from "@/pages/compare/Tables";
import { configurationName } from "@/pages/compare/words";

import { OwnPods } from "./OwnPods";
import { t } from "./texts";

const route = getRouteApi("/runs/$run/shadow");

export function OwnWorld({ id, run }: { id: string; run: Run }) {
  const { namespace, profile, workload, view } = route.useSearch();
  const navigate = route.useNavigate();
  const plays = run.state !== "stopped";
  const world = useQuery(ownWorldQuery(id, { namespace, profile, workload }, plays));
  const seen = world.data;
  if (seen === undefined) {
    return (
      <Panel>
        {world.error === null ? (
          <Outlines count={6} height={32} label={t("readingWorlds")} />
        ) : (
          <Failed what={t("worldsNotRead")} error={world.error} retry={() => void world.refetch()} />
        )}
      </Panel>
    );
  }
  const names = { a: run.follows, b: configurationName(run) };
  return (
    <>
      <Panel className={compare.answer ?? ""} aria-label={t("theDifference")}>
        <h2>{headline(seen)}</h2>
        <p className="muted">
          <b>A</b> {names.a} · <b>B</b> {names.b}
        </p>
        <p className="muted">{t("whatOnItsOwnIs", { context: run.follows, since: exact(seen.since) })}</p>
      </Panel>
      <div className={compare.columns}>
        <div className={compare.stack}>
          <CameTo comparison={seen} names={names} />
          <Zones comparison={seen} names={names} />
        </div>
        <div className={compare.stack}>
          <Fullness
            comparison={seen}
            names={names}
            asTable={view === "table"}
            onView={(table) =>
              void navigate({ search: (old) => ({ ...old, view: table ? "table" : undefined }), replace: true })
            }
          />
          <StillFits comparison={seen} names={names} />
        </div>
      </div>
      <OwnPods key={id} run={id} world={seen} context={run.follows} plays={plays} />
    </>
  );
}

/** "12 pods came since; 3 on another node, 1 pending there only." */
export function headline({ counts, decided, differ }: Beside): string {
  if (decided === 0) return t("nothingCame");
  if (differ === 0) return t("cameAlike", { count: decided });
  const differences = clauses(
    OWN_WORLD_DIFFERENT.filter((kind) => counts[kind] > 0).map((kind) => t(`differs.${kind}`, { count: counts[kind] })),
  );
  return t("cameDifferent", { count: decided, differences });
}
