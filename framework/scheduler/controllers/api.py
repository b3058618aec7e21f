"""What a simulated controller may do: read the cluster, and write to it as any client of the API server would."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol, TypeVar

from framework.interface.handle import ObjectStore
from framework.objects import KubeObject, KubernetesObject, Pod
from framework.scheduler.store import InformerEvent, ObjectAdded, ObjectDeleted, ObjectUpdated

O = TypeVar("O", bound=KubeObject)  # noqa: E741


class ControlledCluster(ObjectStore, Protocol):
    """The cluster as controllers see it. Every write comes back to all of them as an event."""

    @property
    def reserving(self) -> Mapping[str, int]:
        """Scheduler that keeps reservations → how long one holds that does not say so, in nanoseconds; 0: for ever."""
        ...

    def find(self, obj: KubeObject) -> KubeObject | None:
        """The stored object of the same kind, namespace and name."""
        ...

    def now_rfc3339(self) -> str:
        """The run's time as metadata write it."""
        ...

    def create(self, obj: O) -> O:
        """Raises Refused and AlreadyExists."""
        ...

    def post(self, obj: O, *, stored: bool = False) -> O | None:
        """Creates the object, with uid and creation time as the API server gives them; None when it refuses.

        ``stored``: made from one that was admitted before.
        """
        ...

    def replace(self, obj: O) -> O:
        """Raises NotFound."""
        ...

    def delete(self, obj: KubeObject) -> None:
        """Raises NotFound."""
        ...

    def event(self, type_: str, reason: str, pod: Pod, note: str) -> None: ...


class Controller(NamedTuple):
    act: Callable[[ControlledCluster, InformerEvent], None]
    """Called after a change once the scheduler has seen it, and for every object there is when a run begins."""
    kinds: tuple[type[KubernetesObject], ...]
    """Of no others it hears."""
    events: tuple[type[InformerEvent], ...] = (ObjectAdded, ObjectUpdated, ObjectDeleted)
