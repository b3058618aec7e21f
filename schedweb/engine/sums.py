"""Whether everybody who keeps account of the nodes says the same, and no node holds more than it has.

Four keep account: the cluster (which pods have a node), the scheduler's cache, its columns, and the projection that
people see. With SCHEDULING_PLAYGROUND_VERIFY_SUMS=1, as the tests set it, they are compared before every batch.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import ClassVar, Final

from framework.columns.usage import wrap
from framework.interface.node_info import PodInfo
from framework.objects import Pod
from framework.objects.resources import placed_requests
from framework.scheduler.store import FINISHED
from schedweb.engine.player import Player

VERIFY: Final = "SCHEDULING_PLAYGROUND_VERIFY_SUMS"
FIT: Final = "NodeResourcesFit"
PODS: Final = "pods"
ROOM: Final = ("cpu", "memory", PODS)
"""What no configuration can have ignored."""
FAR: Final = 1 << 62
"""Sums beyond wrap."""
Amounts = dict[str, int]


class SumsDiffer(AssertionError):
    """Names the node, the resource, and who says what."""


class Sums:
    verifies: ClassVar[bool] = os.environ.get(VERIFY) == "1"

    def __init__(self, player: Player) -> None:
        self.player = player
        self.before: dict[str, tuple[frozenset[str], tuple[int, ...]]] = {}
        """Node → (uids of its pods, what it offers) when it was looked at last."""

    def verify(self) -> None:
        """Raises SumsDiffer. Within a cycle nothing is compared: a pod is half way then."""
        if not self.verifies or self.player.scheduler.mid_cycle:
            return
        bound, reserved = self._of_cluster()
        self._compare_cache(bound, reserved)
        self._compare_projection(bound, reserved)
        self._compare_room(bound, reserved)

    def _of_cluster(self) -> tuple[dict[str, Amounts], dict[str, Amounts]]:
        """Node → what pods bound there ask for, and those for which it is reserved; each pod read anew."""
        bound: dict[str, Amounts] = {}
        reserved: dict[str, Amounts] = {}
        cache = self.player.scheduler.core.cache
        for pod in self.player.world.cluster.list(Pod):
            if pod.status.phase in FINISHED:
                continue
            if pod.spec.node_name:
                _add(bound.setdefault(pod.spec.node_name, {}), placed_requests(pod))
            elif (assumed := cache.get_pod(pod.metadata.uid)) is not None:
                _add(reserved.setdefault(assumed.pod.spec.node_name, {}), assumed.requests)
        return bound, reserved

    def _compare_cache(self, bound: dict[str, Amounts], reserved: dict[str, Amounts]) -> None:
        core = self.player.scheduler.core
        core.cache.update_snapshot(core.snapshot)
        usage = core.snapshot.usage
        for name in core.cache.node_names():
            expected = _both(bound.get(name, {}), reserved.get(name, {}))
            _compare(name, expected, _of_pods(info for info, _ in core.cache.pods_on(name)), "the cache's pods")
            info = core.snapshot.get(name)
            assert info is not None
            _compare(name, expected, {**info.requested, PODS: len(info.pods)}, "the snapshot")
            row = core.snapshot.row(name)
            columns = {each: int(usage.requested_of(each)[row]) for each in info.requested}
            _compare(name, expected, {**columns, PODS: int(usage.pods[row])}, "the columns")

    def _compare_projection(self, bound: dict[str, Amounts], reserved: dict[str, Amounts]) -> None:
        table = self.player.projection.nodes
        for name, view in table.views.items():
            for what, shown, expected in (
                ("the projection", view.requested, bound.get(name, {})),
                ("the projection of what is reserved", view.reserved, reserved.get(name, {})),
            ):
                counted = dict(zip(table.resources, shown, strict=True))
                _compare(name, {key: amount for key, amount in expected.items() if key in counted}, counted, what)

    def _compare_room(self, bound: dict[str, Amounts], reserved: dict[str, Amounts]) -> None:
        """What an import or an arrival put on a node, or a node that shrank, is nobody's mistake here."""
        core, projection = self.player.scheduler.core, self.player.projection
        keeps_room = all(
            FIT in profile.point("filter").names for profile in self.player.scheduler.configuration.profiles
        )
        for name, view in projection.nodes.views.items():
            pods = frozenset(info.uid for info, _ in core.cache.pods_on(name))
            offered = tuple(view.allocatable)
            known = self.before.get(name)
            self.before[name] = pods, offered
            if known is None or not keeps_room or known[1] != offered:
                continue
            came = [projection.views[uid] for uid in pods - known[0] if uid in projection.views]
            if not came or any(each.attempts == 0 for each in came):
                continue
            used = _both(bound.get(name, {}), reserved.get(name, {}))
            for resource, has in zip(projection.nodes.resources, offered, strict=True):
                asked = [each.amounts.get(resource, 0) if resource != PODS else 1 for each in came]
                if resource in ROOM and any(asked) and has < used.get(resource, 0) < FAR:
                    raise SumsDiffer(f"{name} has {has} {resource}, and its pods hold {used[resource]}")


def _add(to: Amounts, requests: Mapping[str, int]) -> None:
    for name, amount in requests.items():
        to[name] = to.get(name, 0) + amount
    to[PODS] = to.get(PODS, 0) + 1


def _both(first: Amounts, second: Amounts) -> Amounts:
    return {name: first.get(name, 0) + second.get(name, 0) for name in first.keys() | second.keys()}


def _of_pods(pods: Iterable[PodInfo]) -> Amounts:
    found: Amounts = {}
    for info in pods:
        _add(found, placed_requests(info.pod))
    return found


def _compare(node: str, expected: Amounts, found: Mapping[str, int], whose: str) -> None:
    for name in expected.keys() | found.keys():
        should, is_ = wrap(expected.get(name, 0)), wrap(found.get(name, 0))
        if should != is_:
            raise SumsDiffer(f"{node}: pods ask for {should} {name}, {whose} has {is_}")
