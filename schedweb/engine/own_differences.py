"""Which of what was seen of a real cluster is new to a world of our own, or to what it knows of the real one."""

from __future__ import annotations

from framework.objects import KubeObject, Pod
from framework.scheduler.store import Key
from schedweb.engine.commands import ObservedChange
from schedweb.engine.observed import Differences, is_same, name_of
from schedweb.engine.own_world import OwnCluster
from schedweb.engine.persons import Place
from schedweb.engine.player import Player
from schedweb.engine.rehearsal import rehearse


def differences_of(player: Player) -> Differences:
    return Differences(player) if player.own is None else OwnDifferences(player, player.own)


class OwnDifferences(Differences):
    def __init__(self, player: Player, own: OwnCluster) -> None:
        super().__init__(player)
        self.own = own
        self._beside = own.beside

    def begin(self) -> None:
        super().begin()
        self._beside = self.own.ahead()

    def _is_news(self, key: Place, known: KubeObject | None, after: KubeObject, *, listed: bool) -> bool:
        rehearse(after)
        pods = self._beside.pods
        there = pods.get(key[2]) if isinstance(after, Pod) else None
        here = self.own.take(self._beside, known, after, listed=listed, now=self.player.now)
        same = here is known or (here is not None and known is not None and is_same(known, here))
        if same and (not isinstance(after, Pod) or pods.get(key[2]) == there):
            return False
        self._ahead[key] = here
        return True

    def _went(self, key: Place, known: KubeObject | None) -> ObservedChange | None:
        is_pod = key[1] == Pod.kind
        there = self._beside.pods.get(key[2]) if is_pod else None
        here = self.own.went(self._beside, known, key[2], is_pod=is_pod)
        if here is known and (not is_pod or self._beside.pods.get(key[2]) == there):
            return None
        self._ahead[key] = here
        return ObservedChange("deleted", name_of(key, there.uid if known is None and there else _uid_of(known)))

    def _missing(self, kind: tuple[str, str], listed: set[Key]) -> list[ObservedChange | None]:
        found = super()._missing(kind, listed)
        if kind[1] != Pod.kind:
            return found
        cluster = self.player.world.cluster
        evicted = [key for key, there in self._beside.pods.items() if there is not None and key not in listed]
        return found + [self._went((*kind, key), None) for key in evicted if cluster.get(Pod, *key) is None]


def _uid_of(known: KubeObject | None) -> str:
    return "" if known is None else known.metadata.uid
