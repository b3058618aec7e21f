/** One's own password: another one for the one that is asked, and all other sessions end. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { changePassword, passwordQuery, sessionsQuery } from "@/api/accounts";
import { Button } from "@/components/Button";
import drawer from "@/components/Drawer.module.css";
import { Failed, Outlines } from "@/components/Outcome";
import { Panel, PanelHeader } from "@/components/Panel";
import secret from "@/exchange/Secret.module.css";
import { socket } from "@/live/live";

import classes from "./Account.module.css";
import { t } from "./texts";

export function PasswordPanel({ username }: { username: string }) {
  const password = useQuery(passwordQuery);
  return (
    <Panel aria-labelledby="password">
      <PanelHeader title={t("password")} id="password" />
      {password.isPending ? <Outlines count={1} height={44} label={t("readingPassword")} /> : null}
      {password.error === null ? null : (
        <Failed what={t("passwordNotRead")} error={password.error} retry={() => void password.refetch()} small />
      )}
      {password.data === undefined ? null : password.data.refused === "" ? (
        <PasswordForm username={username} asksOld={password.data.asks_old} />
      ) : (
        <p className={classes.alone}>{password.data.refused}</p>
      )}
    </Panel>
  );
}

function PasswordForm({ username, asksOld }: { username: string; asksOld: boolean }) {
  const queries = useQueryClient();
  const [before, setBefore] = useState("");
  const [after, setAfter] = useState("");
  const [shown, setShown] = useState(false);
  const changed = useMutation({
    mutationFn: () => changePassword({ old: before, new: after }),
    onSuccess: () => {
      setBefore("");
      setAfter("");
      setShown(false);
      socket.reopen();
      void queries.invalidateQueries({ queryKey: passwordQuery.queryKey });
      return queries.invalidateQueries({ queryKey: sessionsQuery.queryKey });
    },
  });
  const type = shown ? "text" : "password";
  return (
    <form
      className={`${classes.form ?? ""} ${classes.password ?? ""}`}
      onSubmit={(event) => {
        event.preventDefault();
        changed.mutate();
      }}
    >
      <p className="muted">{t("whatItEnds")}</p>
      {/* Password managers want to know whose it is. */}
      <input type="text" name="username" autoComplete="username" value={username} readOnly hidden />
      {asksOld ? (
        <label className={secret.field}>
          {t("passwordNow")}
          <input
            className={drawer.field}
            type={type}
            value={before}
            autoComplete="current-password"
            required
            onChange={(event) => setBefore(event.currentTarget.value)}
          />
        </label>
      ) : null}
      <label className={secret.field}>
        {t("passwordNew")}
        <input
          className={drawer.field}
          type={type}
          value={after}
          autoComplete="new-password"
          required
          onChange={(event) => setAfter(event.currentTarget.value)}
        />
      </label>
      <label className={classes.shows}>
        <input type="checkbox" checked={shown} onChange={(event) => setShown(event.currentTarget.checked)} />
        {t("show")}
      </label>
      <Button
        type="submit"
        kind="primary"
        sends
        disabled={(asksOld && before === "") || after === "" || changed.isPending}
      >
        {asksOld ? t("changePassword") : t("setPassword")}
      </Button>
      {changed.error === null ? null : <Failed what={t("passwordNotChanged")} error={changed.error} small />}
      {changed.data === undefined ? null : (
        <p role="status">
          {t("passwordChanged")}{" "}
          {changed.data.ended === 0 ? t("noOthers") : t("othersEnded", { count: changed.data.ended })}
        </p>
      )}
    </form>
  );
}
