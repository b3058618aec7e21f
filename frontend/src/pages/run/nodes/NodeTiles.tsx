import { type CSSProperties, memo, useMemo } from "react";

import type { Selection, StateKey } from "@/api/types";
import { commonPrefix } from "@/format/names";
import { percent } from "@/format/number";
import { resourceLabel } from "@/format/resources";
import type { NodeColumns } from "@/live/nodeColumns";

import { t } from "../texts";
import { groupShare, type NodeGroup, type TileLayout } from "./nodeGroups";
import { NodeTile } from "./NodeTile";
import classes from "./NodeTiles.module.css";
import { verdictOf } from "./selection";

export interface NodeViewProps {
  run: string;
  table: NodeColumns;
  version: number;
  groups: readonly NodeGroup[];
  selection: Selection | null;
  /** The queue of the selected pod: its colour rings the chosen node. */
  chosenState: StateKey | undefined;
  picked: string | undefined;
  ringed: string | null;
  width: number;
  onPoint: (name: string | null) => void;
}

interface TilesProps extends NodeViewProps {
  layout: TileLayout;
  /** Of a row, where the panel has whole rows. */
  rowHeight: number;
}

const HEAD_RESOURCES = ["cpu", "memory"];

export function NodeTiles({
  run,
  table,
  version,
  groups,
  selection,
  chosenState,
  picked,
  ringed,
  onPoint,
  layout,
  rowHeight,
}: TilesProps) {
  const prefix = useMemo(() => commonPrefix(table.names), [table]);
  const beside = layout.columns.length > 0;
  return (
    <div
      className={`${classes.groups} ${chosenState === undefined ? "" : `st-${chosenState}`}`}
      data-beside={beside}
      style={
        {
          "--row": `${rowHeight}px`,
          ...(beside
            ? { gridTemplateColumns: layout.columns.map((columns) => `minmax(0, ${columns}fr)`).join(" ") }
            : {}),
        } as CSSProperties
      }
    >
      {groups.map((group, index) => (
        <section
          key={group.name}
          className={classes.group}
          aria-label={t("nameCountNodes", { count: group.rows.length, name: group.name })}
        >
          <GroupHead table={table} version={version} group={group} />
          <div
            className={classes.tiles}
            style={
              beside ? { gridTemplateColumns: `repeat(${layout.columns[index] ?? 1}, minmax(0, 1fr))` } : undefined
            }
          >
            {group.rows.map((row) => (
              <NodeTile
                key={table.names[row]}
                run={run}
                table={table}
                row={row}
                version={version}
                prefix={prefix}
                onPoint={onPoint}
                verdict={selection === null ? null : verdictOf(selection, row)}
                picked={picked === table.names[row]}
                ringed={ringed === table.names[row]}
              />
            ))}
          </div>
        </section>
      ))}
    </div>
  );
}

/** `version` changes with every value of the table. */
export const GroupHead = memo(function GroupHead({
  table,
  group,
}: {
  table: NodeColumns;
  version: number;
  group: NodeGroup;
}) {
  return (
    <h3 className={classes.head}>
      <b className="clip" title={group.name}>
        {group.name}
      </b>
      <span className="num">{t("nNodes", { count: group.rows.length })}</span>
      <span className="grow" />
      {HEAD_RESOURCES.map((name) => {
        const resource = table.resourceIndex(name);
        return resource < 0 ? null : (
          <span key={name} className={`${classes.share} num`} title={t("requestsAgainstAllocatable", { name })}>
            {resourceLabel(name)} {percent(groupShare(table, group.rows, resource))} %
          </span>
        );
      })}
    </h3>
  );
});
