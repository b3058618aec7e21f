/** An account in the list of all: its role, what it has open, and what an admin may do to it. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { type Account, ACCOUNT_ROLES, type AccountRole, changeAccount, createLoginLink } from "@/api/accounts";
import { Button } from "@/components/Button";
import { Failed } from "@/components/Outcome";
import { ShownOnce } from "@/exchange/Secret";
import { clauses } from "@/format/lists";
import { exact } from "@/format/time";

import classes from "./Account.module.css";
import { t } from "./texts";

export function AccountRow({ account }: { account: Account }) {
  const queries = useQueryClient();
  const [asked, setAsked] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const changed = useMutation({
    mutationFn: (change: { role?: AccountRole; active?: boolean }) => changeAccount(account.id, change),
    onSettled: (_data, _error, change) => {
      // A question that was opened while a role was on its way stays.
      if (change.active !== undefined) setAsked(false);
      // One's own role may be another one now.
      void queries.invalidateQueries({ queryKey: ["me"] });
      return queries.invalidateQueries({ queryKey: ["accounts"] });
    },
  });
  const link = useMutation({ mutationFn: () => createLoginLink(account.id) });
  const name = account.username;
  return (
    <li data-off={!account.active}>
      <div>
        <b>{name}</b> {account.active ? null : <span className={classes.off}>{t("disabled")}</span>}
        <p className="faint">
          {clauses([
            account.last_login === null ? t("neverLoggedIn") : t("lastLogin", { at: exact(account.last_login) }),
            t("sessionsOpen", { count: account.sessions }),
            t("tokensOpen", { count: account.tokens }),
            ...(account.openid ? [t("byOpenId")] : []),
          ])}
        </p>
        {changed.error === null ? null : <Failed what={t("notChanged", { name })} error={changed.error} small />}
        {link.error === null ? null : <Failed what={t("noLink")} error={link.error} small />}
        {/* Disabling takes it away. */}
        {link.data === undefined || !account.active ? null : (
          <ShownOnce label={t("linkFor", { name })} value={`${window.location.origin}${link.data.path}`} />
        )}
        {asked ? (
          <Question
            name={name}
            sending={changed.isPending}
            onKeep={() => {
              setAsked(false);
              opener.current?.focus();
            }}
            onDisable={() => changed.mutate({ active: false })}
          />
        ) : null}
      </div>
      <div className={classes.does}>
        <select
          aria-label={t("roleOf", { name })}
          title={account.superuser ? t("superuser") : account.openid ? t("roleFromProvider") : undefined}
          value={account.superuser ? "admin" : (account.role ?? "")}
          disabled={account.superuser || changed.isPending}
          onChange={(event) => changed.mutate({ role: event.currentTarget.value as AccountRole })}
        >
          {account.role === null && !account.superuser ? <option value="">{t("noRole")}</option> : null}
          {ACCOUNT_ROLES.map((one) => (
            <option key={one} value={one}>
              {t(`role.${one}`)}
            </option>
          ))}
        </select>
        {account.active ? (
          <>
            <Button
              size="sm"
              sends
              disabled={link.isPending}
              aria-label={t("newLinkFor", { name })}
              onClick={() => link.mutate()}
            >
              {t("newLink")}
            </Button>
            <Button
              size="sm"
              kind="danger"
              ref={opener}
              aria-expanded={asked}
              aria-label={t("disableNamed", { name })}
              onClick={() => setAsked(!asked)}
            >
              {t("disable")}
            </Button>
          </>
        ) : (
          <Button
            size="sm"
            sends
            disabled={changed.isPending}
            aria-label={t("enableNamed", { name })}
            onClick={() => changed.mutate({ active: true })}
          >
            {t("enable")}
          </Button>
        )}
      </div>
    </li>
  );
}

interface QuestionProps {
  name: string;
  sending: boolean;
  onKeep: () => void;
  onDisable: () => void;
}

/** What cannot be undone is asked about first, beside what it is about. */
function Question({ name, sending, onKeep, onDisable }: QuestionProps) {
  const keep = useRef<HTMLButtonElement>(null);
  useEffect(() => keep.current?.focus(), []);
  return (
    <div className={classes.ask} role="group" aria-label={t("disableNamed", { name })}>
      <p>{t("whatDisablingEnds", { name })}</p>
      <Button size="sm" ref={keep} onClick={onKeep}>
        {t("keep")}
      </Button>
      <Button size="sm" kind="danger-solid" sends disabled={sending} onClick={onDisable}>
        {t("disable")}
      </Button>
    </div>
  );
}
