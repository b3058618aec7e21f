import { percent } from "@/format/number";

import classes from "./NodeBars.module.css";
import { t } from "./texts";

const FULL = 0.94;
const BARS_UP_TO = 72;
const CELL_ROWS = 5;
const CELL_COLUMNS = 60;

interface NodeBarsProps {
  bars: readonly { zone: string; values: number[] }[];
}

/** A cluster at a glance: cpu requests against allocatable, one bar per node, or cells when there are too many for bars. */
export function NodeBars({ bars }: NodeBarsProps) {
  const nodes = bars.reduce((sum, zone) => sum + zone.values.length, 0);
  if (nodes === 0) return <div className={classes.viz} />;
  const mean = bars.reduce((sum, zone) => sum + zone.values.reduce((part, value) => part + value, 0), 0) / nodes;
  const label = t("cpuRequestsAgainstAllocatableNodes", { nodes, bars: bars.length, mean: percent(mean) });
  return (
    <div className={classes.viz} role="img" aria-label={label} title={label}>
      {nodes <= BARS_UP_TO ? (
        bars.map((zone) => (
          <div key={zone.zone} className={classes.zone} style={{ flex: zone.values.length }}>
            {zone.values.map((value, index) => (
              <i key={index}>
                <b data-full={value >= FULL} style={{ height: `${Math.min(100, value * 100)}%` }} />
              </i>
            ))}
          </div>
        ))
      ) : (
        <Cells values={bars.flatMap((zone) => zone.values)} />
      )}
    </div>
  );
}

function Cells({ values }: { values: readonly number[] }) {
  const cells = Math.min(values.length, CELL_ROWS * CELL_COLUMNS);
  const columns = Math.ceil(cells / CELL_ROWS);
  const per = values.length / cells;
  return (
    <svg width="100%" height="34" viewBox={`0 0 ${columns * 7} 34`} preserveAspectRatio="none">
      {Array.from({ length: cells }, (_, index) => {
        const part = values.slice(
          Math.floor(index * per),
          Math.max(Math.floor(index * per) + 1, Math.floor((index + 1) * per)),
        );
        const worst = Math.max(...part);
        return (
          <rect
            key={index}
            x={Math.floor(index / CELL_ROWS) * 7}
            y={(index % CELL_ROWS) * 7}
            width="5.6"
            height="5.6"
            rx="1"
            fill={worst >= FULL ? "var(--c-bar-full)" : "var(--c-bar)"}
            fillOpacity={worst >= FULL ? 1 : 0.25 + 0.7 * worst}
          />
        );
      })}
    </svg>
  );
}
