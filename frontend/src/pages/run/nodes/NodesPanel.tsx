import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { memo, Suspense, useMemo, useRef, useState } from "react";

import type { Selection, StateKey } from "@/api/types";
import { GROUPINGS, type Grouping } from "@/app/search";
import { Button } from "@/components/Button";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Panel, PanelHeader } from "@/components/Panel";
import { ScrollRegion } from "@/components/ScrollRegion";
import { Segmented } from "@/components/Segmented";
import { useSize } from "@/components/useSize";
import { count } from "@/format/number";
import type { NodeColumns } from "@/live/nodeColumns";
import type { NodesView, RunStore } from "@/live/runStore";
import { later } from "@/parts/later";

import { t } from "../texts";
import { MOST_CELLS } from "./cells";
import { NodeCells } from "./NodeCells";
import { groupNodes, sharedPrefix, tileLayout, TILES_UP_TO, wholeRows } from "./nodeGroups";
import classes from "./NodesPanel.module.css";
import { Legend } from "./NodeTile";
import { NodeTiles } from "./NodeTiles";

const NodeTable = later(() => import("./NodeTable"));
const route = getRouteApi("/runs/$run");
const WORDS: Record<Grouping, string> = {
  get zone() {
    return t("zone");
  },
  get pool() {
    return t("pool");
  },
  get none() {
    return t("none");
  },
};

interface NodesPanelProps {
  run: string;
  store: RunStore;
  nodes: NodesView;
  selection: Selection | null;
  chosenState: StateKey | undefined;
  ringed: string | null;
  operates: boolean;
  onPoint: (name: string | null) => void;
  onAdd: () => void;
}

export const NodesPanel = memo(function NodesPanel({
  run,
  store,
  nodes,
  selection,
  chosenState,
  ringed,
  operates,
  onPoint,
  onAdd,
}: NodesPanelProps) {
  const {
    by = "zone",
    table: asTable = false,
    node: picked,
    fill = "cpu",
  } = route.useSearch({
    select: ({ by: group, table: rows, node, fill: resource }) => ({ by: group, table: rows, node, fill: resource }),
    structuralSharing: true,
  });
  const body = useRef<HTMLDivElement>(null);
  const size = useSize(body);
  const { table } = nodes;
  const groups = useMemo(() => (table === null ? [] : groupNodes(table, by)), [table, by]);
  const prefix = useMemo(() => sharedPrefix(table), [table]);
  const many = table !== null && table.names.length > TILES_UP_TO;
  const filling = table === null ? -1 : Math.max(0, table.resourceIndex(fill));
  const layout = useMemo(
    () =>
      tileLayout(
        groups.map((group) => group.rows.length),
        size.width,
      ),
    [groups, size.width],
  );
  const rows = wholeRows(size.height);
  const [first, setFirst] = useState(0);
  const hidden = !asTable && !many && layout.rows > rows.seen;
  const common = {
    run,
    version: nodes.version,
    groups,
    selection,
    chosenState,
    picked,
    ringed,
    width: size.width,
    onPoint,
  };

  return (
    <Panel className={classes.panel ?? ""} aria-label={t("nodes")}>
      <Header
        run={run}
        table={table}
        by={by}
        asTable={asTable}
        many={many}
        filling={filling}
        prefix={prefix}
        seen={hidden ? { first: first + 1, last: Math.min(layout.rows, first + rows.seen), all: layout.rows } : null}
      />
      <ScrollRegion
        className={classes.body}
        ref={body}
        label={asTable ? t("tableOfNodes") : t("pictureOfNodes")}
        data-whole={!asTable && !many}
        data-cells={!asTable && many}
        onScroll={(event) => setFirst(Math.round(event.currentTarget.scrollTop / (rows.height + 5)))}
      >
        {nodes.status === "loading" && table === null ? (
          <Outlines count={3} height={90} label={t("readingTheNodes")} />
        ) : null}
        {nodes.status === "failed" ? (
          <Failed
            what={t("nodesCouldNotBeRead")}
            error={nodes.error}
            retryLabel={t("readAgain")}
            retry={() => void store.loadNodes()}
          />
        ) : null}
        {table !== null && table.count === 0 ? (
          <Empty
            action={
              operates ? (
                <Button size="sm" onClick={onAdd}>
                  {t("addANode")}
                </Button>
              ) : null
            }
          >
            {t("thisClusterHasNoNodes")}
          </Empty>
        ) : null}
        {table === null || table.count === 0 ? null : asTable ? (
          <Suspense fallback={<Outlines count={8} height={28} label={t("openingTheTable")} />}>
            <NodeTable {...common} table={table} />
          </Suspense>
        ) : many ? (
          <NodeCells {...common} table={table} height={size.height} resource={filling} />
        ) : (
          <NodeTiles {...common} table={table} layout={layout} rowHeight={rows.height} />
        )}
        {table !== null && table.count > MOST_CELLS && !asTable ? (
          <p className={classes.note}>{t("moreNodesThanCellsA", { ceil: Math.ceil(table.count / MOST_CELLS) })}</p>
        ) : null}
      </ScrollRegion>
    </Panel>
  );
});

