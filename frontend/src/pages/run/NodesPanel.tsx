import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useMemo, useRef } from "react";

import type { Selection, StateKey } from "@/api/types";
import { GROUPINGS, type Grouping } from "@/app/router";
import { Button } from "@/components/Button";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Panel, PanelHeader } from "@/components/Panel";
import { Segmented } from "@/components/Segmented";
import { commonPrefix } from "@/format/names";
import { count, counted } from "@/format/number";
import type { NodesView, RunStore } from "@/live/runStore";

import { MOST_CELLS } from "./cells";
import { NodeCells } from "./NodeCells";
import { groupNodes, TILES_UP_TO } from "./nodeGroups";
import classes from "./NodesPanel.module.css";
import { Legend } from "./NodeTile";
import { NodeTiles } from "./NodeTiles";
import { useSize } from "./useSize";

const NodeTable = lazy(() => import("./NodeTable"));
const route = getRouteApi("/runs/$run");
const WORDS: Record<Grouping, string> = { zone: "Zone", pool: "Pool", none: "None" };

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

export function NodesPanel({ run, store, nodes, selection, chosenState, ringed, operates, onPoint, onAdd }: NodesPanelProps) {
  const { by = "zone", table: asTable = false, node: picked, fill = "cpu" } = route.useSearch();
  const navigate = useNavigate({ from: "/runs/$run" });
  const body = useRef<HTMLDivElement>(null);
  const size = useSize(body);
  const { table } = nodes;
  const groups = useMemo(() => (table === null ? [] : groupNodes(table, by)), [table, by]);
  const prefix = useMemo(() => (table === null || table.count > TILES_UP_TO ? "" : commonPrefix(table.names)), [table]);
  const many = table !== null && table.names.length > TILES_UP_TO;
  const filling = table === null ? -1 : Math.max(0, table.resourceIndex(fill));
  const common = { run, version: nodes.version, groups, selection, chosenState, picked, ringed, width: size.width, onPoint };

  return (
    <Panel className={classes.panel ?? ""} aria-label="Nodes">
      <div className={classes.header}>
        <PanelHeader title="Nodes">
          {table === null ? null : (
            <Link to="/runs/$run" params={{ run }} search={(old) => ({ ...old, table: true })} replace resetScroll={false} className="leads num muted"
              aria-label={`${counted(table.count, "node")}, as a table`}>{count(table.count)}</Link>
          )}
          {prefix === "" ? null : <span className={`${classes.prefix} faint mono hidePhone`} title={`All names begin with ${prefix}, left out on the tiles`}>{prefix}…</span>}
          {many && !asTable ? <FillChoice resources={table.resources} value={table.resources[filling] ?? "cpu"}
            onChange={(resource) => void navigate({ search: (old) => ({ ...old, fill: resource === "cpu" ? undefined : resource }), replace: true })} /> : null}
          {asTable ? null : (
            <Segmented label="Group nodes by" className="hidePhone" value={by} options={GROUPINGS.map((value) => ({ value, label: WORDS[value] }))}
              onChange={(value) => void navigate({ search: (old) => ({ ...old, by: value === "zone" ? undefined : value }), replace: true })} />
          )}
          {asTable ? null : (
            <span className={`${classes.legend} hidePhone`}>
              <span><i className={classes.requests} />requests</span>
              {many ? null : <span><i className={classes.reserved} />reserved, not bound</span>}
              {many ? null : <span className="faint">% of allocatable</span>}
            </span>
          )}
          <span className="grow" />
          {asTable ? null : <span className="hidePhone"><Legend /></span>}
          <Button size="sm" kind="ghost" aria-pressed={asTable}
            onClick={() => void navigate({ search: (old) => ({ ...old, table: asTable ? undefined : true }), replace: true })}>
            {asTable ? "Picture" : "Table"}
          </Button>
        </PanelHeader>
      </div>
      {/* A scrolling region takes the focus, so that the keyboard can scroll it. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className={classes.body} ref={body} tabIndex={0} role="region" aria-label={asTable ? "Table of nodes" : "Picture of nodes"}>
        {nodes.status === "loading" && table === null ? <Outlines count={3} height={90} label="Reading the nodes" /> : null}
        {nodes.status === "failed" ? <Failed what="Nodes could not be read." error={nodes.error} retryLabel="Read again" retry={() => void store.loadNodes()} /> : null}
        {table !== null && table.count === 0 ? (
          <Empty action={operates ? <Button size="sm" onClick={onAdd}>Add a node</Button> : null}>This cluster has no nodes, so every pod stays pending.</Empty>
        ) : null}
        {table === null || table.count === 0 ? null
          : asTable ? <Suspense fallback={<Outlines count={8} height={28} label="Opening the table" />}><NodeTable {...common} table={table} /></Suspense>
            : many ? <NodeCells {...common} table={table} height={size.height} resource={filling} /> : <NodeTiles {...common} table={table} />}
        {table !== null && table.count > MOST_CELLS && !asTable
          ? <p className={classes.note}>More nodes than cells: a cell stands for {count(Math.ceil(table.count / MOST_CELLS))} nodes and shows the fullest.</p> : null}
      </div>
    </Panel>
  );
}

function FillChoice({ resources, value, onChange }: { resources: readonly string[]; value: string; onChange: (resource: string) => void }) {
  return (
    <label className={`${classes.fill} faint hidePhone`}>
      one cell a node, filled by
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {resources.map((name) => <option key={name} value={name}>{name}</option>)}
      </select>
    </label>
  );
}
