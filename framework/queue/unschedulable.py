"""Pods that were rejected and wait for something to change, and gated pods (docs/semantics/queue.md#structures).

Indexed by rejecting plugin, so that an event looks only at the pods whose rejectors registered for it.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable, Iterator

from framework.interface.signature import signature
from framework.objects import Pod
from framework.queue.queued_pod import QueuedPodInfo


class UnschedulablePods:
    __slots__ = ("_ages", "_by_plugin", "_digests", "_indexed", "_sequence", "_without_rejectors", "pods")

    def __init__(self) -> None:
        self.pods: dict[str, tuple[int, QueuedPodInfo]] = {}
        """Key → (its turn, the pod)."""
        self._indexed: dict[str, list[str]] = {}
        self._by_plugin: dict[str, dict[str, None]] = {}
        self._without_rejectors: dict[str, None] = {}
        self._ages: list[tuple[int, int, str]] = []
        self._sequence = 0
        self._digests: dict[str, tuple[Pod, bytes]] = {}

    def __len__(self) -> int:
        return len(self.pods)

    def __contains__(self, key: str) -> bool:
        return key in self.pods

    def __iter__(self) -> Iterator[QueuedPodInfo]:
        """In order of entry."""
        return (pod for _, pod in self.pods.values())

    def get(self, key: str) -> QueuedPodInfo | None:
        found = self.pods.get(key)
        return None if found is None else found[1]

    def add_or_update(self, pod: QueuedPodInfo) -> None:
        """Also called for a pod that is inside and whose rejectors may have changed; it keeps its turn."""
        known = self.pods.get(pod.key)
        if known is None:
            self._sequence += 1
            sequence = self._sequence
        else:
            sequence = known[0]
            self._forget(pod.key)
        self.pods[pod.key] = (sequence, pod)
        rejectors = pod.rejectors()
        self._indexed[pod.key] = rejectors
        for plugin in rejectors:
            self._by_plugin.setdefault(plugin, {})[pod.key] = None
        if not rejectors:
            self._without_rejectors[pod.key] = None
        if known is None and not pod.gated:
            heapq.heappush(self._ages, (pod.timestamp, sequence, pod.key))

    def delete(self, key: str) -> QueuedPodInfo | None:
        found = self.pods.pop(key, None)
        if found is None:
            return None
        self._forget(key)
        self._digests.pop(key, None)
        return found[1]

    def likeness(self, pod: QueuedPodInfo) -> bytes:
        """The same of pods that differ in nothing but what no hint for equal pods may look at."""
        known = self._digests.get(pod.key)
        if known is None or known[0] is not pod.pod:
            digest = hashlib.blake2b(signature(pod.pod_info), digest_size=16).digest()
            known = self._digests[pod.key] = (pod.pod, digest)
        return known[1]

    def _forget(self, key: str) -> None:
        for plugin in self._indexed.pop(key):
            pods = self._by_plugin[plugin]
            del pods[key]
            if not pods:
                del self._by_plugin[plugin]
        self._without_rejectors.pop(key, None)

    def rejected_by(self, plugins: Iterable[str]) -> list[QueuedPodInfo]:
        """Pods that one of the plugins rejected, and pods that nobody did, in order of entry."""
        keys = dict(self._without_rejectors)
        for plugin in plugins:
            keys.update(self._by_plugin.get(plugin, {}))
        return [pod for _, pod in sorted((self.pods[key] for key in keys), key=lambda found: found[0])]

    def oldest(self, *, gated: bool) -> int | None:
        """The earliest timestamp of a pod that is (or is not) gated."""
        if gated:
            return min((pod.timestamp for _, pod in self.pods.values() if pod.gated), default=None)
        ages = self._ages
        while ages:
            timestamp, sequence, key = ages[0]
            found = self.pods.get(key)
            if found is not None and found[0] == sequence and not found[1].gated:
                return timestamp
            # Gone, or gated since: a gated pod that loses its gate leaves this pool at once.
            heapq.heappop(ages)
        return None
