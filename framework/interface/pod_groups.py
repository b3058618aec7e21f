"""What plugins see of a pod group: its members, and the cycle in which it is scheduled.

Rules: docs/semantics/pod-groups.md#group-cycle.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from framework.objects import Pod


class PodGroupMembers(Protocol):
    """The pods of one group that the scheduler knows (upstream ``PodGroupState``)."""

    @property
    def all_count(self) -> int: ...

    @property
    def scheduled_count(self) -> int:
        """Assumed or bound."""
        ...

    def scheduled_pods(self) -> Sequence[Pod]: ...

    def unscheduled_pods(self) -> Sequence[Pod]: ...

    def assumed_uids(self) -> Collection[str]: ...


@dataclass(frozen=True, slots=True)
class Placement:
    """Nodes among which a pod group may be placed, in the order of the node list."""

    name: str
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlacementAssignments:
    """Where the pods of a group would go in a placement; pods that found no node there are left out."""

    placement: Placement
    assignments: tuple[tuple[Pod, str], ...]


@dataclass(frozen=True, slots=True)
class PodGroupCycle:
    """Set in the cycle state while the pods of a group are tried out together: nothing is bound yet."""

    namespace: str
    name: str
    members: PodGroupMembers
    """As the cycle's snapshot has them, with the pods that it has assumed so far."""
