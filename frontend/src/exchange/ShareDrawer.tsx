/** Links by which people without an account look at one run: made, listed, revoked. */
import "@mantine/core/styles/CloseButton.layer.css";
import "@mantine/core/styles/Overlay.layer.css";
import "@mantine/core/styles/Paper.layer.css";
import "@mantine/core/styles/ModalBase.layer.css";
import "@mantine/core/styles/Drawer.layer.css";

import { Drawer } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { createShareLink, revokeShareLink, type ShareLink, shareLinksQuery } from "@/api/shareLinks";
import { Button } from "@/components/Button";
import drawer from "@/components/Drawer.module.css";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { useFocusBack } from "@/components/useFocusBack";
import { exact } from "@/format/time";

import { endOf, type Lifetime, LifetimeField, ShownOnce } from "./Secret";
import classes from "./Secret.module.css";
import { t } from "./texts";

const OFFERED = ["never", "inADay", "inAWeek", "inAMonth"] as const;

export function ShareDrawer({ run, onClose }: { run: string; onClose: () => void }) {
  useFocusBack();
  return (
    <Drawer.Root
      opened
      onClose={onClose}
      position="right"
      size={480}
      transitionProps={{ duration: 160 }}
      classNames={{ content: drawer.content ?? "", overlay: drawer.scrim ?? "" }}
    >
      <Drawer.Overlay />
      <Drawer.Content aria-label={t("shareTitle")}>
        <header className={drawer.header}>
          <Drawer.Title className={drawer.title}>{t("shareTitle")}</Drawer.Title>
          <span className="grow" />
          <Drawer.CloseButton aria-label={t("close")} />
        </header>
        <div className={drawer.body}>
          <p className="muted">{t("whatALinkOpens")}</p>
          <NewLink run={run} />
          <h3 className={classes.title}>{t("links")}</h3>
          <Links run={run} />
        </div>
      </Drawer.Content>
    </Drawer.Root>
  );
}

function NewLink({ run }: { run: string }) {
  const queries = useQueryClient();
  const [name, setName] = useState("");
  const [lifetime, setLifetime] = useState<Lifetime>("inAWeek");
  const made = useMutation({
    mutationFn: () => createShareLink(run, name.trim(), endOf(lifetime)),
    onSuccess: () => {
      setName("");
      return queries.invalidateQueries({ queryKey: ["run", run, "share-links"] });
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
      <label className={classes.field}>
        {t("name")}
        <input
          className={drawer.field}
          value={name}
          maxLength={100}
          placeholder={t("nameHint")}
          onChange={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <LifetimeField offered={OFFERED} value={lifetime} onChange={setLifetime} />
      <Button type="submit" kind="primary" sends disabled={name.trim() === "" || made.isPending}>
        {made.isPending ? t("making") : t("make")}
      </Button>
      {made.error === null ? null : <Failed what={t("notMade")} error={made.error} small />}
      {made.data === undefined ? null : (
        <ShownOnce label={t("theLink")} value={new URL(made.data.path, window.location.href).href} />
      )}
    </form>
  );
}

function Links({ run }: { run: string }) {
  const links = useQuery(shareLinksQuery(run));
  if (links.data === undefined) {
    return links.error === null ? (
      <Outlines count={3} height={44} label={t("readingLinks")} />
    ) : (
      <Failed what={t("linksFailed")} error={links.error} retry={() => void links.refetch()} small />
    );
  }
  if (links.data.length === 0) return <Empty small>{t("noLinks")}</Empty>;
  return (
    <ul className={classes.links}>
      {links.data.map((link) => (
        <LinkRow key={link.id} run={run} link={link} />
      ))}
    </ul>
  );
}

function stateOf(link: ShareLink): string {
  if (link.revoked_at !== null) return t("revokedAt", { at: exact(link.revoked_at) });
  if (link.expires_at === null) return t("open");
  return link.open ? t("expiresAt", { at: exact(link.expires_at) }) : t("expiredAt", { at: exact(link.expires_at) });
}

function LinkRow({ run, link }: { run: string; link: ShareLink }) {
  const queries = useQueryClient();
  const revoked = useMutation({
    mutationFn: () => revokeShareLink(run, link.id),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["run", run, "share-links"] }),
  });
  return (
    <li data-open={link.open}>
      <div>
        <b>{link.name}</b> <span className="muted">{stateOf(link)}</span>
        <p className="faint">
          {t("madeBy", { name: link.created_by, at: exact(link.created_at) })};{" "}
          {link.last_used_at === null ? t("neverUsed") : t("lastUsed", { at: exact(link.last_used_at) })}
        </p>
        {revoked.error === null ? null : <Failed what={t("notRevoked")} error={revoked.error} small />}
      </div>
      {link.open ? (
        <Button
          size="sm"
          kind="danger"
          sends
          disabled={revoked.isPending}
          aria-label={t("revokeNamed", { name: link.name })}
          onClick={() => revoked.mutate()}
        >
          {t("revoke")}
        </Button>
      ) : null}
    </li>
  );
}
