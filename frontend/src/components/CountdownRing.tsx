import classes from "./CountdownRing.module.css";

interface RingProps {
  /** 1 = all the time is left, 0 = none. */
  share: number;
  size?: number;
  stroke?: number;
  /** Any colour of tokens.css. */
  color?: string;
  label?: string;
}

/** Decoration: the time left is always written beside or inside it, and never announced. */
export function CountdownRing({
  share,
  size = 16,
  stroke = 2.4,
  color = "var(--m, var(--st-permit))",
  label,
}: RingProps) {
  const radius = (size - stroke) / 2;
  const around = 2 * Math.PI * radius;
  const filled = around * Math.min(1, Math.max(0, share));
  const middle = size / 2;
  return (
    <span className={classes.ring} style={{ width: size, height: size }} aria-hidden="true">
      <svg width={size} height={size} viewBox={`0 0 ${size} ${size}`} fill="none" strokeWidth={stroke}>
        <circle cx={middle} cy={middle} r={radius} stroke="var(--c-border-strong)" />
        <circle cx={middle} cy={middle} r={radius} stroke={color} strokeDasharray={`${filled} ${around}`} />
      </svg>
      {label === undefined ? null : <b>{label}</b>}
    </span>
  );
}
