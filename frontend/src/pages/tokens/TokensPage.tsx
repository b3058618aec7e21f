/** Bearer tokens of who is signed in: made and shown once, listed with their last use, revoked. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { ACCOUNT_ROLES } from "@/api/accounts";
import { runsQuery } from "@/api/queries";
import { createToken, revokeToken, type Token, type TokenRole, tokensQuery } from "@/api/tokens";
import { useMe } from "@/api/useMe";
import { Button } from "@/components/Button";
import drawer from "@/components/Drawer.module.css";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Page, Panel, PanelHeader } from "@/components/Panel";
import { endOf, type Lifetime, LifetimeField, ShownOnce } from "@/exchange/Secret";
import secret from "@/exchange/Secret.module.css";
import { exact } from "@/format/time";
import { AccountNav } from "@/pages/account/AccountNav";
import { useTitle } from "@/shell/useTitle";

import { rich, t } from "./texts";
import classes from "./TokensPage.module.css";

const OFFERED = ["inAWeek", "inAMonth", "inAYear", "never"] as const;
const AS_OWNER = "";
const EVERYTHING = "";
/** Runs that a token may be for: the newest. */
const OFFERED_RUNS = 50;

export function TokensPage() {
  useTitle(t("title"));
  const { me } = useMe();
  return (
    <Page>
      <AccountNav />
      <header className={classes.head}>
        <h1>{t("title")}</h1>
        <p className="muted">
          {me === undefined || me.role === "visitor" ? null : t("whatATokenIs", { username: me.username })}
        </p>
      </header>
      <div className={classes.panels}>
        <Panel aria-labelledby="new">
          <PanelHeader title={t("another")} id="new" />
          <NewToken />
        </Panel>
        <Panel aria-labelledby="yours">
          <PanelHeader title={t("yours")} id="yours" />
          <Tokens />
        </Panel>
        <Panel aria-labelledby="use">
          <PanelHeader title={t("use")} id="use" />
          <Use />
        </Panel>
      </div>
    </Page>
  );
}

function NewToken() {
  const queries = useQueryClient();
  const { me } = useMe();
  const [name, setName] = useState("");
  const [role, setRole] = useState<TokenRole | typeof AS_OWNER>(AS_OWNER);
  const [run, setRun] = useState(EVERYTHING);
  const runs = useQuery(runsQuery(0, OFFERED_RUNS));
  const [lifetime, setLifetime] = useState<Lifetime>("inAMonth");
  const made = useMutation({
    mutationFn: () =>
      createToken(
        { name: name.trim(), role: role === AS_OWNER ? null : role, expires_at: endOf(lifetime) },
        run === EVERYTHING ? null : run,
      ),
    onSuccess: () => {
      setName("");
      return queries.invalidateQueries({ queryKey: tokensQuery.queryKey });
    },
  });
  const own = ACCOUNT_ROLES.findIndex((one) => one === me?.role);
  return (
    <form
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault();
        made.mutate();
      }}
    >
      <label className={secret.field}>
        {t("name")}
        <input
          className={drawer.field}
          value={name}
          maxLength={100}
          autoComplete="off"
          placeholder={t("nameHint")}
          onChange={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <label className={secret.field}>
        {t("may")}
        <select
          className={drawer.field}
          value={role}
          onChange={(event) => setRole(event.currentTarget.value as TokenRole | typeof AS_OWNER)}
        >
          <option value={AS_OWNER}>{t("asMuchAsYou")}</option>
          {ACCOUNT_ROLES.slice(0, own + 1).map((one) => (
            <option key={one} value={one}>
              {t(`role.${one}`)}
            </option>
          ))}
        </select>
      </label>
      <label className={secret.field}>
        {t("reach")}
        <select className={drawer.field} value={run} onChange={(event) => setRun(event.currentTarget.value)}>
          <option value={EVERYTHING}>{t("everything")}</option>
          {runs.data?.results.map((one) => (
            <option key={one.id} value={one.id}>
              {t("onlyRun", { number: one.number, cluster: one.snapshot.name })}
            </option>
          ))}
        </select>
      </label>
      <LifetimeField offered={OFFERED} value={lifetime} onChange={setLifetime} />
      <Button type="submit" kind="primary" sends disabled={name.trim() === "" || made.isPending}>
        {made.isPending ? t("making") : t("make")}
      </Button>
      {made.error === null ? null : <Failed what={t("notMade")} error={made.error} small />}
      {made.data === undefined ? null : (
        <ShownOnce label={t("theToken", { name: made.data.name })} value={made.data.token} />
      )}
    </form>
  );
}

function Tokens() {
  const tokens = useQuery(tokensQuery);
  if (tokens.data === undefined) {
    return tokens.error === null ? (
      <Outlines count={3} height={44} label={t("reading")} />
    ) : (
      <Failed what={t("notRead")} error={tokens.error} retry={() => void tokens.refetch()} small />
    );
  }
  if (tokens.data.length === 0) return <Empty small>{t("none")}</Empty>;
  return (
    <ul className={classes.list}>
      {tokens.data.map((token) => (
        <TokenRow key={token.id} token={token} />
      ))}
    </ul>
  );
}

function lasts(token: Token): string {
  if (token.expires_at === null) return t("untilRevoked");
  return token.expired
    ? t("expiredAt", { at: exact(token.expires_at) })
    : t("expiresAt", { at: exact(token.expires_at) });
}

function TokenRow({ token }: { token: Token }) {
  const queries = useQueryClient();
  const revoked = useMutation({
    mutationFn: () => revokeToken(token.id),
    onSuccess: () => queries.invalidateQueries({ queryKey: tokensQuery.queryKey }),
  });
  const used = token.last_used_at === null ? t("neverUsed") : t("lastUsed", { at: exact(token.last_used_at) });
  return (
    <li data-expired={token.expired}>
      <div>
        <b>{token.name}</b>{" "}
        <span className="muted">
          {token.role === null ? t("asMuchAsYou") : t(`role.${token.role}`)},{" "}
          {token.run === null ? null : `${t("inRun", { number: token.run.number })}, `}
          {lasts(token)}
        </span>
        <p className="faint">
          {t("madeAt", { at: exact(token.created_at) })}; {used}
        </p>
        {revoked.error === null ? null : <Failed what={t("notRevoked")} error={revoked.error} small />}
      </div>
      <Button
        size="sm"
        kind="danger"
        sends
        disabled={revoked.isPending}
        aria-label={t("revokeNamed", { name: token.name })}
        onClick={() => revoked.mutate()}
      >
        {t("revoke")}
      </Button>
    </li>
  );
}

function Use() {
  return (
    <div className={classes.use}>
      <p>
        {rich("howToUse", {
          index: (inside) => <a href="/api/v1/">{inside}</a>,
          docs: (inside) => <a href="/api/docs/">{inside}</a>,
        })}
      </p>
      <pre className="mono">{`curl -H "Authorization: Bearer $TOKEN" ${window.location.origin}/api/v1/runs/`}</pre>
    </div>
  );
}
