/** A box to tick, with what follows from it beneath its words. */
import { useId } from "react";

import classes from "./CheckWithHelp.module.css";

interface CheckWithHelpProps {
  label: string;
  help: string;
  checked: boolean;
  onChecked: (checked: boolean) => void;
  disabled?: boolean;
}

export function CheckWithHelp({ label, help, checked, onChecked, disabled = false }: CheckWithHelpProps) {
  const id = useId();
  return (
    <div className={classes.check}>
      <input
        id={id}
        type="checkbox"
        checked={checked}
        disabled={disabled}
        aria-describedby={`${id}-help`}
        onChange={(event) => onChecked(event.currentTarget.checked)}
      />
      <div>
        <label htmlFor={id}>{label}</label>
        <p id={`${id}-help`}>{help}</p>
      </div>
    </div>
  );
}
