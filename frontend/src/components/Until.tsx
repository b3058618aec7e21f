/** When a run beside a real cluster is stopped by itself: said, and changed. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";

import { endAt, type Followed, followedQuery } from "@/api/clusters";
import { Button } from "@/components/Button";
import { Failed } from "@/components/Outcome";
import { Popover } from "@/components/Popover";
import { dayAndTime, exact, isoOfLocal, localMoment } from "@/format/time";

import { t } from "./texts";
import classes from "./Until.module.css";

const DAY = 24 * 3600 * 1000;

interface UntilProps {
  run: string;
  followed: Followed;
  /** When `followed` was told. */
  now: number;
  /** May change it: the run goes on, and whoever looks at it operates. */
  changes: boolean;
}

export function Until(props: UntilProps) {
  const { followed, now, changes } = props;
  const [open, setOpen] = useState(false);
  const { until } = followed;
  const words = until === null ? t("noEnd") : t("until", { time: dayAndTime(until, now) });
  if (!changes) return until === null ? null : <span className="faint">{words}</span>;
  return (
    <Popover
      label={t("whenItEnds")}
      open={open}
      onOpen={setOpen}
      className={classes.until}
      button={(opener) => (
        <Button {...opener} size="sm" kind="ghost" title={until === null ? t("endsWhenStopped") : exact(until)}>
          <span className="num">{words}</span>
        </Button>
      )}
    >
      <End {...props} onDone={() => setOpen(false)} />
    </Popover>
  );
}

function End({ run, followed: { until }, now, onDone }: UntilProps & { onDone: () => void }) {
  const id = useId();
  const [text, setText] = useState(localMoment(until ?? new Date(now + DAY).toISOString()));
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: (wanted: string | null) => endAt(run, wanted),
    onSuccess: (told) => {
      queries.setQueryData(followedQuery(run).queryKey, told);
      onDone();
    },
  });
  const wanted = isoOfLocal(text);
  const later = new Date(Math.max(now, until === null ? now : Date.parse(until)) + DAY).toISOString();
  return (
    <form
      className={classes.end}
      onSubmit={(event) => {
        event.preventDefault();
        if (wanted !== null && !change.isPending) change.mutate(wanted);
      }}
    >
      <p>{until === null ? t("endsWhenStopped") : t("endsByItself", { time: exact(until) })}</p>
      <label htmlFor={id}>{t("endsAt")}</label>
      <input
        id={id}
        type="datetime-local"
        step={1}
        value={text}
        disabled={change.isPending}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <div className={classes.buttons}>
        <Button kind="primary" type="submit" sends disabled={change.isPending || wanted === null}>
          {t("setTheEnd")}
        </Button>
        <Button sends disabled={change.isPending} onClick={() => change.mutate(later)}>
          {t("aDayLonger")}
        </Button>
        {until === null ? null : (
          <Button sends disabled={change.isPending} onClick={() => change.mutate(null)}>
            {t("withoutAnEnd")}
          </Button>
        )}
      </div>
      {change.error === null ? null : <Failed what={t("endNotSet")} error={change.error} small />}
    </form>
  );
}
