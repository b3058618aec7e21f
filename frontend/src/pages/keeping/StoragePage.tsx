/** What uses the space, what goes when, and who keeps how much. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { type Storage, storageQuery, type StoredKind } from "@/api/keeping";
import { Failed, Outlines } from "@/components/Outcome";
import { Page, Panel, PanelHeader } from "@/components/Panel";
import { bytes } from "@/format/number";
import { t } from "@/keeping/texts";
import { useTitle } from "@/shell/useTitle";

import classes from "./Storage.module.css";
import { StoredRuns } from "./StoredRuns";

/** Parts thinner than this share of the bar are told in the list only. */
const THINNEST = 0.004;

export function StoragePage() {
  useTitle(t("storageTitle"));
  const found = useQuery(storageQuery);
  return (
    <Page>
      <header className={classes.head}>
        <h1>{t("storageTitle")}</h1>
        <p className="muted">{t("storageWhat")}</p>
      </header>
      {found.isPending ? <Outlines count={4} height={52} label={t("storageReading")} /> : null}
      {found.error === null ? null : (
        <Failed what={t("storageNotRead")} error={found.error} retry={() => void found.refetch()} />
      )}
      {found.data === undefined ? null : (
        <div className={classes.panels}>
          <Space storage={found.data} />
          <Rules storage={found.data} />
          <StoredRuns people={found.data.people.map((one) => one.name)} now={found.dataUpdatedAt} />
          <People storage={found.data} />
          <Snapshots storage={found.data} />
        </div>
      )}
    </Page>
  );
}

function Space({ storage }: { storage: Storage }) {
  const used = storage.database_bytes - (storage.free_bytes ?? 0);
  const present = storage.kinds.filter((one) => one.bytes > 0);
  return (
    <Panel aria-labelledby="space">
      <PanelHeader title={t("spaceTitle", { bytes: bytes(storage.database_bytes) })} id="space" />
      <div className={classes.body}>
        <KindsBar kinds={present} total={used} />
        <dl className={classes.kinds}>
          {present.map((one, at) => (
            <div key={one.kind}>
              <dt>
                <i className={classes.swatch} style={{ opacity: shade(at) }} aria-hidden="true" />
                {t(`stored.${one.kind}`)}
              </dt>
              <dd className="num">{bytes(one.bytes)}</dd>
            </div>
          ))}
        </dl>
        {storage.free_bytes === null || storage.free_bytes === 0 ? null : (
          <p className="faint">{t("spaceFree", { bytes: bytes(storage.free_bytes) })}</p>
        )}
      </div>
    </Panel>
  );
}

function shade(at: number): number {
  return Math.max(0.15, 1 - at * 0.13);
}

function KindsBar({ kinds, total }: { kinds: readonly StoredKind[]; total: number }) {
  return (
    <div className={classes.bar} aria-hidden="true">
      {kinds.map((one, at) =>
        one.bytes < total * THINNEST ? null : (
          <i key={one.kind} style={{ flex: one.bytes, opacity: shade(at) }} title={t(`stored.${one.kind}`)} />
        ),
      )}
    </div>
  );
}

function Rules({ storage }: { storage: Storage }) {
  const { limits, next, runs } = storage;
  return (
    <Panel aria-labelledby="rules">
      <PanelHeader title={t("rulesTitle")} id="rules" />
      <div className={classes.body}>
        <p>
          {next.breakdowns + next.runs === 0
            ? t("nothingGoes")
            : t("goesNext", {
                breakdowns: t("goesBreakdowns", { count: next.breakdowns }),
                runs: t("goesRuns", { count: next.runs }),
                bytes: bytes(next.bytes),
              })}
        </p>
        {next.over_bytes > 0 ? <p>{t("overLimit", { bytes: bytes(next.over_bytes) })}</p> : null}
        <ul className={classes.rules}>
          <li>
            {limits.breakdowns_days === null
              ? t("breakdownsStay")
              : t("breakdownsGo", { count: limits.breakdowns_days })}
          </li>
          <li>{limits.runs_days === null ? t("runsStay") : t("runsGo", { count: limits.runs_days })}</li>
          <li>
            {limits.total_bytes === null
              ? t("noTotal", { used: bytes(runs.bytes) })
              : t("total", { used: bytes(runs.bytes), most: bytes(limits.total_bytes) })}
          </li>
          <li>
            {limits.per_person_bytes === null
              ? t("noPersonal")
              : t("personal", { most: bytes(limits.per_person_bytes) })}
          </li>
          <li>{t("neverGo")}</li>
          <li>
            <Link to="/deleted" className="leads">
              {t("deletedTitle")}
            </Link>
            {": "}
            {t("deletedHas", {
              count: runs.deleted_count,
              bytes: bytes(runs.deleted_bytes),
              days: limits.deleted_days,
              pruned: limits.pruned_days,
            })}
          </li>
        </ul>
      </div>
    </Panel>
  );
}

function People({ storage }: { storage: Storage }) {
  if (storage.people.length < 2) return null;
  return (
    <Panel aria-labelledby="people">
      <PanelHeader title={t("peopleTitle")} id="people" />
      <ul className={classes.rows}>
        {storage.people.map((one) => (
          <li key={one.name}>
            <Link to="/storage" search={{ person: one.name }} className="leads grow">
              {one.name}
            </Link>
            <span className="muted num">{t("nRuns", { count: one.runs })}</span>
            <b className="num">{bytes(one.bytes)}</b>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Snapshots({ storage }: { storage: Storage }) {
  if (storage.snapshots.length === 0) return null;
  return (
    <Panel aria-labelledby="clusters">
      <PanelHeader title={t("clustersTitle")} id="clusters" />
      <ul className={classes.rows}>
        {storage.snapshots.map((one) => (
          <li key={one.id}>
            <Link to="/runs" search={{ snapshot: one.id }} className="leads grow">
              {one.name}
            </Link>
            <span className="muted num">
              {t("clusterItself", { bytes: bytes(one.bytes), runs: t("nRuns", { count: one.runs }) })}
            </span>
            <b className="num">{bytes(one.bytes + one.runs_bytes)}</b>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
