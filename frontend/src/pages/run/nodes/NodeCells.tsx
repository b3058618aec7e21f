/** More than 200 nodes: a cell per node on one canvas per group. Pointing at a cell, or the arrow keys, open the lens. */
import { useComputedColorScheme } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { memo, useEffect, useMemo, useRef, useState } from "react";

import { afterPicture } from "@/components/afterPicture";
import { Icon } from "@/components/Icon";
import { clauses } from "@/format/lists";
import { percent } from "@/format/number";
import type { NodeColumns } from "@/live/nodeColumns";

import { t } from "../texts";
import { cellAt, type CellLayout, cellLayout, drawAll, drawCells, type Drawing, paletteOf, pitchFor } from "./cells";
import classes from "./NodeCells.module.css";
import { groupShare, type NodeGroup } from "./nodeGroups";
import { Bars, nodeSentence } from "./NodeTile";
import { GroupHead, type NodeViewProps } from "./NodeTiles";
import { verdictOf } from "./selection";

const HEAD = 26;
const PADDING = 24;
const LENS = 150;

interface CellsProps extends NodeViewProps {
  height: number;
  /** The resource that fills the cells. */
  resource: number;
}

export function NodeCells(props: CellsProps) {
  const { table, groups, width, height, chosenState } = props;
  const beside = groups.length <= 4 && width >= 600;
  const each = beside ? Math.floor(width / Math.max(1, groups.length)) - PADDING : width - PADDING;
  const room = beside ? height - HEAD - 16 : height / Math.max(1, groups.length) - HEAD - 16;
  const pitch = useMemo(
    () =>
      pitchFor(
        groups.map((group) => group.rows.length),
        each,
        Math.max(80, room),
      ),
    [groups, each, room],
  );
  const scheme = useComputedColorScheme("light");
  const layouts = useMemo(
    () => groups.map((group) => cellLayout(group.rows.length, table.count, each, pitch)),
    [groups, table, each, pitch],
  );
  if (each <= 0) return null;
  return (
    <div className={`${classes.groups} ${chosenState === undefined ? "" : `st-${chosenState}`}`} data-beside={beside}>
      {groups.map((group, index) => {
        const layout = layouts[index];
        return layout === undefined ? null : (
          <Cells key={group.name} {...props} group={group} layout={layout} inside={each} scheme={scheme} />
        );
      })}
    </div>
  );
}

