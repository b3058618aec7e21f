/** "…": everything that changes a run apart from its pace. Opened with the first click, so it is fetched then. */
import "@mantine/core/styles/Popover.layer.css";
import "@mantine/core/styles/Menu.layer.css";

import { Menu } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { starRun, unstarRun } from "@/api/keeping";
import type { Run } from "@/api/types";
import { useMe } from "@/api/useMe";
import { IconButton } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { RunItems } from "@/exchange/RunItems";
import { ShareDrawer } from "@/exchange/ShareDrawer";
import { bytes } from "@/format/number";
import { useEscape } from "@/keys/useEscape";
import { runOf } from "@/rewind/moment";
import { notifyError } from "@/shell/notify";

import { RunDialog, type RunDialogKind } from "../dialog/RunDialog";
import { t } from "../texts";
import type { Commander } from "../useCommand";
import { SPEEDS, speedOf } from "./pace";
import classes from "./RunMenu.module.css";
import { canMove } from "./Transport";

interface RunMenuProps {
  run: Run;
  commander: Commander;
  operates: boolean;
  onClosed: () => void;
}

const ITEMS: readonly {
  kind: RunDialogKind;
  label: string;
  icon: "plus" | "node" | "sliders" | "point" | "stop" | "trash";
}[] = [
  {
    kind: "pod_add",
    get label() {
      return t("menuAddAPod");
    },
    icon: "plus",
  },
  {
    kind: "node_add",
    get label() {
      return t("menuAddANode");
    },
    icon: "node",
  },
  {
    kind: "set_configuration",
    get label() {
      return t("menuSwitchTheConfiguration");
    },
    icon: "sliders",
  },
  {
    kind: "set_seed",
    get label() {
      return t("menuChangeTheSeed");
    },
    icon: "point",
  },
  {
    kind: "stop",
    get label() {
      return t("menuStopTheRun");
    },
    icon: "stop",
  },
  {
    kind: "delete",
    get label() {
      return t("menuDeleteTheRun");
    },
    icon: "trash",
  },
];

function StarItem({ run, operates, onDone }: { run: Run; operates: boolean; onDone: () => void }) {
  const queries = useQueryClient();
  const starred = run.starred !== null;
  const star = useMutation({
    mutationFn: async () => {
      await (starred ? unstarRun(run.id) : starRun(run.id));
    },
    onError: (error) => notifyError(t("starNotSet"), error),
    onSettled: async () => {
      await Promise.all([["run"], ["runs"], ["storage"]].map((queryKey) => queries.invalidateQueries({ queryKey })));
      onDone();
    },
  });
  return (
    <Menu.Item
      closeMenuOnClick={false}
      disabled={!operates || star.isPending}
      title={operates ? t("starsKeep") : t("yourRoleCannotChange")}
      leftSection={<Icon name="star" size={14} />}
      onClick={() => star.mutate()}
    >
      {starred ? t("menuUnstar") : t("menuStar")}
    </Menu.Item>
  );
}

