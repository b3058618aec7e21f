"""The real cluster of scripts/chaos/scheduling.py: the stand-in API server, and a connection of its own to each worker.

Its objects live in this process, as etcd's do beside the API servers that come and go; its HTTP side is stopped and
started again. Each worker is a user of its own there, so that every request tells who sent it.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import yaml

from scripts.chaos.cluster import Host
from scripts.tcp_proxy import TcpProxy
from tests.apiserver import ApiServer
from tests.apiserver.access import READER
from tests.apiserver.kinds import PODS, Json, Kind
from tests.apiserver.manifests import node, pod
from tests.apiserver.players import Kubelets, Stage, Volumes
from tests.apiserver.store import Change

CONTEXT: Final = "lab"
OURS: Final = "ours"
SHOP: Final = "shop"
OPEN_NODES: Final = 6
FULL_CPU: Final = 4
"""Of a node of the pool `full`, and so many pods of low priority run there."""
TERMINATING_SECONDS: Final = 0.3
PROVISIONING_SECONDS: Final = 0.2


def user_of(host: Host) -> str:
    return f"system:serviceaccount:playground:{host.label}"


@dataclass
class Witness:
    """Sees every change where it is stored: how often each pod got a node."""

    bound: Counter[str] = field(default_factory=Counter)
    """By uid."""
    at: dict[str, float] = field(default_factory=dict)
    """Name → when it got its node, in seconds of the monotonic clock."""
    moved: list[str] = field(default_factory=list)
    """Pods whose node changed, or was taken away."""

    def react(self, stage: Stage, kind: Kind, change: Change) -> None:
        if kind is not PODS or change.new is None:
            return
        before = "" if change.old is None else change.old.fields[0]
        after = change.new.fields[0]
        if before and before != after:
            self.moved.append(f"{change.new.name}: {before} → {after or 'none'}")
        elif after and not before:
            self.bound[change.new.uid] += 1
            self.at[change.new.name] = time.monotonic()


@dataclass(frozen=True)
class Window:
    """While what `user` sends (everybody: "") may arrive late."""

    user: str
    began: datetime
    ended: datetime


class RealCluster:
    """Its nodes are of two pools: `open`, with room for all that comes, and `full` of pods of low priority."""

    def __init__(self, folder: Path, workers: list[Host], *, pods: int, seed: int) -> None:
        self.folder, self.workers = folder, workers
        self.server = ApiServer()
        self.witness = Witness()
        self.proxies: dict[str, TcpProxy] = {}
        """By the worker's label."""
        self.windows: list[Window] = []
        self.plan = planned(pods, random.Random(seed))
        self._coming = iter(self.plan)
        self.made: dict[str, Made] = {}
        self.making = threading.Lock()

    def __enter__(self) -> RealCluster:
        # Its connections break on purpose, and aiohttp says so of each.
        logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)
        server = self.server.__enter__()
        for player in (self.witness, Kubelets(stop_after=TERMINATING_SECONDS), Volumes(after=PROVISIONING_SECONDS)):
            server.play(player)
        server.load(cluster_of(self.plan))
        for host in self.workers:
            proxy = TcpProxy(server.host, server.port)
            self.proxies[host.label] = proxy
            server.grant(user_of(host), READER)
            token = server.user(user_of(host))
            config = server.kubeconfig(token=token, context=CONTEXT)
            config["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{proxy.port}"
            path = self.folder / f"kubeconfig-{host.label}"
            path.write_text(yaml.safe_dump(config), encoding="utf-8")
            host.environment["KUBECONFIG"] = str(path)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for proxy in self.proxies.values():
            proxy.close()
        self.server.__exit__(kind, error, trace)

    def allow(self, role: str) -> None:
        """``role``: the ClusterRole that the product asks for, as YAML with its binding."""
        rules = next(yaml.safe_load_all(role))["rules"]
        for host in self.workers:
            self.server.grant(user_of(host), rules)

    def late(self, user: str, act: Callable[[], object]) -> Callable[[], None]:
        """What ends a fault that begins now, and because of which requests may arrive late."""
        began = datetime.now(UTC)

        def end() -> None:
            act()
            self.windows.append(Window(user, began, datetime.now(UTC)))

        return end

    # --- pods ---------------------------------------------------------------------------------------------------------

    def make_next(self) -> bool:
        """The next pod of the plan comes, with its claim; False where all are there."""
        with self.making:
            planned = next(self._coming, None)
            if planned is not None:
                self.make(planned)
            return planned is not None

    def make(self, planned: Planned) -> None:
        claim = [claim_of(planned)] if planned.storage else []
        *_, stored = self.server.add(*claim, manifest_of(planned))
        self.made[planned.name] = Made(planned, stored["metadata"]["uid"])

    def probe(self, number: int) -> str:
        """One more pod, which anybody could place; its name."""
        planned = Planned(f"probe-{number}", "plain")
        with self.making:
            self.make(planned)
        return planned.name


# --- what is in it ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Planned:
    name: str
    kind: str
    """plain; asks: a person; urgent: evicts; huge: has no place; stored: has a volume."""
    storage: str = ""
    """The class of its claim."""

    @property
    def asks(self) -> bool:
        return self.kind == "asks"


@dataclass(frozen=True)
class Made:
    planned: Planned
    uid: str


SHARES: Final = {"plain": 46, "asks": 22, "urgent": 12, "stored": 14, "huge": 6}


def planned(pods: int, chance: random.Random) -> list[Planned]:
    """One of each kind at least, where there are as many."""
    kinds = [*SHARES, *chance.choices(list(SHARES), list(SHARES.values()), k=max(0, pods - len(SHARES)))][:pods]
    chance.shuffle(kinds)
    made = []
    for number, kind in enumerate(kinds):
        storage = ""
        if kind == "stored":
            storage = chance.choice(("local", "made"))
        elif kind == "asks" and chance.random() < 0.25:
            storage = "made"
        made.append(Planned(f"{kind}-{number}", kind, storage))
    return made


def manifest_of(planned: Planned) -> Json:
    changes: Json = {"spec": {"nodeSelector": {"pool": "open"}}}
    cpu = "100m"
    if planned.kind == "urgent":
        cpu = "1"
        changes["spec"] |= {"nodeSelector": {"pool": "full"}, "priority": 1000}
    elif planned.kind == "huge":
        cpu = "900"
    elif planned.asks:
        changes["metadata"] = {"labels": {"ask": "person"}}
    if planned.storage:
        changes["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": planned.name}}]
    return pod(planned.name, SHOP, cpu=cpu, memory="16Mi", scheduler=OURS, **changes)


