/** Who may log in, for admins: made with a link that works once, given roles, disabled and enabled. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useState } from "react";

import { ACCOUNT_ROLES, type AccountRole, accountsQuery, createAccount } from "@/api/accounts";
import { Button } from "@/components/Button";
import drawer from "@/components/Drawer.module.css";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Pager } from "@/components/Pager";
import { Page, Panel, PanelHeader } from "@/components/Panel";
import { useTypedSearch } from "@/components/useTypedSearch";
import { ShownOnce } from "@/exchange/Secret";
import secret from "@/exchange/Secret.module.css";
import { exact } from "@/format/time";
import { useTitle } from "@/shell/useTitle";

import classes from "./Account.module.css";
import { AccountNav } from "./AccountNav";
import { AccountRow } from "./AccountRow";
import { t } from "./texts";

const route = getRouteApi("/accounts");
const LIMIT = 50;

export function AccountsPage() {
  useTitle(t("accounts"));
  return (
    <Page>
      <AccountNav />
      <header className={classes.head}>
        <h1>{t("accounts")}</h1>
        <p className="muted">{t("whatRolesMay")}</p>
      </header>
      <div className={classes.panels}>
        <Panel aria-labelledby="new">
          <PanelHeader title={t("newAccount")} id="new" />
          <NewAccount />
        </Panel>
        <Panel aria-labelledby="all">
          <Accounts />
        </Panel>
      </div>
    </Page>
  );
}

function NewAccount() {
  const queries = useQueryClient();
  const [username, setUsername] = useState("");
  const [role, setRole] = useState<AccountRole>("viewer");
  const made = useMutation({
    mutationFn: () => createAccount({ username: username.trim(), role }),
    onSuccess: () => {
      setUsername("");
      return queries.invalidateQueries({ queryKey: ["accounts"] });
    },
  });
  return (
    <form
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault();
        made.mutate();
      }}
    >
      <label className={secret.field}>
        {t("username")}
        <input
          className={drawer.field}
          value={username}
          maxLength={150}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          onChange={(event) => setUsername(event.currentTarget.value)}
        />
      </label>
      <label className={secret.field}>
        {t("roleLabel")}
        <select
          className={drawer.field}
          value={role}
          onChange={(event) => setRole(event.currentTarget.value as AccountRole)}
        >
          {ACCOUNT_ROLES.map((one) => (
            <option key={one} value={one}>
              {t(`role.${one}`)}
            </option>
          ))}
        </select>
      </label>
      <Button type="submit" kind="primary" sends disabled={username.trim() === "" || made.isPending}>
        {made.isPending ? t("creating") : t("create")}
      </Button>
      {made.error === null ? null : <Failed what={t("notCreated")} error={made.error} small />}
      {made.data === undefined ? null : (
        <div>
          <p className="muted">
            {t("sendTheLink", { name: made.data.username, at: exact(made.data.link.expires_at) })}
          </p>
          <ShownOnce
            label={t("linkFor", { name: made.data.username })}
            value={`${window.location.origin}${made.data.link.path}`}
          />
        </div>
      )}
    </form>
  );
}

function Accounts() {
  const { offset = 0, q } = route.useSearch();
  const navigate = route.useNavigate();
  const ask = useCallback(
    (asked: string | undefined) => void navigate({ search: asked === undefined ? {} : { q: asked }, replace: true }),
    [navigate],
  );
  const [text, setText] = useTypedSearch(q, ask);
  const accounts = useQuery(accountsQuery(offset, LIMIT, q));
  return (
    <>
      <PanelHeader title={t("all")} id="all">
        <span className="grow" />
        <input
          type="search"
          className={classes.search}
          value={text}
          placeholder={t("searchNames")}
          aria-label={t("searchNames")}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      </PanelHeader>
      {accounts.error === null ? null : (
        <Failed what={t("accountsNotRead")} error={accounts.error} retry={() => void accounts.refetch()} small />
      )}
      {accounts.isPending ? <Outlines count={4} height={44} label={t("readingAccounts")} /> : null}
      {accounts.data?.results.length === 0 ? <Empty small>{t("noAccount")}</Empty> : null}
      <ul className={classes.list}>
        {accounts.data?.results.map((account) => (
          <AccountRow key={account.id} account={account} />
        ))}
      </ul>
      <Pager
        offset={offset}
        limit={LIMIT}
        total={accounts.data?.count ?? 0}
        onChoose={(next) => void navigate({ search: (old) => ({ ...old, offset: next === 0 ? undefined : next }) })}
      />
    </>
  );
}
