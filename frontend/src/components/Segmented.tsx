import { type ReactNode, useId } from "react";

import classes from "./Segmented.module.css";

interface SegmentedProps<T extends string> {
  label: string;
  value: T;
  options: readonly { value: T; label: ReactNode; title?: string; disabled?: boolean }[];
  onChange: (value: T) => void;
  size?: "md" | "sm";
  className?: string;
  disabled?: boolean;
}

/** One of a few: radio buttons underneath, so arrows and screen readers work as everywhere. */
export function Segmented<T extends string>({
  label,
  value,
  options,
  onChange,
  size = "sm",
  className,
  disabled,
}: SegmentedProps<T>) {
  const name = useId();
  return (
    <fieldset className={`${classes.group} ${className ?? ""}`} data-size={size}>
      <legend className="srOnly">{label}</legend>
      {options.map((option) => (
        <label key={option.value} className={classes.item} title={option.title}>
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            disabled={(disabled ?? false) || (option.disabled ?? false)}
            onChange={() => onChange(option.value)}
          />
          <span>{option.label}</span>
        </label>
      ))}
    </fieldset>
  );
}
