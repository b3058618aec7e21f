"""Resource pools as one node sees them (docs/semantics/devices.md#allocation; upstream `GatherPools`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from framework.objects import Node, NodeSelector, NodeSelectorRequirement
from framework.objects.devices import CounterSet, ResourceSlice
from framework.objects.field_errors import aggregate
from framework.objects.selectors import compile_node_selector
from framework.plugins.dynamicresources.devices import Features


class AllocationError(Exception):
    """Ends the attempt: something is wrong with a claim, a class or a slice."""


class PoolId(NamedTuple):
    driver: str
    pool: str

    def __str__(self) -> str:
        return "/".join(self)


@dataclass(slots=True)
class Pool:
    """``slices``: those with devices for this node. An incomplete or invalid pool gives no devices."""

    id: PoolId
    incomplete: bool = False
    invalid: bool = False
    slices: Sequence[ResourceSlice] = ()
    slices_elsewhere: Sequence[ResourceSlice] = ()
    """Their devices may use up counters of the pool."""
    counter_sets: dict[str, CounterSet] = field(default_factory=dict)


def node_matches(node: Node, name: str | None, every: bool | None, selector: NodeSelector | None) -> bool:
    """Raises AllocationError for a node selector that cannot be parsed."""
    if name:
        return node.metadata.name == name
    if every:
        return True
    if selector is not None:
        matcher = compile_node_selector(selector)
        if matcher.errors:
            raise AllocationError(f"failed to parse node selector {_go_text(selector)}: {aggregate(matcher.errors)}")
        return matcher.matches(node.metadata.labels, node.metadata.name)
    return False


def gather_pools(
    slices: Iterable[ResourceSlice], node: Node, features: Features, all_slices: Sequence[ResourceSlice]
) -> list[Pool]:
    """By driver and pool name; pools with binding conditions come last. Raises AllocationError."""
    by_pool: dict[PoolId, list[ResourceSlice]] = {}
    for each in slices:
        spec = each.spec
        if not features.partitionable_devices and (spec.per_device_node_selection is not None or spec.shared_counters):
            continue
        if _is_relevant(each, node):
            _add_newest(by_pool, each)
    plain: list[Pool] = []
    conditional: list[Pool] = []
    for pool_id, mine in by_pool.items():
        pool = _pool(pool_id, mine, features, all_slices)
        if pool is not None:
            (conditional if _has_binding_conditions(pool) else plain).append(pool)
    plain.sort(key=lambda pool: pool.id)
    conditional.sort(key=lambda pool: pool.id)
    return plain + conditional


def _is_relevant(each: ResourceSlice, node: Node) -> bool:
    spec = each.spec
    if spec.shared_counters:
        return True
    if spec.node_name or spec.all_nodes or spec.node_selector is not None:
        try:
            return node_matches(node, spec.node_name, spec.all_nodes, spec.node_selector)
        except AllocationError as error:
            raise AllocationError(f"failed to perform node selection for slice {each.name}: {error}") from error
    if spec.per_device_node_selection:
        for device in spec.devices:
            try:
                if node_matches(node, device.node_name, device.all_nodes, device.node_selector):
                    return True
            except AllocationError as error:
                text = f"failed to perform node selection for device {device.name} in slice {each.name}: {error}"
                raise AllocationError(text) from error
    return False


def _add_newest(pools: dict[PoolId, list[ResourceSlice]], each: ResourceSlice) -> None:
    pool_id = PoolId(each.spec.driver, each.spec.pool.name)
    known = pools.get(pool_id)
    if known is None or each.spec.pool.generation > known[0].spec.pool.generation:
        pools[pool_id] = [each]
    elif each.spec.pool.generation == known[0].spec.pool.generation:
        known.append(each)


def _pool(
    pool_id: PoolId, mine: list[ResourceSlice], features: Features, all_slices: Sequence[ResourceSlice]
) -> Pool | None:
    """None: a slice for other nodes shows that the driver is replacing this generation."""
    wanted = mine[0].spec.pool.resource_slice_count
    everything: list[ResourceSlice] | None = None
    if len(mine) != wanted:
        everything = []
        generation = mine[0].spec.pool.generation
        for each in all_slices:
            if (each.spec.driver, each.spec.pool.name) != pool_id:
                continue
            if each.spec.pool.generation > generation:
                return None
            if each.spec.pool.generation == generation:
                everything.append(each)
        if len(everything) != wanted:
            return Pool(pool_id, incomplete=True)
    return _built(pool_id, sorted(mine, key=lambda each: each.name), features, everything)


def _built(
    pool_id: PoolId, mine: list[ResourceSlice], features: Features, everything: list[ResourceSlice] | None
) -> Pool:
    invalid = Pool(pool_id, invalid=True)
    if not features.partitionable_devices:
        return invalid if _repeats_a_name(mine) else Pool(pool_id, slices=mine)
    with_devices = [each for each in mine if not each.spec.shared_counters]
    if _repeats_a_name(with_devices):
        return invalid
    counter_sets: dict[str, CounterSet] = {}
    for each in mine:
        for counter_set in each.spec.shared_counters:
            if counter_set.name in counter_sets:
                return invalid
            counter_sets[counter_set.name] = counter_set
    if not _counters_exist(counter_sets, mine):
        return invalid
    if everything is None or len(mine) == len(everything):
        return Pool(pool_id, slices=with_devices, counter_sets=counter_sets)
    here = {each.name for each in mine}
    elsewhere = [each for each in everything if each.name not in here]
    if not _counters_exist(counter_sets, elsewhere):
        return invalid
    return Pool(pool_id, slices=with_devices, slices_elsewhere=elsewhere, counter_sets=counter_sets)


def _repeats_a_name(slices: Iterable[ResourceSlice]) -> bool:
    names = [device.name for each in slices for device in each.spec.devices]
    return len(set(names)) != len(names)


def _counters_exist(counter_sets: dict[str, CounterSet], slices: Iterable[ResourceSlice]) -> bool:
    for each in slices:
        for device in each.spec.devices:
            for consumption in device.consumes_counters:
                counter_set = counter_sets.get(consumption.counter_set)
                if counter_set is None or any(name not in counter_set.counters for name in consumption.counters):
                    return False
    return True


def _has_binding_conditions(pool: Pool) -> bool:
    return any(device.binding_conditions is not None for each in pool.slices for device in each.spec.devices)


def _go_text(selector: NodeSelector) -> str:
    """As the generated ``String`` methods of the API types write it."""
    terms = ",".join(
        "NodeSelectorTerm{"
        + f"MatchExpressions:[]NodeSelectorRequirement{{{_requirements(term.match_expressions)}}},"
        + f"MatchFields:[]NodeSelectorRequirement{{{_requirements(term.match_fields)}}},"
        + "}"
        for term in selector.node_selector_terms
    )
    return f"&NodeSelector{{NodeSelectorTerms:[]NodeSelectorTerm{{{terms}{',' if terms else ''}}},}}"


def _requirements(requirements: Iterable[NodeSelectorRequirement]) -> str:
    return "".join(
        f"NodeSelectorRequirement{{Key:{r.key},Operator:{r.operator},Values:[{' '.join(r.values)}],}},"
        for r in requirements
    )
