/** The order at one extension point: by buttons, Alt with arrows, or dragging. Fetched with the first look at an order. */
import {
  closestCenter,
  DndContext,
  type DragEndEvent,
  KeyboardSensor,
  PointerSensor,
  useSensor,
  useSensors,
} from "@dnd-kit/core";
import {
  SortableContext,
  sortableKeyboardCoordinates,
  useSortable,
  verticalListSortingStrategy,
} from "@dnd-kit/sortable";
import { CSS } from "@dnd-kit/utilities";

import type { EffectiveProfile } from "@/api/configurationTypes";
import { IconButton } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { Panel } from "@/components/Panel";

import { useEditing } from "../draft/editing";
import { POINTS, QUEUE_SORT, written } from "../points";
import { t } from "../texts";
import { disabledWord } from "../words";
import classes from "./Panels.module.css";

type PointPlugin = NonNullable<EffectiveProfile["points"][string]>[number];

export default function PointPanel({ point }: { point: string }) {
  const { shown, profile, readOnly, edit, select, selectPoint, state } = useEditing();
  const sensors = useSensors(
    useSensor(PointerSensor, { activationConstraint: { distance: 4 } }),
    useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }),
  );
  const all = shown.points[point] ?? [];
  const running = all.filter((plugin) => plugin.state !== "disabled");
  const off = all.filter((plugin) => plugin.state === "disabled");
  const names = running.map((plugin) => plugin.name);
  const move = (name: string, to: number) => {
    if (to >= 0 && to < names.length) edit({ type: "movePlugin", profile, point: written(point), name, to });
  };
  const onDragEnd = ({ active, over }: DragEndEvent) => {
    if (over !== null && over.id !== active.id) move(String(active.id), names.indexOf(String(over.id)));
  };
  const fixed = readOnly || point === QUEUE_SORT || running.length < 2;
  return (
    <Panel className={classes.panel ?? ""} aria-labelledby="point-name">
      <header className={classes.head}>
        <h2 id="point-name">{point}</h2>
        <span className="grow" />
        <IconButton icon="close" iconSize={14} label={t("closeEsc")} onClick={() => selectPoint(undefined)} />
      </header>
      <p className={classes.says}>
        {POINTS.find((one) => one.name === point)?.says ?? t("anExtensionPointOfFeatures")}
      </p>
      <h3>
        {t("order")} <span className="faint">{running.length === 0 ? t("noPluginRunsHere") : t("firstToLast")}</span>
      </h3>
      <DndContext sensors={sensors} collisionDetection={closestCenter} onDragEnd={onDragEnd}>
        <SortableContext items={names} strategy={verticalListSortingStrategy} disabled={fixed}>
          <ol className={classes.order} aria-busy={state.busy}>
            {running.map((plugin, index) => (
              <Item
                key={plugin.name}
                plugin={plugin}
                index={index}
                last={index === running.length - 1}
                fixed={fixed}
                onMove={(to) => move(plugin.name, to)}
                onOpen={() => select(plugin.name)}
              />
            ))}
          </ol>
        </SortableContext>
      </DndContext>
      {off.length === 0 ? null : (
        <>
          <h3>{t("offHere")}</h3>
          <ul className={classes.order}>
            {off.map((plugin) => (
              <li key={plugin.name}>
                <button type="button" className={classes.open} onClick={() => select(plugin.name)}>
                  {plugin.name}
                </button>
                <span className="grow" />
                <span className="faint">{disabledWord(plugin.origin)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </Panel>
  );
}

interface ItemProps {
  plugin: PointPlugin;
  index: number;
  last: boolean;
  fixed: boolean;
  onMove: (to: number) => void;
  onOpen: () => void;
}

function Item({ plugin, index, last, fixed, onMove, onOpen }: ItemProps) {
  const { setNodeRef, transform, transition, isDragging, attributes, listeners } = useSortable({ id: plugin.name });
  return (
    <li
      ref={setNodeRef}
      style={{ transform: CSS.Translate.toString(transform), transition }}
      {...(isDragging ? { "data-dragging": "" } : {})}
    >
      {fixed ? null : (
        <button
          type="button"
          className={classes.grip}
          {...attributes}
          {...listeners}
          aria-label={t("moveName", { name: plugin.name })}
          title={t("dragToMove")}
        >
          <Icon name="drag" size={12} />
        </button>
      )}
      <span className="faint num">{index + 1}</span>
      <button
        type="button"
        className={classes.open}
        title={plugin.name}
        onClick={onOpen}
        onKeyDown={(event) => {
          if (!event.altKey || fixed || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
          event.preventDefault();
          onMove(index + (event.key === "ArrowUp" ? -1 : 1));
        }}
      >
        {plugin.name}
      </button>
      {plugin.state === "added" ? (
        <span className="faint">{t("added")}</span>
      ) : plugin.origin === "moved" ? (
        <span className="faint">{t("moved")}</span>
      ) : null}
      <span className="grow" />
      {plugin.weight === null ? null : <b className="num">{plugin.weight}</b>}
      {fixed ? null : (
        <>
          <IconButton
            icon="chevronUp"
            iconSize={13}
            label={t("moveUpAlt", { name: plugin.name })}
            disabled={index === 0}
            onClick={() => onMove(index - 1)}
          />
          <IconButton
            icon="chevronDown"
            iconSize={13}
            label={t("moveDownAlt", { name: plugin.name })}
            disabled={last}
            onClick={() => onMove(index + 1)}
          />
        </>
      )}
    </li>
  );
}