def _storage(name: str) -> Json:
    return {"accessModes": ["ReadWriteOnce"], "storageClassName": name, "volumeMode": "Filesystem"}


def claim_of(planned: Planned) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": planned.name, "namespace": SHOP},
        "spec": {**_storage(planned.storage), "resources": {"requests": {"storage": "1Gi"}}},
        "status": {"phase": "Pending"},
    }


def cluster_of(plan: list[Planned]) -> Iterator[Json]:
    for number in range(OPEN_NODES):
        name = f"open-{number}"
        labels = {"kubernetes.io/hostname": name, "pool": "open"}
        yield node(name, cpu="64", memory="64Gi", pods="500", metadata={"labels": labels})
    urgent = sum(each.kind == "urgent" for each in plan)
    # One more than needed: the pods of the last one are guarded by a budget.
    full = -(-urgent // FULL_CPU) + 1
    for number in range(full):
        name = f"full-{number}"
        yield node(name, cpu=str(FULL_CPU), metadata={"labels": {"kubernetes.io/hostname": name, "pool": "full"}})
        for place in range(FULL_CPU):
            guarded = {"labels": {"guarded": "yes" if number == full - 1 else "no"}}
            yield pod(f"low-{number}-{place}", SHOP, cpu="1", memory="16Mi", on=name, metadata=guarded)
    yield {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "guards", "namespace": SHOP},
        "spec": {"selector": {"matchLabels": {"guarded": "yes"}}, "minAvailable": FULL_CPU},
        "status": {"disruptionsAllowed": 0, "currentHealthy": FULL_CPU, "desiredHealthy": FULL_CPU},
    }
    for name, provisioner in (("local", "kubernetes.io/no-provisioner"), ("made", "chaos.example.com/volumes")):
        yield {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": name},
            "provisioner": provisioner,
            "volumeBindingMode": "WaitForFirstConsumer",
        }
    for number in range(sum(each.storage == "local" for each in plan)):
        yield local_volume(number)


def local_volume(number: int) -> Json:
    there: dict[str, Any] = {
        "key": "kubernetes.io/hostname",
        "operator": "In",
        "values": [f"open-{number % OPEN_NODES}"],
    }
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"local-{number}"},
        "spec": {
            **_storage("local"),
            "capacity": {"storage": "1Gi"},
            "local": {"path": "/mnt"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [there]}]}},
        },
        "status": {"phase": "Available"},
    }
