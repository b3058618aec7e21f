/** The decisions about which the shadow decides otherwise, with the plugin that made each difference. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Suspense, useCallback, useState } from "react";

import {
  SHADOW_KINDS,
  type ShadowDecision,
  shadowDecisionsQuery,
  shadowExportAddress,
  type ShadowSummary,
} from "@/api/shadowQueries";
import { Button } from "@/components/Button";
import { Downloads } from "@/components/Downloads";
import { Panel, PanelHeader } from "@/components/Panel";
import { useTypedSearch } from "@/components/useTypedSearch";
import { clauses, listed } from "@/format/lists";
import { count } from "@/format/number";
import { exact } from "@/format/time";
import compare from "@/pages/compare/Compare.module.css";
import { PagedRows } from "@/pages/compare/PagedRows";
import { later } from "@/parts/later";

import { Choice } from "./Choice";
import classes from "./Shadow.module.css";
import { t } from "./texts";

const ExtendersDrawer = later(() => import("./ExtendersDrawer"));
const route = getRouteApi("/runs/$run/shadow");
const LIMIT = 50;
const NAMED = ["namespace", "profile", "workload"] as const;

export function Differences({ run, summary }: { run: string; summary: ShadowSummary }) {
  const { offset = 0, kind, namespace, profile, workload, plugin, q } = route.useSearch();
  const filter = { kind, namespace, profile, workload, plugin, q };
  const navigate = route.useNavigate();
  const ask = useCallback(
    (q: string | undefined) => void navigate({ search: (old) => ({ ...old, q, offset: undefined }), replace: true }),
    [navigate],
  );
  const [text, setText] = useTypedSearch(q, ask);
  const [asked, setAsked] = useState<ShadowDecision | null>(null);
  const rows = useQuery(shadowDecisionsQuery(run, filter, offset, LIMIT));
  const choose = (of: (typeof NAMED)[number] | "plugin", value: string) =>
    void navigate({
      search: (old) => ({ ...old, [of]: value === "" ? undefined : value, offset: undefined }),
      replace: true,
    });
  const total = rows.data?.count ?? 0;
  return (
    <Panel aria-labelledby="differences">
      <PanelHeader id="differences" title={t("differences")}>
        <span className="muted num" role="status">
          {rows.data === undefined ? "" : count(total)}
        </span>
        <span className="grow" />
        <Downloads address={(as) => shadowExportAddress(run, as, filter)} />
      </PanelHeader>
      <nav className={compare.kinds} aria-label={t("kinds")}>
        {[undefined, ...SHADOW_KINDS].map((one) => (
          <Link
            key={one ?? "all"}
            from="/runs/$run/shadow"
            to="/runs/$run/shadow"
            replace
            search={(old) => ({ ...old, kind: one, offset: undefined })}
            className={compare.kind}
            aria-current={kind === one ? "true" : undefined}
            activeOptions={{ exact: true }}
          >
            {t(`kind.${one ?? "all"}`)}{" "}
            <b className="num">{count(one === undefined ? summary.different : summary[one])}</b>
          </Link>
        ))}
        <span className="grow" />
        <input
          type="search"
          value={text}
          placeholder={t("podOrNode")}
          aria-label={t("filter")}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      </nav>
      <div className={classes.choices}>
        {NAMED.map((of) => (
          <label key={of} className={classes.choice}>
            {t(`choice.${of}`)}
            <Choice value={filter[of]} known={summary[`${of}s`]} onChange={(value) => choose(of, value)} />
          </label>
        ))}
        <label className={classes.choice}>
          {t("choice.plugin")}
          <Choice
            value={filter.plugin}
            known={summary.plugins.map((one) => one.plugin).filter((name) => name !== "")}
            onChange={(value) => choose("plugin", value)}
          />
        </label>
      </div>
      <PagedRows
        rows={rows}
        label={t("rows")}
        heads={[t("pod"), t("decided"), t("realNode"), t("ourNode"), t("madeBy")]}
        row={(row) => <Row key={row.number} row={row} run={run} onAsked={() => setAsked(row)} />}
        offset={offset}
        limit={LIMIT}
        onChoose={(offset) => void navigate({ search: (old) => ({ ...old, offset }), replace: true })}
        words={{ reading: t("reading"), failed: t("notRead"), none: t("none") }}
      />
      {asked === null ? null : (
        <Suspense fallback={null}>
          <ExtendersDrawer run={run} decision={asked} onClose={() => setAsked(null)} />
        </Suspense>
      )}
    </Panel>
  );
}

/** Words for what made it: the plugin with its points or reasons, who would be evicted, or why it was not judged. */
function whyWords(row: ShadowDecision): string {
  if (row.kind === "not_judged") return row.why_not;
  const said = row.reasons.length > 0 ? clauses([...row.reasons]) : row.message;
  const made = row.plugin === "" ? t("noPlugin") : row.plugin;
  const evicting = row.victims.length === 0 ? "" : ` ${t("evicting", { pods: listed([...row.victims]) })}`;
  return `${made}${row.margin === 0 ? "" : ` +${count(row.margin)}`}${said === "" ? "" : `: ${said}`}${evicting}`;
}

function Row({ row, run, onAsked }: { row: ShadowDecision; run: string; onAsked: () => void }) {
  return (
    <tr>
      <th scope="row">
        <Link
          to="/runs/$run/pods/$namespace/$name"
          params={{ run, namespace: row.namespace, name: row.name }}
          className="leads"
        >
          {row.name}
        </Link>
        <div className="muted">
          {row.namespace} · {row.profile}
        </div>
      </th>
      <td className="num">{exact(row.at)}</td>
      <td className={row.bound ? "mono" : ""}>
        <span className={classes.onPhones}>{t("realNode")}</span>
        {row.real_node === "" ? t("pending") : row.real_node}
      </td>
      <td className={row.own_node === "" ? "" : "mono"}>
        <span className={classes.onPhones}>{t("ourNode")}</span>
        {row.kind === "not_judged" ? "–" : row.own_node === "" ? t("pending") : row.own_node}
      </td>
      <td className={compare.why}>
        {row.points.length === 0 ? (
          whyWords(row)
        ) : (
          <details>
            <summary>{whyWords(row)}</summary>
            <Points row={row} />
          </details>
        )}
        {row.extenders.length === 0 ? null : (
          <div>
            <Button size="sm" kind="ghost" onClick={onAsked}>
              {t("extendersAsked", { count: row.extenders.length })}
            </Button>
          </div>
        )}
      </td>
    </tr>
  );
}

function Points({ row }: { row: ShadowDecision }) {
  const shown = [...row.points].sort((one, two) => two.own - two.real - (one.own - one.real));
  return (
    <table>
      <caption className="srOnly">{t("points")}</caption>
      <thead>
        <tr>
          <th scope="col">{t("plugin")}</th>
          <th scope="col">{row.own_node}</th>
          <th scope="col">{row.real_node}</th>
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
