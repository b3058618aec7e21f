/** Empty, loading and failed: each says what is the case and what to do. The wording of each place is the caller's. */
import { type ReactNode } from "react";

import { Button } from "./Button";
import { Icon } from "./Icon";
import classes from "./Outcome.module.css";
import { t } from "./texts";

interface EmptyProps {
  children: ReactNode;
  action?: ReactNode;
  small?: boolean;
  /** It is all there is of the page. */
  alone?: boolean;
}

export function Empty({ children, action, small = false, alone = false }: EmptyProps) {
  const What = alone ? "h1" : "span";
  return (
    <div className={classes.outcome} {...(small ? { "data-small": "" } : {})}>
      <What>{children}</What>
      {action}
    </div>
  );
}

interface FailedProps {
  /** "Could not list clusters." */
  what: string;
  error?: { message: string } | null;
  retry?: () => void;
  retryLabel?: string;
  /** Another way out, beside trying again. */
  more?: ReactNode;
  small?: boolean;
  /** It is all there is of the page. */
  alone?: boolean;
}

export function Failed({
  what,
  error,
  retry,
  retryLabel = t("tryAgain"),
  more,
  small = false,
  alone = false,
}: FailedProps) {
  const What = alone ? "h1" : "span";
  return (
    <div className={classes.outcome} role="alert" {...(small ? { "data-small": "" } : {})}>
      <What className={classes.error}>
        <Icon name="warning" size={14} />
        {what}
      </What>
      {error ? <span>{error.message}</span> : null}
      {retry === undefined ? null : (
        <Button size="sm" onClick={retry}>
          {retryLabel}
        </Button>
      )}
      {more}
    </div>
  );
}

/** Outlines of what is to come, shown after 300 ms so that a quick answer never flickers. */
export function Outlines({ count, height, label }: { count: number; height: number; label: string }) {
  return (
    <div className={classes.lines} role="status" aria-busy="true">
      <span className="srOnly">{label}</span>
      {Array.from({ length: count }, (_, index) => (
        <span key={index} className={classes.line} style={{ height }} />
      ))}
    </div>
  );
}
