import { useTick } from "@/components/useTick";
import { wallTime } from "@/format/time";
import { socket } from "@/live/live";
import { useConnection } from "@/live/useLive";

import classes from "./ConnectionState.module.css";

/** Always visible: connected, reconnecting, or stale since when. */
export function ConnectionState() {
  const connection = useConnection();
  const waiting = connection.state === "reconnecting" || connection.state === "stale";
  const now = useTick(waiting);
  if (connection.state === "live") {
    return <Line state="live" title={`Live updates. Connected since ${wallTime(connection.lastMessageAt)}`}>Live</Line>;
  }
  if (connection.state === "connecting") return <Line state="retry" title="Live updates are being opened">Connecting</Line>;
  const seconds = Math.max(0, Math.ceil((connection.retryAt - now) / 1000));
  if (connection.state === "reconnecting") {
    return (
      <Line state="retry" title="Press to try now" onClick={() => socket.retryNow()}>
        Reconnecting, try {connection.attempt} <span aria-hidden="true">in {seconds} s</span>
      </Line>
    );
  }
  return (
    <Line state="stale" title="What you see may be old; decisions are held until we are back. Press to try now."
      onClick={() => socket.retryNow()}>
      Stale since {wallTime(connection.since)}
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
  const inside = <><span className={classes.dot} /><span>{children}</span></>;
  return (
    <span role="status" className={classes.wrap}>
      {onClick === undefined
        ? <span className={classes.line} data-state={state} title={title}>{inside}</span>
        : <button type="button" className={classes.line} data-state={state} title={title} onClick={onClick}>{inside}</button>}
    </span>
  );
}
