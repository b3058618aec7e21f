/** Why nobody plays the run: what was seen of its engine, what it keeps, and trying again. */
import type { Run } from "@/api/types";
import { Button } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { ScrollRegion } from "@/components/ScrollRegion";
import { exact } from "@/format/time";

import { t } from "../texts";
import classes from "./Parked.module.css";

interface ParkedProps {
  run: Run;
  parked: NonNullable<Run["parked"]>;
  onTryAgain: (() => void) | null;
}

export function Parked({ run, parked, onTryAgain }: ParkedProps) {
  return (
    <ScrollRegion className={classes.parked} label={t("whatWasSeen")}>
      <p className={classes.why}>
        <Icon name="warning" size={14} />
        {run.error}
      </p>
      <dl className={classes.facts}>
        {parked.ended === "" ? null : (
          <>
            <dt>{t("parkedEnding")}</dt>
            <dd>{parked.ended}</dd>
          </>
        )}
        {parked.at === null ? null : (
          <>
            <dt>{t("parkedWhen")}</dt>
            <dd className="num">
              {t("parkedAt", { when: exact(parked.at), cycle: run.attempts, step: run.position })}
            </dd>
          </>
        )}
        <dt>{t("parkedKept")}</dt>
        <dd>{parked.kept === 0 ? t("parkedKeptNone") : t("parkedKeptMany", { count: parked.kept })}</dd>
      </dl>
      {parked.lines === "" ? null : (
        <>
          <h3 className="faint">{t("parkedLines")}</h3>
          <pre className={classes.lines}>{parked.lines}</pre>
        </>
      )}
      <p className="faint">{t("parkedAdvice")}</p>
      {onTryAgain === null ? null : (
        <Button kind="primary" size="sm" sends className={classes.again} onClick={onTryAgain}>
          {t("tryAgain")}
        </Button>
      )}
    </ScrollRegion>
  );
}
