"""Pods that plugins stashed in the cycle state for activation (``kubernetes.io/pods-to-activate``)."""

from __future__ import annotations

from framework.cycle.core import SchedulingCore
from framework.interface.cycle_state import CycleState
from framework.objects import ObjectMeta, Pod


def activate_stashed(core: SchedulingCore, state: CycleState) -> None:
    """Runs at the end of a successful scheduling cycle and of a successful binding cycle; empties the stash."""
    stashed = list(state.pods_to_activate.items())
    state.pods_to_activate.clear()
    pods = []
    for key, uid in stashed:
        namespace, _, name = key.partition("/")
        pods.append(Pod(metadata=ObjectMeta(name=name, namespace=namespace, uid=uid)))
    core.observer.activated([key for key, _ in stashed])
    core.queue.activate(pods, core.now)
