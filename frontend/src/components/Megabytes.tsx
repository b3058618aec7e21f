/** How much is kept of a run beside a real cluster: asked where one begins, and changed on its page. */
import { useId } from "react";

import classes from "./Megabytes.module.css";
import { t } from "./texts";

export const LEAST = 1;
export const MOST = 100_000;

/** Null of what is no amount that the server takes. */
export function megabytesIn(text: string): number | null {
  const trimmed = text.trim();
  const value = Number(trimmed);
  return /^\d{1,6}$/.test(trimmed) && value >= LEAST && value <= MOST ? value : null;
}

interface MegabytesProps {
  text: string;
  onText: (text: string) => void;
  disabled?: boolean;
}

export function Megabytes({ text, onText, disabled = false }: MegabytesProps) {
  const id = useId();
  const isWrong = megabytesIn(text) === null;
  return (
    <div className={classes.field}>
      <label htmlFor={id}>{t("keepAtMost")}</label>
      <span>
        <input
          id={id}
          className="num"
          inputMode="numeric"
          value={text}
          disabled={disabled}
          aria-invalid={isWrong}
          aria-describedby={`${id}-help`}
          onChange={(event) => onText(event.currentTarget.value)}
        />{" "}
        MB
      </span>
      <p id={`${id}-help`} className={isWrong ? classes.wrong : "faint"} role={isWrong ? "alert" : undefined}>
        {isWrong ? t("megabytesPlease", { least: LEAST, most: MOST }) : t("thenItsOldestPartGoes")}
      </p>
    </div>
  );
}
