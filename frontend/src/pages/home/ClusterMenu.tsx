/** "…" of a cluster: its runs, its size, and how it is deleted. Opened with the first click, so it is fetched then. */
import "@mantine/core/styles/Popover.layer.css";
import "@mantine/core/styles/Menu.layer.css";

import { Menu } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";

import { pathOf, request } from "@/api/client";
import type { Snapshot } from "@/api/types";
import { useMe } from "@/api/useMe";
import { IconButton } from "@/components/Button";
import { bytes } from "@/format/number";
import { tellDeleted } from "@/keeping/deletion";
import { useEscape } from "@/keys/useEscape";
import { notifyError } from "@/shell/notify";

import classes from "./ClusterCard.module.css";
import { t } from "./texts";

export default function ClusterMenu({ snapshot }: { snapshot: Snapshot }) {
  const { edits } = useMe();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [asked, setAsked] = useState(false);
  const [opened, setOpened] = useState(false);
  const target = useRef<HTMLButtonElement>(null);
  // The button that was pressed was the card's: this one takes its focus before the menu opens, and so has it afterwards.
  useEffect(() => {
    target.current?.focus();
    const opening = requestAnimationFrame(() => setOpened(true));
    return () => cancelAnimationFrame(opening);
  }, []);
  const name = t("moreAbout", { name: snapshot.name });
  const close = () => {
    setOpened(false);
    setAsked(false);
  };
  useEscape(opened, { label: t("close"), group: name, close });
  const remove = useMutation({
    mutationFn: () => request(pathOf("snapshots", snapshot.id), { method: "DELETE" }),
    onSuccess: () => {
      tellDeleted(queries, t("wasDeleted", { name: snapshot.name }), [{ kind: "snapshot", id: snapshot.id }]);
      return queries.invalidateQueries({ queryKey: ["snapshots"] });
    },
    onError: (error) => notifyError(t("wasNotDeleted", { name: snapshot.name }), error),
  });
  return (
    <Menu
      opened={opened}
      onChange={setOpened}
      position="bottom-end"
      shadow="md"
      withinPortal
      returnFocus
      withInitialFocusPlaceholder={false}
      onClose={() => setAsked(false)}
    >
      <Menu.Target>
        <IconButton ref={target} icon="more" label={name} className={classes.more ?? ""} />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => void navigate({ to: "/runs", search: { snapshot: snapshot.id } })}>
          {t("runsOfThisCluster")}
        </Menu.Item>
        {edits && snapshot.source !== "sample" ? (
          <Menu.Item
            closeMenuOnClick={asked}
            className={classes.danger ?? ""}
            onClick={() => (asked ? remove.mutate() : setAsked(true))}
          >
            {asked ? t("deleteIt") : t("deleteBytes", { bytes: bytes(snapshot.size_bytes) })}
          </Menu.Item>
        ) : (
          <Menu.Label>{t("bytesStored", { bytes: bytes(snapshot.size_bytes) })}</Menu.Label>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
