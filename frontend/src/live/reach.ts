/** Whether commands can be sent. Whoever may not, says why: nothing is sent to a server that is known not to answer. */
import { socket } from "./live";
import type { Connection } from "./socket";
import { t } from "./texts";

export function refusal(connection: Connection = socket.getConnection()): string | null {
  return connection.state === "reconnecting" || connection.state === "stale" ? t("notSentTheServerDoes") : null;
}

/** Calls once the server answers; at once if it does. */
export function whenReached(callback: () => void): void {
  if (refusal() === null) {
    callback();
    return;
  }
  const forget = socket.watch(() => {
    if (refusal() !== null) return;
    forget();
    callback();
  });
}
