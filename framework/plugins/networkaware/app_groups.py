"""AppGroups: who belongs to one, and where a workload stands in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from framework.interface import Handle
from framework.objects import KubernetesObject, Pod
from framework.objects.catalogue import AppGroup

O = TypeVar("O", bound=KubernetesObject)  # noqa: E741
T = TypeVar("T")


def group_of(pod: Pod) -> str:
    """The name of its AppGroup, or ""."""
    return pod.metadata.labels.get(AppGroup.GROUP_LABEL, "")


def workload_of(pod: Pod) -> str:
    return pod.metadata.labels.get(AppGroup.WORKLOAD_LABEL, "")


def find(handle: Handle, kind: type[O], namespaces: Iterable[str], name: str) -> O | None:
    """In the first of the namespaces that has it."""
    for namespace in namespaces:
        found = handle.objects.get(kind, namespace, name)
        if found is not None:
            return found
    return None


def find_by_halves(items: Sequence[T], wanted: str, key: Callable[[T], str]) -> T | None:
    """Upstream's binary search: where the list is not sorted, it may miss what is there."""
    low, high = 0, len(items) - 1
    while low <= high:
        middle = (low + high) // 2
        found = key(items[middle])
        if found == wanted:
            return items[middle]
        if found < wanted:
            low = middle + 1
        else:
            high = middle - 1
    return None
