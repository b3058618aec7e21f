"""Warnings for pods that a plugin which is not built yet would have judged (design: never silently dropped)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from framework.objects import Pod


def always(pod: Pod) -> bool:
    return True


JUDGES: Final[dict[str, Callable[[Pod], bool]]] = {
    # These judge only pods that use features which no manifest of ours can ask for by itself.
    "DeferredPodScheduling": lambda pod: False,
    "PodGroupPodsCount": lambda pod: False,
    "TopologyPlacementGenerator": lambda pod: False,
}


def warnings_of(pod: Pod, not_evaluated: Iterable[str]) -> list[str]:
    return [
        f"{plugin} is not evaluated yet; kube-scheduler would have asked it about this pod."
        for plugin in not_evaluated
        if JUDGES.get(plugin, always)(pod)
    ]
