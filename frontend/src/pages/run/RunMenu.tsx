/** "…": everything that changes a run apart from its pace. Opened with the first click, so it is fetched then. */
import "@mantine/core/styles/Popover.layer.css";
import "@mantine/core/styles/Menu.layer.css";

import { Menu } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import type { Run } from "@/api/types";
import { IconButton } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { bytes } from "@/format/number";

import { RunDialog, type RunDialogKind } from "./RunDialog";
import { canMove } from "./Transport";
import type { Commander } from "./useCommand";

interface RunMenuProps {
  run: Run;
  commander: Commander;
  operates: boolean;
  onClosed: () => void;
}

const ITEMS: readonly { kind: RunDialogKind; label: string; icon: "plus" | "node" | "sliders" | "point" | "stop" | "trash" }[] = [
  { kind: "pod_add", label: "Add a pod…", icon: "plus" },
  { kind: "node_add", label: "Add a node…", icon: "node" },
  { kind: "set_configuration", label: "Switch the configuration…", icon: "sliders" },
  { kind: "set_seed", label: "Change the seed…", icon: "point" },
  { kind: "stop", label: "Stop the run…", icon: "stop" },
  { kind: "delete", label: "Delete the run…", icon: "trash" },
];

export default function RunMenu({ run, commander, operates, onClosed }: RunMenuProps) {
  const [dialog, setDialog] = useState<RunDialogKind | null>(null);
  const navigate = useNavigate();
  const [opened, setOpened] = useState(true);
  const ended = run.state === "stopped" || run.state === "failed";
  const why = (kind: RunDialogKind): string | undefined => {
    if (!operates) return "Your role can look, but not change runs";
    if (kind === "delete") return undefined;
    if (ended) return "The run has ended";
    if (kind === "set_seed" && run.points > 0) return "Only before the first step";
    if (kind === "stop" && !canMove(run)) return "The run has ended";
    return undefined;
  };
  return (
    <>
      <Menu opened={opened} onChange={(open) => {
        setOpened(open);
        if (!open && dialog === null) onClosed();
      }} position="bottom-end" shadow="md" withinPortal returnFocus>
        <Menu.Target><IconButton icon="more" label="More: pods, nodes, configuration, stop" /></Menu.Target>
        <Menu.Dropdown>
          {ITEMS.map(({ kind, label, icon }) => (
            <Menu.Item key={kind} closeMenuOnClick={false} disabled={why(kind) !== undefined} title={why(kind)} leftSection={<Icon name={icon} size={14} />}
              onClick={() => {
                setDialog(kind);
                setOpened(false);
              }}>{label}</Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item leftSection={<Icon name="point" size={14} />} onClick={() => void navigate({ to: "/runs/$run/attempts", params: { run: run.id } })}>Attempts and their time…</Menu.Item>
          <Menu.Item leftSection={<Icon name="file" size={14} />} onClick={() => void navigate({ to: "/runs/$run/objects", params: { run: run.id } })}>Claims, volumes, classes…</Menu.Item>
          <Menu.Item leftSection={<Icon name="command" size={14} />} onClick={() => void navigate({ to: "/compare", search: run.parent?.id ? { a: run.parent.id, b: run.id } : { a: run.id } })}>
            {run.parent?.id ? `Compare with ${run.parent.number}…` : "Compare with another run…"}
          </Menu.Item>
          <Menu.Item leftSection={<Icon name="node" size={14} />} onClick={() => void navigate({ to: "/runs/$run/capacity", params: { run: run.id } })}>Capacity…</Menu.Item>
          <Menu.Divider />
          <Menu.Label>{run.number} · engine {run.engine_version} · ties {run.ties} · {bytes(run.size_bytes)}</Menu.Label>
        </Menu.Dropdown>
      </Menu>
      {dialog === null ? null : <RunDialog kind={dialog} run={run} commander={commander} onClose={onClosed} />}
    </>
  );
}
