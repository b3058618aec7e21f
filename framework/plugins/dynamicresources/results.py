"""A solution as the claim's status has it: devices, their configuration, and where they can be used."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from framework.objects import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, ResourceClaim
from framework.objects.devices import (
    AllocationResult,
    DeviceAllocationConfiguration,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
)
from framework.objects.generated import generated_uid
from framework.objects.selectors import IN, METADATA_NAME
from framework.plugins.dynamicresources.pools import AllocationError

if TYPE_CHECKING:
    from framework.plugins.dynamicresources.search import RequestState, Taken

FROM_CLASS: Final = "FromClass"
FROM_CLAIM: Final = "FromClaim"


def allocation(
    taken: Sequence[Taken], chosen: Sequence[RequestState], claim: ResourceClaim, node_name: str, conditions: bool
) -> AllocationResult:
    """``chosen``: per request of the claim, what was chosen for it. ``conditions``: binding conditions are kept."""
    devices = tuple(_device(each, claim, number, conditions) for number, each in enumerate(taken))
    try:
        selector = _node_selector(taken, node_name)
    except AllocationError as error:
        raise AllocationError(f"create NodeSelector for claim {claim.name}: {error}") from error
    configuration = tuple(_configuration(chosen, claim))
    return AllocationResult(
        devices=DeviceAllocationResult(results=devices, config=configuration), node_selector=selector
    )


def _device(taken: Taken, claim: ResourceClaim, number: int, conditions: bool) -> DeviceRequestAllocationResult:
    request, device = taken.request, taken.device
    return DeviceRequestAllocationResult(
        request=request.full_name,
        driver=taken.id.driver,
        pool=taken.id.pool,
        device=taken.id.device,
        admin_access=True if request.admin_access else None,
        tolerations=request.tolerations,
        share_id=_share_id(taken, claim, number) if taken.shared else None,
        consumed_capacity={name: str(amount) for name, amount in taken.consumed.items()} if taken.consumed else None,
        binding_conditions=(device.binding_conditions or ()) if conditions else (),
        binding_failure_conditions=(device.binding_failure_conditions or ()) if conditions else (),
    )


def _share_id(taken: Taken, claim: ResourceClaim, number: int) -> str:
    """Upstream draws a random UUID. Unlike in a real cluster the claim decides it, so that a replay repeats it."""
    return generated_uid(claim.uid, str(number), *taken.id)


def _configuration(chosen: Sequence[RequestState], claim: ResourceClaim) -> Iterable[DeviceAllocationConfiguration]:
    """First each class's, once, then the claim's."""
    by_class: dict[str, list[DeviceAllocationConfiguration]] = {}
    for state in chosen:
        name = state.request.full_name
        known = by_class.get(state.device_class.name)
        if known is None:
            by_class[state.device_class.name] = [
                DeviceAllocationConfiguration(source=FROM_CLASS, requests=(name,), opaque=each.opaque)
                for each in state.device_class.spec.config
            ]
        else:
            known[:] = [replace(each, requests=(*each.requests, name)) for each in known]
    for made in by_class.values():
        yield from made
    for config in claim.spec.devices.config:
        copy = DeviceAllocationConfiguration(source=FROM_CLAIM, requests=config.requests, opaque=config.opaque)
        if not config.requests:
            yield copy
            continue
        for state in chosen:
            # Once per request that it names (upstream).
            if state.request.base_name in config.requests or state.request.full_name in config.requests:
                yield copy


def _node_selector(taken: Sequence[Taken], node_name: str) -> NodeSelector | None:
    """None: available everywhere. Raises AllocationError."""
    fields: list[NodeSelectorRequirement] = []
    expressions: list[NodeSelectorRequirement] = []
    for each in taken:
        per_device = each.slice.spec.per_device_node_selection
        where = each.device if per_device else each.slice.spec
        if where.node_name is not None or each.device.binds_to_node:
            only = NodeSelectorRequirement(key=METADATA_NAME, operator=IN, values=(node_name,))
            return NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(only,)),))
        if where.node_selector is None:
            continue
        terms = where.node_selector.node_selector_terms
        if len(terms) > 1:
            raise AllocationError(f"unsupported ResourceSlice.NodeSelector with {len(terms)} terms")
        for term in terms:
            _add_new(fields, term.match_fields)
            _add_new(expressions, term.match_expressions)
    if not fields and not expressions:
        return None
    term = NodeSelectorTerm(match_fields=tuple(fields), match_expressions=tuple(expressions))
    return NodeSelector(node_selector_terms=(term,))


def _add_new(known: list[NodeSelectorRequirement], more: Iterable[NodeSelectorRequirement]) -> None:
    for each in more:
        same = (
            old.key == each.key and old.operator == each.operator and set(old.values) == set(each.values)
            for old in known
        )
        if not any(same):
            known.append(each)
