/** Where one's account is logged in: looked through, ended; logging out here; one's password. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { endOtherSessions, endSession, type Session, sessionsQuery } from "@/api/accounts";
import { useMe } from "@/api/useMe";
import { Button } from "@/components/Button";
import { Failed, Outlines } from "@/components/Outcome";
import { Page, Panel, PanelHeader } from "@/components/Panel";
import { clauses } from "@/format/lists";
import { exact } from "@/format/time";
import { useTitle } from "@/shell/useTitle";

import classes from "./Account.module.css";
import { AccountNav } from "./AccountNav";
import { browserOf } from "./browserOf";
import { PasswordPanel } from "./PasswordPanel";
import { t } from "./texts";

export function SessionsPage() {
  useTitle(t("sessions"));
  const { me } = useMe();
  return (
    <Page>
      <AccountNav />
      <header className={classes.head}>
        <h1>{t("sessions")}</h1>
        {me === undefined || me.role === "visitor" ? null : (
          <>
            <p className="muted grow">{t("signedInAs", { username: me.username, role: t(`role.${me.role}`) })}</p>
            <form method="post" action="/logout">
              <input type="hidden" name="csrfmiddlewaretoken" value={me.csrf_token} />
              <Button type="submit" size="sm" sends>
                {t("logOut")}
              </Button>
            </form>
          </>
        )}
      </header>
      <div className={classes.panels}>
        <Sessions />
        {me === undefined || me.role === "visitor" ? null : <PasswordPanel username={me.username} />}
      </div>
    </Page>
  );
}

function Sessions() {
  const queries = useQueryClient();
  const sessions = useQuery(sessionsQuery);
  const others = useMutation({
    mutationFn: endOtherSessions,
    onSuccess: () => queries.invalidateQueries({ queryKey: sessionsQuery.queryKey }),
  });
  const shown = sessions.data ?? [];
  return (
    <Panel aria-labelledby="sessions">
      <PanelHeader title={t("whereYouAre")} id="sessions">
        <span className="grow" />
        <Button
          size="sm"
          kind="danger"
          sends
          disabled={shown.length < 2 || others.isPending}
          onClick={() => others.mutate()}
        >
          {t("endOthers")}
        </Button>
      </PanelHeader>
      {others.error === null ? null : <Failed what={t("notEnded")} error={others.error} small />}
      {others.data === undefined ? null : (
        <p className={classes.said} role="status">
          {t("ended", { count: others.data.ended })}
        </p>
      )}
      {sessions.error === null ? null : (
        <Failed what={t("sessionsNotRead")} error={sessions.error} retry={() => void sessions.refetch()} small />
      )}
      {sessions.isPending ? <Outlines count={3} height={44} label={t("readingSessions")} /> : null}
      <ul className={classes.list}>
        {shown.map((session) => (
          <SessionRow key={session.id} session={session} />
        ))}
      </ul>
    </Panel>
  );
}

function SessionRow({ session }: { session: Session }) {
  const queries = useQueryClient();
  const ended = useMutation({
    mutationFn: () => endSession(session.id),
    // What is refused has mostly ended by itself.
    onSettled: () => queries.invalidateQueries({ queryKey: sessionsQuery.queryKey }),
  });
  const name = browserOf(session.agent) ?? t("unknownBrowser");
  const address = session.address === "" ? t("unknownAddress") : session.address;
  return (
    <li>
      <div>
        <b title={session.agent}>{name}</b> <span className="muted">{address}</span>{" "}
        {session.current ? <span className={classes.here}>{t("thisOne")}</span> : null}
        <p className="faint">
          {clauses([
            t("since", { at: exact(session.started_at) }),
            ...(session.how === "" ? [] : [t(`how.${session.how}`)]),
            t("seen", { at: exact(session.last_seen_at) }),
          ])}
        </p>
        {ended.error === null ? null : <Failed what={t("notEnded")} error={ended.error} small />}
      </div>
      {session.current ? null : (
        <Button
          size="sm"
          kind="danger"
          sends
          disabled={ended.isPending}
          aria-label={t("endNamed", { name, address })}
          onClick={() => ended.mutate()}
        >
          {t("end")}
        </Button>
      )}
    </li>
  );
}
