/** Runs by what they use; a star keeps one. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";

import { starRun, type StoredRun, storedRunsQuery, unstarRun } from "@/api/keeping";
import { useMe } from "@/api/useMe";
import { IconButton } from "@/components/Button";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Pager } from "@/components/Pager";
import { Panel, PanelHeader } from "@/components/Panel";
import { bytes } from "@/format/number";
import { day, exact } from "@/format/time";
import { t } from "@/keeping/texts";
import { notifyError } from "@/shell/notify";

import classes from "./Storage.module.css";

const route = getRouteApi("/storage");
const LIMIT = 50;

export function StoredRuns({ people, now }: { people: readonly string[]; now: number }) {
  const { person, offset = 0 } = route.useSearch();
  const navigate = route.useNavigate();
  const found = useQuery(storedRunsQuery({ person, offset, limit: LIMIT }));
  const rows = found.data?.results ?? [];
  const known = person === undefined || people.includes(person) ? people : [person, ...people];
  return (
    <Panel aria-labelledby="runs">
      <PanelHeader title={t("runsTitle")} id="runs">
        {known.length < 2 ? null : (
          <select
            className={classes.select}
            aria-label={t("whose")}
            value={person ?? ""}
            onChange={(event) => {
              const chosen = event.currentTarget.value;
              void navigate({ search: chosen === "" ? {} : { person: chosen } });
            }}
          >
            <option value="">{t("everybodys")}</option>
            {known.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        )}
      </PanelHeader>
      {found.isPending ? <Outlines count={4} height={44} label={t("storageReading")} /> : null}
      {found.error === null ? null : (
        <Failed what={t("storageNotRead")} error={found.error} retry={() => void found.refetch()} />
      )}
      {found.data !== undefined && rows.length === 0 ? <Empty>{t("noRuns")}</Empty> : null}
      <ul className={classes.rows}>
        {rows.map((row) => (
          <Row key={row.id} row={row} now={now} />
        ))}
      </ul>
      <Pager
        offset={offset}
        limit={LIMIT}
        total={found.data?.count ?? 0}
        onChoose={(next) => void navigate({ search: (old) => ({ ...old, offset: next === 0 ? undefined : next }) })}
      />
    </Panel>
  );
}

function Row({ row, now }: { row: StoredRun; now: number }) {
  const { operates } = useMe();
  const queries = useQueryClient();
  const starred = row.needed === "starred";
  const star = useMutation({
    mutationFn: async () => {
      await (starred ? unstarRun(row.id) : starRun(row.id));
    },
    onError: (error) => notifyError(t("starNotSet"), error),
    onSettled: () =>
      Promise.all([["storage"], ["runs"], ["run"]].map((queryKey) => queries.invalidateQueries({ queryKey }))),
  });
  return (
    <li>
      <div className="grow">
        {row.deleted_at === null ? (
          <Link to="/runs/$run" params={{ run: row.id }} className="leads">
            {row.number}, {row.snapshot}
          </Link>
        ) : (
          <span>
            {row.number}, {row.snapshot}
          </span>
        )}
        <p className="faint">
          <span title={exact(row.used_at)}>{t("usedBy", { who: row.started_by, when: day(row.used_at, now) })}</span>
          {"; "}
          {whatGoes(row, now)}
        </p>
      </div>
      <b className="num" title={row.parts.map((one) => `${t(`stored.${one.kind}`)}: ${bytes(one.bytes)}`).join("\n")}>
        {bytes(row.bytes)}
      </b>
      {operates && row.deleted_at === null ? (
        <IconButton
          icon="star"
          className={starred ? classes.starred : undefined}
          aria-pressed={starred}
          disabled={star.isPending}
          label={starred ? t("unstarNamed", { name: row.number }) : t("starNamed", { name: row.number })}
          onClick={() => star.mutate()}
        />
      ) : null}
    </li>
  );
}

function whatGoes(row: StoredRun, now: number): string {
  if (row.deleted_at !== null) {
    return row.goes.run_at === null ? t("isDeleted") : t("isDeletedUntil", { when: day(row.goes.run_at, now) });
  }
  if (row.needed !== "") return t(`needed.${row.needed}`);
  if (row.breakdowns_gone_at !== null) {
    return row.goes.run_at === null ? t("breakdownsAreGone") : t("runGoes", { when: day(row.goes.run_at, now) });
  }
  return row.goes.breakdowns_at === null
    ? t("staysWhileThereIsSpace")
    : t("breakdownsOfItGo", { when: day(row.goes.breakdowns_at, now) });
}
