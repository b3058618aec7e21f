"""Pods that wait on Permit (docs/semantics/framework.md#waiting-on-permit).

waiting → settled by the first of: all plugins allow, someone rejects or preempts, a time-out. The binding cycle that
waits takes the signal; it need not exist yet (an entry may outlive its attempt,
docs/semantics/framework.md#binding-cycle).
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Mapping
from typing import Final

from framework.interface.status import SUCCESS, Code, Status
from framework.objects import Pod

MAX_TIMEOUT: Final = 15 * 60 * 1_000_000_000
"""A waiting pod holds room on its node that nobody uses, so no plugin may make it wait longer."""
_UNITS: Final = ((3_600_000_000_000, "h"), (60_000_000_000, "m"))


def go_duration(nanoseconds: int) -> str:
    """Go's ``Duration.String``: 5m0s, 1.5s, 100ms, 0s."""
    if nanoseconds == 0:
        return "0s"
    sign, rest = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
    if rest < 1_000_000_000:
        for size, unit in ((1_000_000, "ms"), (1_000, "µs"), (1, "ns")):
            if rest >= size:
                return f"{sign}{_decimal(rest, size)}{unit}"
    text = ""
    for size, unit in _UNITS:
        count, rest = divmod(rest, size)
        if count or text:
            text += f"{count}{unit}"
    return f"{sign}{text}{_decimal(rest, 1_000_000_000)}s"


def _decimal(value: int, unit: int) -> str:
    whole, fraction = divmod(value, unit)
    digits = f"{fraction:0{len(str(unit)) - 1}d}".rstrip("0") if fraction else ""
    return f"{whole}.{digits}" if digits else str(whole)


class WaitingPod:
    """``signal`` is upstream's channel of capacity one: the first signal stays, later ones are dropped."""

    __slots__ = ("_deadlines", "_done", "_node_name", "_pod", "_timers_stopped", "_waits", "ready", "signal", "waiter")

    def __init__(self, pod: Pod, node_name: str, waits: Mapping[str, int], now: int, ready: deque[WaitingPod]) -> None:
        """``waits``: plugin → how long it may take, nanoseconds. ``ready``: where the entry goes when it is settled."""
        self._pod = pod
        self._node_name = node_name
        self._waits = dict(waits)
        self._deadlines = {plugin: now + wait for plugin, wait in waits.items()}
        self._timers_stopped = False
        self._done = False
        self.signal: Status | None = None
        self.waiter: object | None = None
        """The binding cycle that blocks on this entry."""
        self.ready = ready

    @property
    def pod(self) -> Pod:
        return self._pod

    @property
    def node_name(self) -> str:
        return self._node_name

    @property
    def done(self) -> bool:
        return self._done

    def pending_plugins(self) -> Mapping[str, int]:
        return dict(self._deadlines)

    def waits(self) -> Mapping[str, int]:
        """Plugin → the time-out it was given, nanoseconds."""
        return dict(self._waits)

    def allow(self, plugin: str) -> None:
        """Of a plugin that is not pending it changes nothing, unless nobody is pending any more."""
        self._deadlines.pop(plugin, None)
        if not self._deadlines:
            self._settle(SUCCESS)

    def reject(self, plugin: str, message: str) -> bool:
        return self._stop(Code.UNSCHEDULABLE, plugin, message)

    def preempt(self, plugin: str, message: str) -> bool:
        return self._stop(Code.ERROR, plugin, message)

    def _stop(self, code: Code, plugin: str, message: str) -> bool:
        """Any plugin name will do; the pending ones stay listed."""
        self._timers_stopped = True
        was_done = self._done
        self._settle(Status(code, (message,), plugin))
        return not was_done

    def _settle(self, status: Status) -> None:
        if self.signal is None:
            self.signal = status
            self.ready.append(self)
        self._done = True

    def timer_runs(self, plugin: str) -> bool:
        return not self._timers_stopped and plugin in self._deadlines

    def time_out(self, plugin: str) -> None:
        waited = go_duration(self._waits[plugin])
        self.reject(plugin, f"rejected due to timeout after waiting {waited} at plugin {plugin}")


class WaitingPods:
    """Uid → entry, and the timers of all entries, also of those that were replaced."""

    def __init__(self) -> None:
        self._pods: dict[str, WaitingPod] = {}
        self.timers: list[tuple[int, int, WaitingPod, str]] = []
        """A heap: (deadline, number, entry, plugin); some may not run any more."""
        self._sequence = 0
        self.ready: deque[WaitingPod] = deque()
        """Settled entries, in the order in which they were settled; the scheduler resumes who waits on them."""

    def __len__(self) -> int:
        return len(self._pods)

    def add(self, pod: Pod, node_name: str, waits: Mapping[str, int], now: int) -> WaitingPod:
        entry = WaitingPod(pod, node_name, waits, now, self.ready)
        for plugin, deadline in entry.pending_plugins().items():
            self._sequence += 1
            heapq.heappush(self.timers, (deadline, self._sequence, entry, plugin))
        self._pods[pod.metadata.uid] = entry
        return entry

    def remove(self, uid: str) -> None:
        self._pods.pop(uid, None)

    def get(self, uid: str) -> WaitingPod | None:
        return self._pods.get(uid)

    def iterate(self, visit: Callable[[WaitingPod], None]) -> None:
        """In order of arrival; Go's map has none."""
        for entry in list(self._pods.values()):
            visit(entry)

    def entries(self) -> list[WaitingPod]:
        return list(self._pods.values())

    def reject(self, uid: str) -> bool:
        """Plugin "" becomes the only rejector, which no event wakes (docs/semantics/framework.md#waiting-on-permit)."""
        entry = self._pods.get(uid)
        return entry is not None and entry.reject("", "removed")

    def next_timer(self) -> int | None:
        timers = self.timers
        while timers and not timers[0][2].timer_runs(timers[0][3]):
            heapq.heappop(timers)
        return timers[0][0] if timers else None

    def fire_timer(self, now: int) -> None:
        """The earliest timer, if it is due."""
        due = self.next_timer()
        if due is not None and due <= now:
            _, _, entry, plugin = heapq.heappop(self.timers)
            entry.time_out(plugin)
