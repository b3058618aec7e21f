/** How much is kept of a run beside a real cluster, and how much at most: from three quarters on its oldest part goes. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { type Followed, followedQuery, keepAtMost } from "@/api/clusters";
import { Button } from "@/components/Button";
import { Megabytes, megabytesIn } from "@/components/Megabytes";
import { Failed } from "@/components/Outcome";
import { Popover } from "@/components/Popover";
import { bytes } from "@/format/number";
import { exact } from "@/format/time";
import { runOf } from "@/rewind/moment";

import { t } from "../texts";
import classes from "./Kept.module.css";

const MEGABYTE = 1_000_000;
/** Of the bound, as the server has it. */
const BEGINS = 0.75;

interface KeptProps {
  run: string;
  followed: Followed;
  /** May change it: the run goes on, and whoever looks at it operates. */
  changes: boolean;
}

export function Kept({ run, followed, changes }: KeptProps) {
  const [open, setOpen] = useState(false);
  const words = t("keptOf", { kept: bytes(followed.kept_bytes), most: bytes(followed.most_bytes) });
  return (
    <Popover
      label={t("whatIsKept")}
      open={open}
      onOpen={setOpen}
      className={classes.kept}
      button={(opener) => (
        <Button {...opener} size="sm" kind="ghost" title={t("whatIsKeptMeans")}>
          <span className="num">{words}</span>
        </Button>
      )}
    >
      <Bound run={run} followed={followed} changes={changes} onDone={() => setOpen(false)} />
    </Popover>
  );
}

function Bound({ run, followed, changes, onDone }: KeptProps & { onDone: () => void }) {
  const { kept_bytes: kept, most_bytes: most, measured_at: at } = followed;
  const [text, setText] = useState(String(Math.round(most / MEGABYTE)));
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: (megabytes: number) => keepAtMost(runOf(run), megabytes),
    onSuccess: (now) => {
      queries.setQueryData(followedQuery(runOf(run)).queryKey, now);
      onDone();
    },
  });
  const megabytes = megabytesIn(text);
  const wanted = megabytes === null ? most : megabytes * MEGABYTE;
  const loses = wanted < most && kept > BEGINS * wanted;
  return (
    <form
      className={classes.bound}
      onSubmit={(event) => {
        event.preventDefault();
        if (megabytes !== null && !change.isPending) change.mutate(megabytes);
      }}
    >
      <p>
        {at === null
          ? t("notMeasuredYet", { most: bytes(most) })
          : t("keptMeasured", { kept: bytes(kept), most: bytes(most), time: exact(at) })}
      </p>
      <meter min={0} max={most} high={BEGINS * most} value={Math.min(kept, most)} aria-label={t("whatIsKept")} />
      <p className="muted">{t("whatIsKeptMeans")}</p>
      {changes ? (
        <>
          <Megabytes text={text} onText={setText} disabled={change.isPending} />
          {loses ? (
            <p role="alert">
              <b>{t("itsOldestPartGoesSoon", { kept: bytes(kept), left: bytes(wanted / 2) })}</b>
            </p>
          ) : null}
          <Button
            kind={loses ? "danger" : "primary"}
            type="submit"
            sends
            disabled={change.isPending || megabytes === null || wanted === most}
          >
            {t("setTheBound")}
          </Button>
          {change.error === null ? null : <Failed what={t("boundNotSet")} error={change.error} small />}
        </>
      ) : null}
    </form>
  );
}
