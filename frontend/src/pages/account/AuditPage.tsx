/** What was done and tried, for admins: narrowed, read, taken along as a file. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback } from "react";

import { type AuditEntry, auditExport, type AuditFilter, auditQuery } from "@/api/accounts";
import { Downloads } from "@/components/Downloads";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Pager } from "@/components/Pager";
import { Page, Panel } from "@/components/Panel";
import { useTypedSearch } from "@/components/useTypedSearch";
import { listed, series } from "@/format/lists";
import { count } from "@/format/number";
import { exact } from "@/format/time";
import { useTitle } from "@/shell/useTitle";

import classes from "./Account.module.css";
import { AccountNav } from "./AccountNav";
import { ACTIONS, GROUPS } from "./actions";
import { t } from "./texts";

const route = getRouteApi("/audit");
const LIMIT = 100;

export function AuditPage() {
  useTitle(t("audit"));
  const { offset = 0, since, until, ...rest } = route.useSearch();
  const navigate = route.useNavigate();
  const filter: AuditFilter = { ...rest, since: dayStart(since), until: dayStart(until, 1) };
  const entries = useQuery(auditQuery(offset, LIMIT, filter));
  const total = entries.data?.count ?? 0;
  return (
    <Page>
      <AccountNav />
      <header className={classes.head}>
        <h1>{t("audit")}</h1>
        {entries.data === undefined ? null : (
          <span className="muted num" role="status">
            {count(total)}
          </span>
        )}
        <span className="grow" />
        <Downloads address={(as) => auditExport(as, filter)} />
      </header>
      <Filters />
      <Panel aria-label={t("audit")}>
        {entries.isPending ? <Outlines count={6} height={36} label={t("readingAudit")} /> : null}
        {entries.error === null ? null : (
          <Failed what={t("auditNotRead")} error={entries.error} retry={() => void entries.refetch()} />
        )}
        {entries.data?.results.length === 0 ? <Empty>{t("noEntry")}</Empty> : null}
        {total === 0 || entries.data === undefined ? null : <Entries entries={entries.data.results} />}
      </Panel>
      <Pager
        offset={offset}
        limit={LIMIT}
        total={total}
        onChoose={(next) => void navigate({ search: (old) => ({ ...old, offset: next === 0 ? undefined : next }) })}
      />
    </Page>
  );
}

/** Of a day as the page has it in its address ("2026-11-24") the beginning in UTC, as all times here; `later` days on. */
function dayStart(day: string | undefined, later = 0): string | undefined {
  const at = Date.parse(`${day ?? ""}T00:00:00Z`);
  return Number.isNaN(at) ? undefined : new Date(at + later * 86_400_000).toISOString();
}

function Filters() {
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const narrow = useCallback(
    (part: Record<string, string | undefined>) =>
      void navigate({ search: (old) => ({ ...old, ...part, offset: undefined }), replace: true }),
    [navigate],
  );
  const askWords = useCallback((q: string | undefined) => narrow({ q }), [narrow]);
  const askWho = useCallback((who: string | undefined) => narrow({ who }), [narrow]);
  const [words, setWords] = useTypedSearch(filter.q, askWords);
  const [who, setWho] = useTypedSearch(filter.who, askWho);
  return (
    <search className={classes.filters}>
      <input
        type="search"
        value={who}
        placeholder={t("who")}
        aria-label={t("who")}
        onChange={(event) => setWho(event.currentTarget.value)}
      />
      <input
        type="search"
        value={words}
        placeholder={t("whatOrWhere")}
        aria-label={t("whatOrWhere")}
        onChange={(event) => setWords(event.currentTarget.value)}
      />
      <select
        aria-label={t("what")}
        value={filter.action ?? ""}
        onChange={(event) => narrow({ action: event.currentTarget.value || undefined })}
      >
        <option value="">{t("everything")}</option>
        {GROUPS.map((group) => (
          <option key={group} value={group}>
            {t(`group.${group}`)}
          </option>
        ))}
        {ACTIONS.map((action) => (
          <option key={action} value={action}>
            {t(`action.${action}`)}
          </option>
        ))}
      </select>
      <select
        aria-label={t("result")}
        value={filter.result ?? ""}
        onChange={(event) => narrow({ result: event.currentTarget.value || undefined })}
      >
        <option value="">{t("doneOrRefused")}</option>
        <option value="done">{t("onlyDone")}</option>
        <option value="refused">{t("onlyRefused")}</option>
      </select>
      <div className={classes.days}>
        <label>
          {t("from")}
          <input
            type="date"
            value={filter.since ?? ""}
            onChange={(event) => narrow({ since: event.currentTarget.value || undefined })}
          />
        </label>
        <label>
          {t("to")}
          <input
            type="date"
            value={filter.until ?? ""}
            onChange={(event) => narrow({ until: event.currentTarget.value || undefined })}
          />
        </label>
      </div>
    </search>
  );
}

function Entries({ entries }: { entries: readonly AuditEntry[] }) {
  return (
    <table className={classes.entries}>
      <thead>
        <tr>
          <th scope="col">{t("when")}</th>
          <th scope="col">{t("who")}</th>
          <th scope="col">{t("what")}</th>
          <th scope="col">{t("toWhat")}</th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <tr key={entry.id} data-refused={entry.result === "refused"}>
            <td className="num">{exact(entry.at.replace(/\.\d+/, ""))}</td>
            <td>
              <b>
                {entry.username === "" ? (entry.via === "server" ? t("theServer") : t("somebody")) : entry.username}
              </b>
              <p className="faint">{listed([entry.address, viaOf(entry.via)].filter((part) => part !== ""))}</p>
            </td>
            <td>
              {t(`action.${entry.action}`)}
              {entry.result === "refused" ? <span className={classes.off}>{t("refused")}</span> : null}
            </td>
            <td>
              {entry.target}
              <p className="faint mono">{detailsOf(entry.details)}</p>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const TOKEN = /^token (.*)$/;

function viaOf(via: string): string {
  const name = TOKEN.exec(via)?.[1];
  return name === undefined ? "" : t("viaToken", { name });
}

/** As they are kept: names of fields and values, for who looks closely. */
function detailsOf(details: Record<string, unknown>): string {
  return series(
    Object.entries(details).map(
      ([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
    ),
  );
}
