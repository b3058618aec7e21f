import { useEffect, useRef } from "react";

import classes from "./Mark.module.css";

interface MarkProps {
  label: string;
  state: "on" | "off" | "some";
  onChange: (on: boolean) => void;
}

/** A real checkbox under our square. */
export function Mark({ label, state, onChange }: MarkProps) {
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (box.current !== null) box.current.indeterminate = state === "some";
  }, [state]);
  return (
    <label className={classes.mark}>
      <input
        ref={box}
        type="checkbox"
        aria-label={label}
        checked={state === "on"}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
    </label>
  );
}
