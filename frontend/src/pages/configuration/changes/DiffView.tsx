import type { Diff } from "@/api/configurationTypes";
import { ScrollRegion } from "@/components/ScrollRegion";

import { t } from "../texts";
import classes from "./DiffView.module.css";

const SIGN = { equal: "", removed: "−", added: "+", folded: "" } as const;
const MARKS = {
  equal: "",
  get removed() {
    return t("lineRemoved");
  },
  get added() {
    return t("lineAdded");
  },
  folded: "",
} as const;

/** Lines that changed, with a few around them. */
export function DiffView({ diff, label }: { diff: Diff; label: string }) {
  if (diff.lines.length === 0) return <p className={classes.none}>{t("noLineDiffers")}</p>;
  return (
    <ScrollRegion className={classes.scroll} label={label}>
      <ol className={classes.diff}>
        {diff.lines.map((line, index) => (
          <li key={index} data-kind={line.kind}>
            {line.kind === "folded" ? (
              t("linesEqual", { count: line.count })
            ) : (
              <>
                <span className={classes.sign} aria-hidden="true">
                  {SIGN[line.kind]}
                </span>
                <code>
                  <span className="srOnly">{MARKS[line.kind]}</span>
                  {/^\s*/.exec(line.text)?.[0]}
                  <span>{line.text.trimStart()}</span>
                </code>
              </>
            )}
          </li>
        ))}
        {diff.cut ? <li data-kind="folded">{t("moreLinesDifferThanAre")}</li> : null}
      </ol>
    </ScrollRegion>
  );
}

export function DiffNumbers({ diff }: { diff: Diff }) {
  return (
    <>
      <span className={classes.number}>+{t("nLines", { count: diff.added })}</span>
      <span className={classes.number}>−{t("nLines", { count: diff.removed })}</span>
    </>
  );
}
