/** The pods that are otherwise here than in the real cluster: pending, evicted or elsewhere in one of the two. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback } from "react";

import {
  OWN_WORLD_DIFFERENT,
  type OwnWorld,
  ownWorldExportAddress,
  type OwnWorldPod,
  ownWorldPodsQuery,
} from "@/api/ownWorldQueries";
import { PodName } from "@/components/Chip";
import { Downloads } from "@/components/Downloads";
import { Panel, PanelHeader } from "@/components/Panel";
import { placeWord } from "@/components/states";
import { useTypedSearch } from "@/components/useTypedSearch";
import { sentences } from "@/format/lists";
import { count } from "@/format/number";
import { exact } from "@/format/time";
import compare from "@/pages/compare/Compare.module.css";
import { PagedRows } from "@/pages/compare/PagedRows";
import { causeWords } from "@/pages/real/words";

import { Choice } from "./Choice";
import classes from "./Shadow.module.css";
import { t } from "./texts";

const route = getRouteApi("/runs/$run/shadow");
const LIMIT = 50;
const NAMED = ["namespace", "profile", "workload"] as const;

interface OwnPodsProps {
  run: string;
  world: OwnWorld;
  /** The real cluster. */
  context: string;
  plays: boolean;
}

export function OwnPods({ run, world, context, plays }: OwnPodsProps) {
  const { offset = 0, outcome, namespace, profile, workload, q } = route.useSearch();
  const filter = { namespace, profile, workload, kind: outcome, q };
  const navigate = route.useNavigate();
  const ask = useCallback(
    (q: string | undefined) => void navigate({ search: (old) => ({ ...old, q, offset: undefined }), replace: true }),
    [navigate],
  );
  const [text, setText] = useTypedSearch(q, ask);
  const rows = useQuery(ownWorldPodsQuery(run, filter, offset, LIMIT, plays));
  const { counts } = world;
  const rare = ["neither", "gated", "same"] as const;
  const shown = [...OWN_WORLD_DIFFERENT, ...rare.filter((one) => counts[one] > 0 || one === outcome)];
  const total = rows.data?.count ?? 0;
  return (
    <Panel aria-labelledby="own-pods">
      <PanelHeader id="own-pods" title={t("podsThatDiffer")}>
        <span className="muted num" role="status">
          {rows.data === undefined ? "" : count(total)}
        </span>
        <span className="grow" />
        <Downloads address={(as) => ownWorldExportAddress(run, as, filter)} />
      </PanelHeader>
      <nav className={compare.kinds} aria-label={t("kinds")}>
        {[undefined, ...shown].map((kind) => (
          <Link
            key={kind ?? "all"}
            from="/runs/$run/shadow"
            to="/runs/$run/shadow"
            replace
            search={(old) => ({ ...old, outcome: kind, offset: undefined })}
            className={compare.kind}
            aria-current={outcome === kind ? "true" : undefined}
            activeOptions={{ exact: true }}
          >
            {kind === undefined ? t("allThatDiffer") : t(`outcome.${kind}`)}{" "}
            <b className="num">{count(kind === undefined ? world.differ : counts[kind])}</b>
          </Link>
        ))}
        <span className="grow" />
        <input
          type="search"
          value={text}
          placeholder={t("partOfName")}
          aria-label={t("filterPods")}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      </nav>
      <div className={classes.choices}>
        {NAMED.map((of) => (
          <label key={of} className={classes.choice}>
            {t(`choice.${of}`)}
            <Choice
              value={filter[of]}
              known={world[`${of}s`]}
              onChange={(value) =>
                void navigate({
                  search: (old) => ({ ...old, [of]: value === "" ? undefined : value, offset: undefined }),
                  replace: true,
                })
              }
            />
          </label>
        ))}
      </div>
      <PagedRows
        rows={rows}
        label={t("podsThatDiffer")}
        heads={[t("pod"), t("inCluster", { context }), t("here"), t("why")]}
        row={(row) => <Row key={`${row.pod.namespace}/${row.pod.name}`} row={row} run={run} context={context} />}
        offset={offset}
        limit={LIMIT}
        onChoose={(offset) => void navigate({ search: (old) => ({ ...old, offset }), replace: true })}
        words={{ reading: t("readingWorlds"), failed: t("worldsNotRead"), none: t("noPod") }}
      />
    </Panel>
  );
}

