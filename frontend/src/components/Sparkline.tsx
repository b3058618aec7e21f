/** Values over time as a line of 0 to 100 percent; what is read of it is the last value, beside it in words. */
import classes from "./Sparkline.module.css";

interface SparklineProps {
  /** Oldest first. */
  values: readonly number[];
  /** What it shows, in words. */
  label: string;
  /** A dashed line, in percent. */
  target?: number;
}

const WIDTH = 144;
const HEIGHT = 42;

export function Sparkline({ values, label, target }: SparklineProps) {
  const at = (value: number) => (HEIGHT - 1 - ((HEIGHT - 2) * Math.min(100, Math.max(0, value))) / 100).toFixed(1);
  const step = WIDTH / Math.max(1, values.length - 1);
  const points = values.map((value, index) => `${(index * step).toFixed(1)},${at(value)}`).join(" ");
  return (
    <svg
      className={classes.line}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {target === undefined ? null : <path d={`M0 ${at(target)}H${WIDTH}`} className={classes.target} />}
      <polyline points={points} />
    </svg>
  );
}
