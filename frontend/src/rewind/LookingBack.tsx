/** Said on every page that shows a run as it was, with the two ways on. */
import { useIsFetching, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Suspense } from "react";

import { runQuery, timelineQuery } from "@/api/queries";
import { useMe } from "@/api/useMe";
import { Button } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { count } from "@/format/number";
import { later } from "@/parts/later";

import classes from "./LookingBack.module.css";
import { runAt } from "./moment";
import { rich, t } from "./texts";
import { useFork } from "./useFork";

const ForkDialog = later(() => import("./ForkDialog"));

export function LookingBack({ runKey }: { runKey: string }) {
  const { run, at } = runAt(runKey);
  const { operates, visits } = useMe();
  const { data: whose } = useQuery({ ...runQuery(run), enabled: at !== null && !visits });
  const { busy, fork, asked, forget } = useFork(runKey, whose?.follows ?? "");
  // What the run was there is worked out when somebody looks; until it is, the page may still show something else.
  const reading =
    useIsFetching({
      predicate: ({ queryKey, state }) => queryKey[0] === "run" && queryKey[1] === runKey && state.status === "pending",
    }) > 0;
  const timeline = useQuery({ ...timelineQuery(run), enabled: at !== null });
  if (at === null) return null;
  const isGone = timeline.data !== undefined && at < timeline.data.first;
  return (
    <div className={classes.banner} role="status" aria-busy={reading}>
      <Icon name="backoff" size={14} />
      <span>
        {reading
          ? rich("readingStep", { at: <b className="num">{count(at)}</b> })
          : timeline.data === undefined
            ? rich("youLookAt", { at: <b className="num">{count(at)}</b> })
            : isGone
              ? rich("lookGone", { at: <b className="num">{count(at)}</b>, first: count(timeline.data.first) })
              : rich("youLookAtOf", {
                  at: <b className="num">{count(at)}</b>,
                  last: <span className="num">{count(timeline.data.last)}</span>,
                })}
        <span className="hidePhone">{t("commandsAreHeld")}</span>
      </span>
      <Link
        to="/runs/$run"
        params={{ run }}
        search={(old: Record<string, unknown>) => ({ ...old, at: undefined })}
        className="leads"
      >
        {t("backToNow")}
      </Link>
      {visits || isGone ? null : (
        <Button
          size="sm"
          sends
          disabled={!operates || busy}
          title={operates ? t("aNewRunThatBegins") : t("yourRoleCanLookBut")}
          onClick={() => fork()}
        >
          {busy ? t("makingAFork") : t("continueFromHereOnA")}
        </Button>
      )}
      <Suspense fallback={null}>
        {asked === null ? null : (
          <ForkDialog run={run} cluster={whose?.follows ?? ""} step={asked.step} onClose={forget} />
        )}
      </Suspense>
    </div>
  );
}
