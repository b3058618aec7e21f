/** What was deleted and can be brought back: runs, clusters and configurations, until the time of each is up. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";

import { type Deleted, deletedQuery, removeDeleted, restoreDeleted } from "@/api/keeping";
import { Button } from "@/components/Button";
import { Chip } from "@/components/Chip";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Pager } from "@/components/Pager";
import { Page, Panel } from "@/components/Panel";
import { bytes } from "@/format/number";
import { day, exact } from "@/format/time";
import { deletionsChanged, tellRestored } from "@/keeping/deletion";
import { t } from "@/keeping/texts";
import { notify, notifyError } from "@/shell/notify";
import { useTitle } from "@/shell/useTitle";

import classes from "./Keeping.module.css";

const route = getRouteApi("/deleted");
const LIMIT = 50;

export function DeletedPage() {
  useTitle(t("deletedTitle"));
  const { offset = 0 } = route.useSearch();
  const navigate = route.useNavigate();
  const found = useQuery(deletedQuery(offset, LIMIT));
  const rows = found.data?.results ?? [];
  return (
    <Page>
      <header className={classes.head}>
        <h1>{t("deletedTitle")}</h1>
        <p className="muted">{t("deletedWhat")}</p>
      </header>
      <Panel aria-label={t("deletedTitle")}>
        {found.isPending ? <Outlines count={4} height={52} label={t("deletedReading")} /> : null}
        {found.error === null ? null : (
          <Failed what={t("deletedNotRead")} error={found.error} retry={() => void found.refetch()} />
        )}
        {found.data !== undefined && rows.length === 0 ? (
          <Empty
            action={
              <Link to="/runs" className="leads">
                {t("allRuns")}
              </Link>
            }
          >
            {t("deletedNone")}
          </Empty>
        ) : null}
        <ul className={classes.list}>
          {rows.map((row) => (
            <DeletedRow key={row.id} row={row} now={found.dataUpdatedAt} />
          ))}
        </ul>
      </Panel>
      <Pager
        offset={offset}
        limit={LIMIT}
        total={found.data?.count ?? 0}
        onChoose={(next) => void navigate({ search: next === 0 ? {} : { offset: next } })}
      />
    </Page>
  );
}

function DeletedRow({ row, now }: { row: Deleted; now: number }) {
  const queries = useQueryClient();
  const [asked, setAsked] = useState(false);
  const named = [{ kind: row.kind, id: row.id }];
  const restored = useMutation({
    mutationFn: () => restoreDeleted(named),
    onSuccess: tellRestored,
    onError: (error) => notifyError(t("notBack"), error),
    onSettled: () => deletionsChanged(queries),
  });
  const removed = useMutation({
    mutationFn: () => removeDeleted(named),
    onSuccess: ({ done, refused }) => {
      for (const one of done) notify({ title: t("wasRemoved", { name: one.name }) });
      for (const one of refused) notify({ kind: "error", title: t("notRemoved"), text: one.why });
    },
    onError: (error) => notifyError(t("notRemoved"), error),
    onSettled: () => {
      setAsked(false);
      deletionsChanged(queries);
    },
  });
  const busy = restored.isPending || removed.isPending;
  return (
    <li>
      <div>
        <Chip>{t(`kind.${row.kind}`)}</Chip>{" "}
        <b>{row.of === "" ? row.name : t("ofCluster", { name: row.name, cluster: row.of })}</b>{" "}
        <span className="muted num">{bytes(row.size_bytes)}</span>
        <p className="faint">
          <span title={exact(row.deleted_at)}>
            {t("deletedBy", { who: row.deleted_by, when: day(row.deleted_at, now) })}
          </span>
          {"; "}
          <span title={exact(row.goes_at)}>{t("goes", { when: day(row.goes_at, now) })}</span>
        </p>
      </div>
      <span className={classes.actions}>
        {asked ? (
          <>
            <Button size="sm" kind="danger-solid" sends disabled={busy} onClick={() => removed.mutate()}>
              {t("reallyRemove")}
            </Button>
            <Button size="sm" kind="ghost" onClick={() => setAsked(false)}>
              {t("keep")}
            </Button>
          </>
        ) : (
          <>
            <Button
              size="sm"
              sends
              disabled={busy}
              aria-label={t("bringBackNamed", { name: row.name })}
              onClick={() => restored.mutate()}
            >
              {t("bringBack")}
            </Button>
            <Button
              size="sm"
              kind="ghost"
              disabled={busy}
              aria-label={t("removeNamed", { name: row.name })}
              onClick={() => setAsked(true)}
            >
              {t("removeNow")}
            </Button>
          </>
        )}
      </span>
    </li>
  );
}