function Row({ row, run, context }: { row: OwnWorldPod; run: string; context: string }) {
  const why = whyWords(row);
  return (
    <tr>
      <th scope="row">
        <PodName pod={row.pod} />
        <div className="muted">
          {row.pod.namespace} · {row.profile}
        </div>
      </th>
      <td className={row.there.node === null ? "" : "mono"} title={`${exact(row.there.since)} ${row.there.message}`}>
        <span className={classes.onPhones}>{t("inCluster", { context })}</span>
        {thereWords(row)}
      </td>
      <td>
        <span className={classes.onPhones}>{t("here")}</span>
        <Here row={row} run={run} />
      </td>
      <td className={compare.why}>
        {row.points.length === 0 && row.reasons.length === 0 ? (
          why
        ) : (
          <details>
            <summary>{why}</summary>
            {row.points.length > 0 ? <Points row={row} /> : null}
            {row.reasons.length > 0 ? <Reasons row={row} /> : null}
          </details>
        )}
      </td>
    </tr>
  );
}

function thereWords({ there }: OwnWorldPod): string {
  if (there.node !== null) return there.preempted ? t("beingEvicted", { node: there.node }) : there.node;
  if (there.present) return t("pending");
  return there.preempted ? t("evicted") : t("gone");
}

/** Where it is in our world, linked to it. */
function Here({ row, run }: { row: OwnWorldPod; run: string }) {
  const { here } = row;
  if (here === null) return <>–</>;
  const words =
    here.node ??
    (here.column === "deleted"
      ? row.evicted_for === ""
        ? t("gone")
        : t("evicted")
      : placeWord({ column: here.column }));
  return (
    <Link
      to="/runs/$run/pods/$namespace/$name"
      params={{ run, namespace: row.pod.namespace, name: row.pod.name }}
      search={here.node === null ? {} : { point: "Score" }}
      className={`leads ${here.node === null ? "" : "mono"}`}
    >
      {words}
    </Link>
  );
}

export function whyWords(row: OwnWorldPod): string {
  const { there, evicted_for: by, kind, causes, nodes } = row;
  if (kind === "evicted_here") return t("evictedFor", { pod: by });
  if (kind === "evicted_there") return t("evictedThere");
  return sentences(
    causes.map(({ why, ...cause }) => {
      if (why === "not_tried") return t("notTriedHere");
      if (why === "not_tried_there") return t("notTriedThere");
      if (why === "no_node") return t("nodeIsGone", { node: there.node ?? "" });
      return causeWords({ why, ...cause }, { real: there, nodes });
    }),
  );
}

function Points({ row }: { row: OwnWorldPod }) {
  const shown = [...row.points].sort((one, two) => two.own - two.real - (one.own - one.real));
  return (
    <table>
      <caption className="srOnly">{t("points")}</caption>
      <thead>
        <tr>
          <th scope="col">{t("plugin")}</th>
          <th scope="col">{row.here?.node}</th>
          <th scope="col">{row.there.node}</th>
        </tr>
      </thead>
      <tbody>
        {shown.map((one) => (
          <tr key={one.plugin}>
            <th scope="row">{one.plugin}</th>
            <td>{count(one.own)}</td>
            <td>{count(one.real)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Reasons({ row }: { row: OwnWorldPod }) {
  return (
    <>
      <table>
        <thead>
          <tr>
            <th scope="col">{t("reason")}</th>
            <th scope="col">{t("nodesThere")}</th>
          </tr>
        </thead>
        <tbody>
          {row.reasons.map((one) => (
            <tr key={one.reason}>
              <th scope="row">{one.reason}</th>
              <td>{count(one.real)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="mono">{row.there.message}</p>
    </>
  );
}
