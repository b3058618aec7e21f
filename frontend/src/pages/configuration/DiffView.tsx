import type { Diff } from "@/api/configurationTypes";
import { counted } from "@/format/number";

import classes from "./DiffView.module.css";

const SIGN = { equal: "", removed: "−", added: "+", folded: "" } as const;
const SAID = { equal: "", removed: "removed: ", added: "added: ", folded: "" } as const;

/** Lines that changed, with a few around them. */
export function DiffView({ diff, label }: { diff: Diff; label: string }) {
  if (diff.lines.length === 0) return <p className={classes.none}>No line differs.</p>;
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- long lines scroll sideways, so the keyboard must get there
    <div className={classes.scroll} tabIndex={0} role="region" aria-label={label}>
      <ol className={classes.diff}>
        {diff.lines.map((line, index) => (
          <li key={index} data-kind={line.kind}>
            {line.kind === "folded" ? `${counted(line.count, "line")} equal` : (
              <>
                <span className={classes.sign} aria-hidden="true">{SIGN[line.kind]}</span>
                <code><span className="srOnly">{SAID[line.kind]}</span>{/^\s*/.exec(line.text)?.[0]}<span>{line.text.trimStart()}</span></code>
              </>
            )}
          </li>
        ))}
        {diff.cut ? <li data-kind="folded">more lines differ than are listed here</li> : null}
      </ol>
    </div>
  );
}

export function DiffNumbers({ diff }: { diff: Diff }) {
  return (
    <>
      <span className={classes.number}>+{counted(diff.added, "line")}</span>
      <span className={classes.number}>−{counted(diff.removed, "line")}</span>
    </>
  );
}
