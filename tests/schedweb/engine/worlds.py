"""Small clusters as manifests, and players over them."""

from __future__ import annotations

from typing import Any

from framework.interface import Plugin
from framework.objects.decode import decode_manifest
from framework.plugins.registry import built_in_registry
from schedweb.engine import commands
from schedweb.engine.commands import command_from, plain
from schedweb.engine.frames import Entry
from schedweb.engine.pace import Pace
from schedweb.engine.payload import TimelineEntry
from schedweb.engine.player import Approvals, ClockMode, Happened, Player, RunOptions, effective_configuration
from schedweb.engine.replay import do

START = 1_700_000_000_000_000_000
SECOND = 1_000_000_000
DEFAULT = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
ASKING = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      enabled:
      - name: ManualApproval
  pluginConfig:
  - name: ManualApproval
    args:
      podSelector: {matchLabels: {ask: person}}
      timeoutSeconds: 60
"""
GANGS = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins:
    queueSort:
      enabled: [{name: Coscheduling}]
      disabled: [{name: '*'}]
    multiPoint:
      enabled: [{name: Coscheduling}]
"""
Manifest = dict[str, Any]


def node(name: str, cpu: str = "4", **labels: str) -> Manifest:
    amounts = {"cpu": cpu, "memory": "16Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}},
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def pod(name: str, cpu: str = "500m", *, node_name: str = "", owner: str = "", **labels: str) -> Manifest:
    metadata: Manifest = {"name": name, "namespace": "shop", "uid": f"uid-{name}", "labels": labels}
    if owner:
        metadata["ownerReferences"] = [
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": owner, "controller": True}
        ]
    spec: Manifest = {"containers": [{"name": "main", "image": "app:1", "resources": {"requests": {"cpu": cpu}}}]}
    if node_name:
        spec["nodeName"] = node_name
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def arrival(at: float, manifest: Manifest) -> TimelineEntry:
    return TimelineEntry(at=round(at * SECOND), manifest=manifest)


def departure(at: float, manifest: Manifest) -> TimelineEntry:
    return TimelineEntry(at=round(at * SECOND), delete=True, manifest=manifest)


def player(
    manifests: list[Manifest],
    timeline: list[TimelineEntry] | None = None,
    *,
    configuration: str = DEFAULT,
    seed: int = 7,
    approvals: Approvals = "hold",
    clock: ClockMode = "virtual",
    plugins: tuple[type[Plugin], ...] = (),
) -> Player:
    registry = built_in_registry().with_plugins(plugins)
    return Player(
        [decode_manifest(manifest) for manifest in manifests],
        timeline or [],
        effective_configuration(configuration, registry),
        registry,
        RunOptions(seed, "seeded", approvals, clock, START),
    )


def play(game: Player, most: int = 100_000) -> Happened:
    """Until there is nothing to do."""
    for _ in range(most):
        happened = game.operate()
        if happened in (Happened.WAITS, Happened.FINISHED, Happened.IDLE):
            return happened
    raise AssertionError(f"still playing after {most} operations")


class Table:
    """Plays and writes the journal that the web would have stored."""

    def __init__(self, game: Player) -> None:
        self.game = game
        self.pace = Pace(mode="playing")
        self.journal: list[Entry] = []

    def order(self, command: commands.AnyCommand, author: str = "mira") -> Any:
        """Checked as the web checks it, written down, done. What the journal keeps as the outcome."""
        content = plain(command_from(plain(command)))
        entry = Entry(f"entry-{len(self.journal)}", self.game.position, self.game.now, author, content)
        self.journal.append(entry)
        return do(self.game, self.pace, entry)

    def operate(self, count: int) -> None:
        for _ in range(count):
            self.game.operate()


def places(game: Player) -> dict[str, str]:
    return {view.name: view.column for view in game.projection.views.values()}
