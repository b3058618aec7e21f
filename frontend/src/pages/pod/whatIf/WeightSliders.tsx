import { Button } from "@/components/Button";
import { count } from "@/format/number";

import type { PluginLook } from "../score/pluginColours";
import { MAX_WEIGHT, type Matrix, type MatrixPlugin, OFF, type Weights, weightOf, withWeight } from "./ranking";
import { t } from "./texts";
import classes from "./WhatIf.module.css";

interface WeightSlidersProps {
  matrix: Matrix;
  looks: readonly PluginLook[];
  weights: Weights;
  onChange: (weights: Weights) => void;
  /** Null when nothing is changed. */
  onReset: (() => void) | null;
}

/** What weights are mostly taken from; the field beside the slider takes any. */
const USUAL = 20;

export function WeightSliders({ matrix, looks, weights, onChange, onReset }: WeightSlidersProps) {
  return (
    <>
      <div className={classes.title}>
        <h4>{t("weights")}</h4>
        <span className="grow" />
        <Button size="sm" kind="ghost" disabled={onReset === null} onClick={() => onReset?.()}>
          {t("reset")}
        </Button>
      </div>
      <ul className={classes.sliders}>
        {looks.map((look) => {
          const plugin = matrix.plugins[look.cell];
          return plugin === undefined ? null : (
            <Slider
              key={look.name}
              look={look}
              plugin={plugin}
              weight={weightOf(plugin, weights)}
              onChange={(weight) => onChange(withWeight(weights, plugin, weight))}
            />
          );
        })}
      </ul>
    </>
  );
}

function Slider({
  look,
  plugin,
  weight,
  onChange,
}: {
  look: PluginLook;
  plugin: MatrixPlugin;
  weight: number;
  onChange: (weight: number) => void;
}) {
  const isOff = weight === OFF;
  const shown = isOff ? plugin.weight : weight;
  const changed = weight !== plugin.weight;
  const note = [
    plugin.normalized === null ? t("skipped") : look.equalForAll ? t("equalForAll") : "",
    changed ? t("was", { weight: count(plugin.weight) }) : "",
  ]
    .filter(Boolean)
    .join(" · ");
  const set = (text: string) => {
    const value = Math.round(Number(text));
    if (Number.isFinite(value) && value >= 1 && value <= MAX_WEIGHT) onChange(value);
  };
  return (
    <li data-off={isOff || undefined}>
      <label className={classes.plugin}>
        <input
          type="checkbox"
          checked={!isOff}
          onChange={() => onChange(isOff ? plugin.weight : OFF)}
          aria-label={t("scores", { plugin: plugin.name })}
        />
        <i style={{ background: `var(--pl-${look.colour})` }} data-hatched={look.hatched || undefined} />
        <span title={plugin.name}>{plugin.name}</span>
      </label>
      <input
        type="range"
        min={1}
        max={Math.max(USUAL, plugin.weight * 2, shown)}
        step={1}
        value={shown}
        disabled={isOff}
        aria-label={t("weightOf", { plugin: plugin.name })}
        aria-valuetext={t("times", { weight: count(shown) })}
        onChange={(event) => set(event.currentTarget.value)}
      />
      <input
        type="number"
        className="num"
        min={1}
        max={MAX_WEIGHT}
        value={shown}
        disabled={isOff}
        aria-label={t("weightOf", { plugin: plugin.name })}
        onChange={(event) => set(event.currentTarget.value)}
      />
      {note === "" ? null : <em>{isOff ? t("off") : note}</em>}
    </li>
  );
}
