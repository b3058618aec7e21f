"""Where a fork leaves the real cluster: from there on its own scheduler decides, with or without what came afterwards.

What came is in the fork's journal (``Arrivals``), and happens when the fork's clock is there. It comes as to a shadow
on its own (own_world.py): without what the real scheduler decided since the fork left.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Sequence
from typing import Final

import msgspec
import zstandard

from framework.objects import Pod
from framework.profiles import Clock
from framework.scheduler.cluster import Cluster
from framework.scheduler.controllers import CONTROLLERS, OF_CHANGES, OF_OWN_DECISIONS
from framework.scheduler.store import object_key
from framework.sentences import sentence
from schedweb.engine.commands import Arrivals, ObservedChange, Told
from schedweb.engine.observed import NOT_FOLLOWING, observe_changes
from schedweb.engine.own_world import OWN_VERSIONS, Beside, OwnWorld
from schedweb.engine.persons import Persons
from schedweb.engine.player import Player
from schedweb.engine.told import ToldProjection
from schedweb.engine.world import Refused

NOT_COMING: Final = sentence("Nothing of a real cluster comes to this run any more.")
_CHANGES: Final = msgspec.json.Decoder(tuple[ObservedChange, ...])


class PartedWorld(OwnWorld):
    """The world of a fork, which was that of a run beside a real cluster up to here."""

    def __init__(self, cluster: Cluster, clock: Clock, schedulers: frozenset[str]) -> None:
        self._cluster, self._clock = cluster, clock
        self.start = clock.now
        self.schedulers = schedulers
        self.is_followed = True
        self.beside = Beside({}, {}, {})
        cluster.number_versions_from(OWN_VERSIONS)
        cluster.before_eviction = self.before_eviction

    @property
    def cluster(self) -> Cluster:
        return self._cluster

    def before_eviction(self, pod: Pod) -> None:
        self.evicted_here(pod, self._clock.now)

    def take_over(self, *, was_told: bool) -> None:
        """What the real scheduler has not decided yet is ours. ``was_told``: what it said of that is taken off; else
        this run said it."""
        objects = list(self._cluster.all())
        for place, here in self._begun(objects).items():
            known = objects[place]
            if not was_told or here == known:
                continue
            if here is None:
                self._cluster.delete(known)
            else:
                self._cluster.observe(here)


class Later:
    """What came to the real cluster after a fork left it, and has not come to the fork."""

    def __init__(self, world: OwnWorld, expects: int) -> None:
        self.world = world
        self.world.persons = Persons()
        self.untold = expects
        """Changes of which it is only known how many they are."""
        self.total = self.left = expects
        """Changes."""
        self._told: deque[tuple[int, int, bytes]] = deque()
        """(when, how many, packed): as objects they would make every checkpoint as large as what is still to come."""

    @property
    def next(self) -> int | None:
        """When the next ones come; nanoseconds since 1970."""
        return self._told[0][0] if self._told else None

    def expect(self, told: Sequence[Told]) -> None:
        packer = zstandard.ZstdCompressor(level=3)
        for each in told:
            count = len(each.changes)
            self._told.append((each.at, count, packer.compress(msgspec.json.encode(each.changes))))
            known = min(self.untold, count)
            self.untold -= known
            self.total += count - known
            self.left += count - known

    def arrive(self, player: Player) -> None:
        """The next ones."""
        at, count, packed = self._told.popleft()
        self.left -= count
        changes = _CHANGES.decode(zstandard.ZstdDecompressor().decompress(packed))
        observe_changes(player, at, changes, self.world)
        self.world.reveal()

    def configured(self, schedulers: frozenset[str], now: int) -> None:
        """Of pods that are pending ours decides from now on where there is a profile now."""
        self.world.schedulers = schedulers
        for pod in self.world.cluster.list(Pod):
            if not pod.spec.node_name and self.world.beside.pods.get(object_key(pod)) is None:
                self.world.decide(pod, now)


def unfollow(player: Player, *, arrivals: bool = False, expects: int = 0) -> None:
    """From here on it is a run like all others: its own scheduler decides, on a clock of its own. ``arrivals``: what
    came to the cluster afterwards comes here, ``expects`` changes; else controllers are simulated. Raises Refused."""
    if not player.is_of_real_cluster:
        raise Refused(NOT_FOLLOWING)
    was_told = player.observing
    live, player.live = player.live, None
    if live is not None:
        live.go_on_simulated()
    own, player.own = player.own, None
    cluster, scheduler = player.world.cluster, player.scheduler
    if arrivals:
        if own is None:
            parted = PartedWorld(cluster, scheduler.core.clock, frozenset(scheduler.profiles))
            parted.take_over(was_told=was_told)
        player.later = Later(own or parted, expects)
    elif own is not None:
        own.go_on_simulated()
    player.observing = False
    player.options = dataclasses.replace(player.options, clock="virtual")
    assert isinstance(player.projection, ToldProjection)
    player.projection.play_on(scheduler, tells_others=arrivals)
    if arrivals:
        cluster.set_controllers(OF_OWN_DECISIONS)
    else:
        cluster.set_controllers(CONTROLLERS, OF_CHANGES)
    cluster.start_controllers()
    for uid in list(scheduler.core.standing):
        scheduler.write_answered(uid)  # which is done here now


def expect(player: Player, command: Arrivals) -> None:
    """Raises Refused."""
    if player.later is None:
        raise Refused(NOT_COMING)
    player.later.expect(command.told)
