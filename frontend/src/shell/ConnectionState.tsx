import { useTick } from "@/components/useTick";
import { wallTime } from "@/format/time";
import { socket } from "@/live/live";
import { useConnection } from "@/live/useLive";

import classes from "./ConnectionState.module.css";
import { t } from "./texts";

/** Always visible: connected, reconnecting, or stale since when. */
export function ConnectionState() {
  const connection = useConnection();
  const waiting = connection.state === "reconnecting" || connection.state === "stale";
  const now = useTick(waiting);
  if (connection.state === "live") {
    return (
      <Line state="live" title={t("liveUpdatesConnectedSince", { wallTime: wallTime(connection.lastMessageAt) })}>
        {t("live")}
      </Line>
    );
  }
  if (connection.state === "connecting")
    return (
      <Line state="retry" title={t("liveUpdatesAreBeingOpened")}>
        {t("connecting")}
      </Line>
    );
  const seconds = Math.max(0, Math.ceil((connection.retryAt - now) / 1000));
  if (connection.state === "reconnecting") {
    return (
      <Line state="retry" title={t("pressToTryNow")} onClick={() => socket.retryNow()}>
        {t("reconnectingTry", { attempt: connection.attempt })} <span aria-hidden="true">{t("inS", { seconds })}</span>
      </Line>
    );
  }
  return (
    <Line state="stale" title={t("whatYouSeeMayBe")} onClick={() => socket.retryNow()}>
      {t("staleSince", { wallTime: wallTime(connection.since) })}
    </Line>
  );
}

interface LineProps {
  state: "live" | "retry" | "stale";
  title: string;
  children: React.ReactNode;
  onClick?: () => void;
}

function Line({ state, title, children, onClick }: LineProps) {
  const inside = (
    <>
      <span className={classes.dot} />
      <span>{children}</span>
    </>
  );
  return (
    <span role="status" className={classes.wrap}>
      {onClick === undefined ? (
        <span className={classes.line} data-state={state} title={title}>
          {inside}
        </span>
      ) : (
        <button type="button" className={classes.line} data-state={state} title={title} onClick={onClick}>
          {inside}
        </button>
      )}
    </span>
  );
}