interface HeaderProps {
  run: string;
  table: NodeColumns | null;
  by: Grouping;
  asTable: boolean;
  /** More nodes than tiles are drawn for. */
  many: boolean;
  /** Index of the resource that fills the cells. */
  filling: number;
  /** What all names begin with. */
  prefix: string;
  /** The rows of tiles that are on screen, when there are more. */
  seen: { first: number; last: number; all: number } | null;
}

function Header({ run, table, by, asTable, many, filling, prefix, seen }: HeaderProps) {
  const navigate = useNavigate({ from: "/runs/$run" });
  return (
    <div className={classes.header}>
      <PanelHeader title={t("nodes")}>
        {table === null ? null : (
          <Link
            to="/runs/$run"
            params={{ run }}
            search={(old) => ({ ...old, table: true })}
            replace
            resetScroll={false}
            className="leads num muted"
            aria-label={t("nodesAsATable", { count: table.count })}
          >
            {count(table.count)}
          </Link>
        )}
        {prefix === "" ? null : (
          <span className={`${classes.prefix} faint mono hidePhone`} title={t("allNamesBeginWithLeft", { prefix })}>
            {prefix}…
          </span>
        )}
        {table !== null && many && !asTable ? (
          <FillChoice
            resources={table.resources}
            value={table.resources[filling] ?? t("cpu")}
            onChange={(resource) =>
              void navigate({
                search: (old) => ({ ...old, fill: resource === "cpu" ? undefined : resource }),
                replace: true,
              })
            }
          />
        ) : null}
        {asTable ? null : (
          <Segmented
            label={t("groupNodesBy")}
            className="hidePhone"
            value={by}
            options={GROUPINGS.map((value) => ({ value, label: WORDS[value] }))}
            onChange={(value) =>
              void navigate({
                search: (old) => ({ ...old, by: value === "zone" ? undefined : value }),
                replace: true,
              })
            }
          />
        )}
        {asTable ? null : (
          <span className={`${classes.legend} hideNarrow`}>
            <span>
              <i className={classes.requests} />
              {t("legendRequests")}
            </span>
            {many ? null : (
              <span>
                <i className={classes.reserved} />
                {t("reservedNotBound")}
              </span>
            )}
            {many ? null : <span className="faint">{t("ofAllocatable")}</span>}
          </span>
        )}
        <span className="grow" />
        {seen === null ? null : <span className={`${classes.rows} faint num hideNarrow`}>{t("rowsSeen", seen)}</span>}
        {asTable ? null : (
          <span className={`${classes.marks} hideNarrow`}>
            <Legend />
          </span>
        )}
        <Button
          size="sm"
          kind="ghost"
          aria-pressed={asTable}
          onClick={() =>
            void navigate({ search: (old) => ({ ...old, table: asTable ? undefined : true }), replace: true })
          }
        >
          {asTable ? t("picture") : t("table")}
        </Button>
      </PanelHeader>
    </div>
  );
}

function FillChoice({
  resources,
  value,
  onChange,
}: {
  resources: readonly string[];
  value: string;
  onChange: (resource: string) => void;
}) {
  return (
    <label className={`${classes.fill} faint hidePhone`}>
      {t("oneCellANodeFilled")}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {resources.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