const Cells = memo(function Cells({
  run,
  table,
  version,
  group,
  layout,
  inside,
  scheme,
  selection,
  resource,
  picked,
  ringed,
  onPoint,
}: CellsProps & {
  group: NodeGroup;
  layout: CellLayout;
  inside: number;
  scheme: string;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawing = useRef<Drawing | null>(null);
  const [cell, setCell] = useState<number | null>(null);
  const navigate = useNavigate();
  const { columns, cells, per, pitch, height } = layout;

  // What the cells say of a selected pod follows the click with the picture after it; a new size or theme is drawn at once.
  const asked = useRef({ selection, resource });
  useEffect(() => {
    asked.current = { selection, resource };
    const current = drawing.current;
    if (current === null || (current.selection === selection && current.resource === resource)) return undefined;
    return afterPicture(() => {
      Object.assign(current, { selection, resource, palette: paletteOf(current.context.canvas) });
      drawAll(current);
    });
  }, [selection, resource]);

  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d") ?? null;
    if (element === null || context === null) return;
    const ratio = window.devicePixelRatio;
    element.width = Math.round(inside * ratio);
    element.height = Math.round(height * ratio);
    context.scale(ratio, ratio);
    drawing.current = { context, layout, rows: group.rows, table, ...asked.current, palette: paletteOf(element) };
    drawAll(drawing.current);
    // `scheme` stands for the palette, which is read from the page.
  }, [table, group, inside, layout, height, scheme]);

  // A delta: only the cells whose rows were written. The table keeps one set of dirty rows for all canvases, by version.
  useEffect(() => {
    const current = drawing.current;
    const dirty = table.dirtyAt(version);
    if (current === null || dirty.size === 0) return;
    const written = new Set<number>();
    group.rows.forEach((row, index) => {
      if (dirty.has(row)) written.add(Math.floor(index / current.layout.per));
    });
    drawCells(current, written);
  }, [table, group, version]);

  const rowOf = (at: number) => group.rows[at * per] ?? 0;
  const point = (at: number | null) => {
    setCell(at);
    onPoint(at === null ? null : (table.names[rowOf(at)] ?? null));
  };
  const open = (at: number) => {
    const name = table.names[rowOf(at)];
    void navigate({
      to: "/runs/$run",
      params: { run },
      search: (old) => ({ ...old, node: name === picked ? undefined : name }),
      replace: true,
      resetScroll: false,
    });
  };
  const share = percent(groupShare(table, group.rows, resource));
  const sentence = clauses([
    t("nodesOfRequested", {
      count: group.rows.length,
      name: group.name,
      share,
      resources: table.resources[resource] ?? "",
    }),
    ...(per > 1 ? [t("aCellStandsForNodes", { per })] : []),
  ]);
  const marked = cell ?? markedCell(table, group, per, ringed ?? picked);
  return (
    <section className={classes.group} aria-label={t("nameCountNodes", { count: group.rows.length, name: group.name })}>
      <GroupHead table={table} version={version} group={group} />
      <div className={classes.area} style={{ height, width: inside }}>
        {/* The canvas is a picture with a sentence; the slider below is its keyboard, and Table its twin. */}
        <canvas
          ref={canvas}
          // eslint-disable-next-line jsx-a11y/no-interactive-element-to-noninteractive-role -- it is a picture
          role="img"
          aria-label={sentence}
          style={{ width: inside, height }}
          onPointerMove={(event) => {
            const bounds = event.currentTarget.getBoundingClientRect();
            const at = cellAt(layout, event.clientX - bounds.left, event.clientY - bounds.top);
            if (at !== cell) point(at);
          }}
          onPointerLeave={() => point(null)}
          onPointerUp={(event) => {
            const bounds = event.currentTarget.getBoundingClientRect();
            const at = cellAt(layout, event.clientX - bounds.left, event.clientY - bounds.top);
            if (at !== null) open(at);
          }}
        />
        <input
          type="range"
          className={classes.cursor}
          min={0}
          max={Math.max(0, cells - 1)}
          value={cell ?? 0}
          aria-label={t("nodeOf", { name: group.name })}
          aria-valuetext={nodeSentence(
            table,
            rowOf(cell ?? 0),
            selection === null ? null : verdictOf(selection, rowOf(cell ?? 0)),
          )}
          onChange={(event) => point(Number(event.currentTarget.value))}
          onFocus={() => point(cell ?? 0)}
          onBlur={() => point(null)}
          onKeyDown={(event) => {
            const by = event.key === "ArrowDown" ? columns : event.key === "ArrowUp" ? -columns : 0;
            if (by !== 0) {
              event.preventDefault();
              point(Math.min(cells - 1, Math.max(0, (cell ?? 0) + by)));
            } else if (event.key === "Enter") open(cell ?? 0);
          }}
        />
        {marked === null ? null : <i className={classes.marker} style={markerStyle(marked, layout)} />}
        {cell === null ? null : (
          <Lens
            table={table}
            row={rowOf(cell)}
            group={group.name}
            per={per}
            x={(cell % columns) * pitch}
            y={Math.floor(cell / columns) * pitch}
            width={inside}
            height={height}
            reason={selection === null ? undefined : verdictOf(selection, rowOf(cell)).reason}
          />
        )}
      </div>
    </section>
  );
});

function markerStyle(marked: number, { columns, pitch }: CellLayout) {
  return {
    left: (marked % columns) * pitch - 1.5,
    top: Math.floor(marked / columns) * pitch - 1.5,
    width: pitch + 1.8,
    height: pitch + 1.8,
  };
}

function markedCell(table: NodeColumns, group: NodeGroup, per: number, name: string | null | undefined): number | null {
  if (name === null || name === undefined) return null;
  const row = table.names.indexOf(name);
  const index = row < 0 ? -1 : group.rows.indexOf(row);
  return index < 0 ? null : Math.floor(index / per);
}

interface LensProps {
  table: NodeColumns;
  row: number;
  group: string;
  per: number;
  x: number;
  y: number;
  width: number;
  height: number;
  reason: string | undefined;
}

/** The tile of the node that is pointed at. */
function Lens({ table, row, group, per, x, y, width, height, reason }: LensProps) {
  const pods = (table.bound[row] ?? 0) + (table.waiting[row] ?? 0) + (table.inFlight[row] ?? 0);
  const left = x + 18 + LENS > width ? x - LENS - 8 : x + 18;
  return (
    <div
      className={classes.lens}
      style={{ left: Math.max(0, left), top: Math.min(y + 14, Math.max(0, height - 128)), width: LENS }}
      aria-hidden="true"
    >
      <span className={classes.lensHead}>
        <b className="mono clip">{table.names[row]}</b>
        {table.cordoned.has(row) ? (
          <Icon name="cordon" size={11} />
        ) : table.tainted.has(row) ? (
          <Icon name="tag" size={11} />
        ) : null}
      </span>
      <span className="muted">
        {group} · {t("nPods", { count: pods })}
      </span>
      {per > 1 ? <span className="faint">{t("firstOfInThisCell", { per })}</span> : null}
      <Bars table={table} row={row} />
      {reason === undefined ? null : <span className={classes.reason}>{reason}</span>}
    </div>
  );
}
