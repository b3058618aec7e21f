/** In place of what plays a run: the real cluster that it follows, how far that is read, and the way to end it. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { type Followed, followedQuery } from "@/api/clusters";
import type { Run } from "@/api/types";
import { useMe } from "@/api/useMe";
import { Button } from "@/components/Button";
import { Until } from "@/components/Until";
import { both } from "@/format/lists";
import { exact, seconds } from "@/format/time";
import { runOf } from "@/rewind/moment";

import { t } from "../texts";
import type { Commander } from "../useCommand";
import classes from "./Following.module.css";
import { Kept } from "./Kept";

export function followingText(followed: Followed): string {
  const since = followed.since === null ? "" : exact(followed.since);
  switch (followed.state) {
    case "live":
      return followed.behind === null ? t("followLive") : t("followLiveBehind", { seconds: seconds(followed.behind) });
    case "partly":
      return t("followPartly", { kinds: both(followed.refused) });
    case "catching_up":
      return t("followCatchingUp", { done: followed.kinds_done, of: followed.kinds_of });
    case "stale":
      return t("followStale", { since });
    case "refused":
      return t("followRefused", { since });
    case "failed":
      return t("followFailed", { since });
    case "ended":
      return since === "" ? t("followEnded") : t("followEndedSince", { since });
    default:
      return t("followWaiting");
  }
}

function whatItDoes({ follows: context, schedules, own_world: own }: Run): string {
  if (schedules) return t("schedules", { context });
  return own ? t("besideCluster", { context }) : t("follows", { context });
}

export function Following({ run, commander, operates }: { run: Run; commander: Commander; operates: boolean }) {
  const { visits } = useMe();
  const followed = useQuery({ ...followedQuery(runOf(run.id)), enabled: !visits });
  const { data } = followed;
  // Of a run that schedules the band says how it ended.
  const isOver = run.schedules && data?.state === "ended";
  const words = isOver ? "" : data === undefined ? t("followWaiting") : followingText(data);
  return (
    <div className={classes.strip} data-state={data?.state ?? "waiting"}>
      <p className="clip" title={data?.problem === "" ? words : `${words}\n${data?.problem ?? ""}`} role="status">
        <i aria-hidden="true" />
        <b>{whatItDoes(run)}</b> <span>{words}</span>
      </p>
      {data?.shadow === true ? (
        <Link to="/runs/$run/shadow" params={{ run: runOf(run.id) }} className="leads">
          {t("shadowOfIt")}
        </Link>
      ) : null}
      {data === undefined || data.problem === "" ? null : <p className="faint clip">{data.problem}</p>}
      {data === undefined || run.moment !== null ? null : (
        <Kept run={run.id} followed={data} changes={operates && run.state !== "stopped"} />
      )}
      {data === undefined || run.schedules || run.state === "stopped" || run.moment !== null ? null : data.shadow ||
        data.until !== null ? (
        <Until run={runOf(run.id)} followed={data} now={followed.dataUpdatedAt} changes={operates} />
      ) : null}
      {run.thinned === null ? null : (
        <p className="faint clip" title={run.thinned.text}>
          {t("keptSince", { time: exact(run.thinned.at) })}
        </p>
      )}
      {run.schedules || run.state === "stopped" || run.moment !== null ? null : (
        <Button
          size="sm"
          sends
          disabled={!operates}
          title={operates ? t("whatStopFollowingDoes") : t("yourRoleCannotChange")}
          onClick={() => void commander.send({ type: "stop" })}
        >
          {t("stopFollowing")}
        </Button>
      )}
    </div>
  );
}
