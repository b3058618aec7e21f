"""What one attempt keeps from extension point to extension point (upstream ``stateData`` and ``claimStore``)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Self

from framework.objects import ResourceClaim
from framework.objects.devices import AllocationResult
from framework.objects.pod import ContainerExtendedResourceRequest
from framework.objects.selectors import NodeSelectorMatcher
from framework.plugins.dynamicresources.allocator import Allocator

STATE_KEY: Final = "DynamicResources"


@dataclass(frozen=True, slots=True)
class NodeAllocation:
    """What Filter found for a node: per claim that had to be allocated, in their order."""

    results: tuple[AllocationResult, ...]
    extended_claim: ResourceClaim | None = None
    mappings: tuple[ContainerExtendedResourceRequest, ...] = ()


@dataclass(slots=True)
class ClaimState:
    """``claims``: the user's, in the pod's order, then the one for extended resources, if there is one.

    Shared by all clones: what preemption's dry runs find is kept, too, as upstream does.
    """

    claims: list[ResourceClaim] = field(default_factory=list)
    user_claims: int = 0
    initial_extended_uid: str = ""
    scalars: dict[str, int] = field(default_factory=dict)
    """The pod's scalar requests, when a device class backs one of them."""
    available_on: dict[int, NodeSelectorMatcher] = field(default_factory=dict)
    """Position of an allocated claim → the nodes where its devices can be used."""
    allocator: Allocator | None = None
    unavailable: set[int] = field(default_factory=set)
    """Positions of allocated claims that were of no use on at least one node."""
    by_node: dict[str, NodeAllocation] = field(default_factory=dict)
    allocations: dict[int, AllocationResult] = field(default_factory=dict)
    """Position → what Reserve decided; PreBind publishes it."""
    binding_since: int = 0
    """When PreBind began to wait for devices."""

    def clone(self) -> Self:
        return self

    def __getstate__(self) -> dict[str, Any]:
        """For pods that wait on Permit: Filter is over."""
        kept = {name: getattr(self, name) for name in self.__slots__}
        return {**kept, "allocator": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)

    @property
    def extended(self) -> ResourceClaim | None:
        return self.claims[self.user_claims] if self.user_claims < len(self.claims) else None

    def to_allocate(self) -> list[tuple[int, ResourceClaim]]:
        return [(i, claim) for i, claim in enumerate(self.claims) if claim.status.allocation is None]


NO_CLAIMS: Final = ClaimState()
"""Of every pod without claims. Nothing writes to it."""