export default function RunMenu({ run, commander, operates, onClosed }: RunMenuProps) {
  const { me, edits, visits } = useMe();
  const phone = useMediaQuery("(max-width: 640px)", undefined, { getInitialValueInEffect: false });
  const [dialog, setDialog] = useState<RunDialogKind | "share" | null>(null);
  const navigate = useNavigate();
  const [opened, setOpened] = useState(true);
  const ended = run.state === "stopped";
  const why = (kind: RunDialogKind): string | undefined => {
    if (!operates) return t("yourRoleCannotChange");
    if (kind === "delete") return edits || run.started_by === me?.username ? undefined : t("startersAndEditorsDelete");
    if (ended) return t("theRunHasEnded");
    if (kind === "set_seed" && run.points > 0) return t("onlyBeforeTheFirstStep");
    if (kind === "stop" && !canMove(run)) return t("theRunHasEnded");
    return undefined;
  };
  const change = (open: boolean) => {
    setOpened(open);
    if (!open && dialog === null) onClosed();
  };
  useEscape(opened, { label: t("close"), group: t("run"), close: () => change(false) });
  return (
    <>
      <Menu
        opened={opened}
        onChange={change}
        position="bottom-end"
        middlewares={{ flip: true, shift: true, size: true }}
        shadow="md"
        withinPortal
        returnFocus
        withInitialFocusPlaceholder={false}
      >
        <Menu.Target>
          <IconButton icon="more" label={t("morePodsNodesConfigurationStop")} />
        </Menu.Target>
        <Menu.Dropdown className={classes.menu ?? ""}>
          {/* Where the header has no room for them. */}
          {phone && !visits ? (
            <div role="group" aria-label={t("speed")}>
              <Menu.Label>{t("speed")}</Menu.Label>
              <Menu.RadioGroup
                value={String(run.clock.speed)}
                onChange={(value) => void commander.send({ type: "set_speed", speed: speedOf(value) })}
              >
                {SPEEDS.map(({ value, label, title }) => (
                  <Menu.RadioItem
                    key={value}
                    value={value}
                    title={title}
                    disabled={!operates || !canMove(run)}
                    closeMenuOnClick
                  >
                    {label}
                  </Menu.RadioItem>
                ))}
              </Menu.RadioGroup>
              <Menu.Divider />
            </div>
          ) : null}
          {visits
            ? null
            : ITEMS.map(({ kind, label, icon }) => (
                <Menu.Item
                  key={kind}
                  closeMenuOnClick={false}
                  disabled={why(kind) !== undefined}
                  title={why(kind)}
                  leftSection={<Icon name={icon} size={14} />}
                  onClick={() => {
                    setDialog(kind);
                    setOpened(false);
                  }}
                >
                  {label}
                </Menu.Item>
              ))}
          {visits ? null : <StarItem run={run} operates={operates} onDone={() => change(false)} />}
          {visits ? null : <Menu.Divider />}
          <Menu.Item
            leftSection={<Icon name="point" size={14} />}
            onClick={() => void navigate({ to: "/runs/$run/attempts", params: { run: run.id } })}
          >
            {t("attemptsAndTheirTime")}
          </Menu.Item>
          <Menu.Item
            leftSection={<Icon name="file" size={14} />}
            onClick={() => void navigate({ to: "/runs/$run/objects", params: { run: run.id } })}
          >
            {t("claimsVolumesClasses")}
          </Menu.Item>
          {visits ? null : (
            <>
              {run.schedules ? (
                <Menu.Item
                  leftSection={<Icon name="bolt" size={14} />}
                  onClick={() => void navigate({ to: "/runs/$run/writes", params: { run: runOf(run.id) } })}
                >
                  {t("writesToTheCluster")}
                </Menu.Item>
              ) : null}
              <Menu.Item
                leftSection={<Icon name="command" size={14} />}
                onClick={() =>
                  void navigate({
                    to: "/compare",
                    search: run.parent?.id ? { a: run.parent.id, b: run.id } : { a: run.id },
                  })
                }
              >
                {run.parent?.id ? t("compareWith", { number: run.parent.number }) : t("compareWithAnotherRun")}
              </Menu.Item>
              <Menu.Item
                leftSection={<Icon name="node" size={14} />}
                onClick={() => void navigate({ to: "/runs/$run/capacity", params: { run: run.id } })}
              >
                {t("capacity")}
              </Menu.Item>
            </>
          )}
          <RunItems
            run={run}
            onShare={() => {
              setDialog("share");
              setOpened(false);
            }}
          />
          <Menu.Divider />
          <Menu.Label>
            {t("engineTies", {
              number: run.number,
              engineversion: run.engine_version,
              ties: run.ties,
              bytes: bytes(run.size_bytes),
            })}
          </Menu.Label>
        </Menu.Dropdown>
      </Menu>
      {dialog === "share" ? <ShareDrawer run={run.id} onClose={onClosed} /> : null}
      {dialog === null || dialog === "share" ? null : (
        <RunDialog kind={dialog} run={run} commander={commander} onClose={onClosed} />
      )}
    </>
  );
}
