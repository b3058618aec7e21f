"""The allocator's search order and odd corners (upstream: structured/internal/incubating of 1.36)."""

from __future__ import annotations

from typing import Any

import pytest

from framework.objects import DeviceClass, ResourceClaim, ResourceSlice
from framework.objects.decode import decode_manifest
from framework.objects.defaults import with_defaults
from framework.objects.devices import AllocationResult
from framework.objects.quantity import parse_quantity
from framework.plugins.dynamicresources.allocator import Allocator, NoDevicesOnNode
from framework.plugins.dynamicresources.devices import AllocatedState, DeviceId, Features
from framework.plugins.dynamicresources.pools import AllocationError
from tests.builders import make_node

NODE = make_node("n1", labels={"zone": "a"})
Manifest = dict[str, Any]


def made(kind: str, name: str, spec: Manifest, namespaced: bool = False) -> Any:
    metadata = {"name": name, "uid": f"uid-{name}"} | ({"namespace": "default"} if namespaced else {})
    manifest = {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": metadata, "spec": spec}
    return with_defaults(decode_manifest(manifest))


def slice_of(*devices: Manifest, name: str = "s", driver: str = "d", pool: str = "p", **spec: Any) -> ResourceSlice:
    described = {"name": pool, "generation": spec.pop("generation", 1), "resourceSliceCount": spec.pop("count", 1)}
    place = (
        {} if spec.keys() & {"nodeName", "nodeSelector", "perDeviceNodeSelection", "allNodes"} else {"allNodes": True}
    )
    listed = {"devices": list(devices)} if devices else {}
    found: ResourceSlice = made("ResourceSlice", name, {"driver": driver, "pool": described, **place, **listed, **spec})
    return found


def device(name: str, **fields: Any) -> Manifest:
    return {"name": name, **fields}


def exactly(name: str = "r", **fields: Any) -> Manifest:
    return {"name": name, "exactly": {"deviceClassName": "any", **fields}}


def first_of(name: str, *subs: Manifest) -> Manifest:
    return {"name": name, "firstAvailable": [{"deviceClassName": "any", **sub} for sub in subs]}


def claim(*requests: Manifest, name: str = "c", **devices: Any) -> ResourceClaim:
    found: ResourceClaim = made("ResourceClaim", name, {"devices": {"requests": list(requests), **devices}}, True)
    return found


ANY: DeviceClass = made("DeviceClass", "any", {})


def allocator(*slices: ResourceSlice, taken: AllocatedState | None = None, of_class: DeviceClass = ANY) -> Allocator:
    return Allocator(Features(), taken or AllocatedState(), {"any": of_class}.get, slices)


def allocate(slices: list[ResourceSlice], *claims: ResourceClaim, **more: Any) -> list[list[str]] | None:
    """Per claim ``request pool/device``."""
    found = allocator(*slices, **more).allocate(NODE, claims)
    return None if found is None else [shown(each) for each in found]


def shown(allocation: AllocationResult) -> list[str]:
    return [f"{each.request} {each.pool}/{each.device}" for each in allocation.devices.results]


def cel(expression: str) -> list[Manifest]:
    return [{"cel": {"expression": expression}}]


class TestOrder:
    def test_pools_by_driver_and_name_then_slices_by_name(self) -> None:
        slices = [
            slice_of(device("x"), name="1", driver="d", pool="b"),
            slice_of(device("y"), name="z", driver="d", pool="a", count=2),
            slice_of(device("z"), name="y", driver="d", pool="a", count=2),
            slice_of(device("w"), name="0", driver="e", pool="0"),
        ]
        assert allocate(slices, claim(exactly(count=4))) == [["r a/z", "r a/y", "r b/x", "r 0/w"]]

    def test_pools_with_binding_conditions_come_last(self) -> None:
        slices = [
            slice_of(device("slow", bindingConditions=["ok"], bindingFailureConditions=["no"]), name="1", pool="a"),
            slice_of(device("fast"), name="2", pool="b"),
        ]
        assert allocate(slices, claim(exactly())) == [["r b/fast"]]

    def test_within_a_request_only_later_devices_are_tried(self) -> None:
        """Combinations, not permutations; another request begins at the first device again."""
        slices = [slice_of(*(device(name) for name in "abc"))]
        assert allocate(slices, claim(exactly("q", count=2), exactly("r"))) == [["q p/a", "q p/b", "r p/c"]]

    def test_it_goes_back_to_an_earlier_choice(self) -> None:
        big = {"attributes": {"big": {"bool": True}}}
        slices = [slice_of(device("a", **big), device("b", attributes={"big": {"bool": False}}))]
        wants_big = exactly("r", selectors=cel('device.attributes["d"].big'))
        assert allocate(slices, claim(exactly("q"), wants_big)) == [["q p/b", "r p/a"]]


class TestPools:
    def test_an_incomplete_pool_gives_nothing(self) -> None:
        assert allocate([slice_of(device("a"), count=2)], claim(exactly())) is None

    def test_asking_an_incomplete_pool_for_all_is_an_error(self) -> None:
        text = "claim default/c, request r: asks for all devices, but resource pool d/p is currently being updated"
        with pytest.raises(AllocationError, match=f"^{text}$"):
            allocate([slice_of(device("a"), count=2)], claim(exactly(allocationMode="All")))

    def test_slices_for_other_nodes_complete_a_pool(self) -> None:
        slices = [
            slice_of(device("a"), name="1", count=2, nodeName="n1"),
            slice_of(device("b"), name="2", count=2, nodeName="n2"),
        ]
        assert allocate(slices, claim(exactly())) == [["r p/a"]]

    def test_a_newer_generation_elsewhere_hides_the_old_one(self) -> None:
        slices = [
            slice_of(device("a"), name="1", count=2, nodeName="n1"),
            slice_of(device("b"), name="2", generation=2, nodeName="n2"),
        ]
        assert allocate(slices, claim(exactly())) is None

    def test_a_complete_old_generation_is_used_all_the_same(self) -> None:
        # Upstream only looks at the other slices when the node's own are too few.
        slices = [
            slice_of(device("a"), name="1", nodeName="n1"),
            slice_of(device("b"), name="2", generation=2, nodeName="n2"),
        ]
        assert allocate(slices, claim(exactly())) == [["r p/a"]]

    def test_a_device_name_twice_makes_a_pool_invalid_and_says_so(self) -> None:
        slices = [slice_of(device("a"), name="1", count=2), slice_of(device("a"), name="2", count=2)]
        with pytest.raises(NoDevicesOnNode, match=r"^invalid resource pools were encountered$"):
            allocate(slices, claim(exactly()))

    def test_an_invalid_pool_is_no_problem_beside_a_good_one(self) -> None:
        slices = [
            slice_of(device("a"), name="1", count=2),
            slice_of(device("a"), name="2", count=2),
            slice_of(device("b"), name="3", pool="q"),
        ]
        assert allocate(slices, claim(exactly())) == [["r q/b"]]

    def test_devices_can_name_their_own_nodes(self) -> None:
        zone = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]}
        slices = [
            slice_of(device("elsewhere", nodeName="n2"), device("here", nodeSelector=zone), perDeviceNodeSelection=True)
        ]
        (found,) = allocator(*slices).allocate(NODE, [claim(exactly())]) or []
        assert shown(found) == ["r p/here"]
        assert found.node_selector is not None
        assert found.node_selector.node_selector_terms[0].match_expressions[0].key == "zone"

    def test_a_device_for_everybody_restricts_no_nodes(self) -> None:
        (found,) = allocator(slice_of(device("a"))).allocate(NODE, [claim(exactly())]) or []
        assert found.node_selector is None

    def test_a_device_that_binds_to_its_node_restricts_to_it(self) -> None:
        (found,) = allocator(slice_of(device("a", bindsToNode=True))).allocate(NODE, [claim(exactly())]) or []
        assert found.node_selector is not None
        assert found.node_selector.node_selector_terms[0].match_fields[0].values == ("n1",)


class TestRequests:
    def test_all_takes_every_device_or_none(self) -> None:
        slices = [slice_of(device("a"), device("b"))]
        everything = claim(exactly(allocationMode="All"))
        assert allocate(slices, everything) == [["r p/a", "r p/b"]]
        taken = AllocatedState({DeviceId("d", "p", "b")})
        assert allocate(slices, everything, taken=taken) is None
        assert allocate([], everything) is None

    def test_the_first_alternative_that_works_is_chosen(self) -> None:
        slices = [slice_of(device("a"))]
        assert allocate(slices, claim(first_of("r", {"name": "two", "count": 2}, {"name": "one"}))) == [["r/one p/a"]]

    def test_more_devices_than_a_result_holds(self) -> None:
        slices = [slice_of(*(device(f"x{i}") for i in range(40)))]
        text = "claim default/c: number of requested devices 33 exceeds the claim limit of 32"
        with pytest.raises(AllocationError, match=f"^{text}$"):
            allocate(slices, claim(exactly(count=33)))

    def test_too_many_through_an_alternative_tries_the_next(self) -> None:
        slices = [slice_of(*(device(f"x{i}") for i in range(40)))]
        mixed = claim(exactly("q", count=20), first_of("r", {"name": "many", "count": 20}, {"name": "few", "count": 2}))
        found = allocate(slices, mixed)
        assert found is not None
        assert (len(found[0]), found[0][-1]) == (22, "r/few p/x21")

    def test_admin_access_ignores_what_others_have(self) -> None:
        slices, taken = [slice_of(device("a"))], AllocatedState({DeviceId("d", "p", "a")})
        assert allocate(slices, claim(exactly()), taken=taken) is None
        (found,) = allocator(*slices, taken=taken).allocate(NODE, [claim(exactly(adminAccess=True))]) or []
        assert [each.admin_access for each in found.devices.results] == [True]

    def test_admin_access_takes_no_device_twice_in_a_claim(self) -> None:
        assert allocate([slice_of(device("a"))], claim(exactly(count=2, adminAccess=True))) is None


class TestConstraints:
    SAME = [{"matchAttribute": "d/numa"}]  # noqa: RUF012 - a constant of the tests

    def numa(self, *values: int) -> list[ResourceSlice]:
        return [slice_of(*(device(f"x{i}", attributes={"numa": {"int": n}}) for i, n in enumerate(values)))]

    def test_devices_with_one_value(self) -> None:
        found = allocate(self.numa(0, 1, 1), claim(exactly(count=2), constraints=self.SAME))
        assert found == [["r p/x1", "r p/x2"]]

    def test_a_device_without_the_attribute_never_fits(self) -> None:
        assert allocate([slice_of(device("a"))], claim(exactly(), constraints=self.SAME)) is None

    def test_only_the_named_requests_are_constrained(self) -> None:
        some = [{"matchAttribute": "d/numa", "requests": ["q", "s/b"]}]
        requests = (exactly("q"), exactly("r"), first_of("s", {"name": "a", "count": 9}, {"name": "b"}))
        found = allocate(self.numa(0, 1, 0), claim(*requests, constraints=some))
        assert found == [["q p/x0", "r p/x1", "s/b p/x2"]]

    def test_all_devices_against_a_constraint_is_an_error(self) -> None:
        text = "claim default/c, request r: cannot add device d/p/x1 because a claim constraint would not be satisfied"
        with pytest.raises(AllocationError, match=f"^{text}$"):
            allocate(self.numa(0, 1), claim(exactly(allocationMode="All"), constraints=self.SAME))

    def test_distinct_values_between_requests(self) -> None:
        distinct = [{"distinctAttribute": "d/numa"}]
        found = allocate(self.numa(0, 0, 1), claim(exactly("q"), exactly("r"), constraints=distinct))
        assert found == [["q p/x0", "r p/x2"]]

    def test_distinct_values_within_a_request_compare_the_last_only(self) -> None:
        # Upstream remembers one value per request (constraint.go: m.attributes[requestName]).
        distinct = [{"distinctAttribute": "d/numa"}]
        found = allocate(self.numa(0, 1, 0), claim(exactly(count=3), constraints=distinct))
        assert found == [["r p/x0", "r p/x1", "r p/x2"]]


class TestTaints:
    TAINT = {"key": "broken", "value": "yes", "effect": "NoSchedule"}  # noqa: RUF012 - a constant of the tests

    def test_an_untolerated_taint_keeps_a_request_off(self) -> None:
        slices = [slice_of(device("a", taints=[self.TAINT]), device("b"))]
        assert allocate(slices, claim(exactly())) == [["r p/b"]]
        tolerant = exactly(tolerations=[{"key": "broken", "operator": "Exists"}])
        assert allocate(slices, claim(tolerant)) == [["r p/a"]]

    def test_the_effect_none_keeps_nobody_off(self) -> None:
        slices = [slice_of(device("a", taints=[{**self.TAINT, "effect": "None"}]))]
        assert allocate(slices, claim(exactly())) == [["r p/a"]]


class TestCounters:
    def pool(self, *taints: Manifest) -> list[ResourceSlice]:
        counters = [{"name": "mem", "counters": {"gib": {"value": "10"}}}]
        half = [{"counterSet": "mem", "counters": {"gib": {"value": "6"}}}]
        small = [{"counterSet": "mem", "counters": {"gib": {"value": "4"}}}]
        return [
            slice_of(name="counters", count=2, sharedCounters=counters),
            slice_of(
                device("big-0", consumesCounters=half, taints=list(taints)),
                device("big-1", consumesCounters=half),
                device("small", consumesCounters=small),
                name="devices",
                count=2,
            ),
        ]

    def test_partitions_share_what_there_is(self) -> None:
        assert allocate(self.pool(), claim(exactly(count=2))) == [["r p/big-0", "r p/small"]]
        assert allocate(self.pool(), claim(exactly(count=3))) is None

    def test_what_is_allocated_counts(self) -> None:
        taken = AllocatedState({DeviceId("d", "p", "big-1")})
        assert allocate(self.pool(), claim(exactly()), taken=taken) == [["r p/small"]]

    def test_a_tainted_partition_uses_counters_up_all_the_same(self) -> None:
        # Upstream notes the counters before it looks at the taint, and does not give them back (allocateDevice).
        tainted = self.pool({"key": "broken", "effect": "NoSchedule"})
        assert allocate(tainted, claim(exactly())) == [["r p/small"]]

    def test_a_counter_set_that_is_not_there_makes_the_pool_invalid(self) -> None:
        with pytest.raises(NoDevicesOnNode):
            allocate([slice_of(device("a", consumesCounters=[{"counterSet": "x", "counters": {}}]))], claim(exactly()))


class TestConsumableCapacity:
    def shared(self, **policy: Any) -> list[ResourceSlice]:
        capacity = {"memory": {"value": "10Gi", **({"requestPolicy": policy} if policy else {})}}
        return [slice_of(device("a", allowMultipleAllocations=True, capacity=capacity))]

    def wanting(self, amount: str, name: str = "c") -> ResourceClaim:
        return claim(exactly(capacity={"requests": {"memory": amount}}), name=name)

    def test_claims_share_a_device_until_it_is_full(self) -> None:
        found = allocator(*self.shared()).allocate(NODE, [self.wanting("6Gi"), self.wanting("4Gi", "c2")])
        assert found is not None
        results = [each.devices.results[0] for each in found]
        assert [each.consumed_capacity for each in results] == [{"memory": "6Gi"}, {"memory": "4Gi"}]
        assert len({each.share_id for each in results}) == 2
        assert allocate(self.shared(), self.wanting("6Gi"), self.wanting("5Gi", "c2")) is None

    def test_what_others_took_counts(self) -> None:
        gone = {DeviceId("d", "p", "a"): {"memory": parse_quantity("8Gi")}}
        assert allocate(self.shared(), self.wanting("3Gi"), taken=AllocatedState(capacities=gone)) is None
        assert allocate(self.shared(), self.wanting("2Gi"), taken=AllocatedState(capacities=gone)) == [["r p/a"]]

    def test_no_request_takes_the_default_or_everything(self) -> None:
        (found,) = allocator(*self.shared()).allocate(NODE, [claim(exactly())]) or []
        assert found.devices.results[0].consumed_capacity == {"memory": "10Gi"}
        (found,) = allocator(*self.shared(default="1Gi")).allocate(NODE, [claim(exactly())]) or []
        assert found.devices.results[0].consumed_capacity == {"memory": "1Gi"}

    @pytest.mark.parametrize(
        ("policy", "asked", "given"),
        [
            ({"validRange": {"min": "2Gi"}}, "1Gi", "2Gi"),
            ({"validRange": {"min": "1Gi", "step": "2Gi"}}, "2Gi", "3Gi"),
            ({"validRange": {"min": "1Gi", "max": "2Gi"}}, "3Gi", None),
            ({"validValues": ["1Gi", "4Gi"]}, "2Gi", "4Gi"),
            ({"validValues": ["1Gi", "4Gi"]}, "5Gi", None),
        ],
    )
    def test_requests_are_rounded_up_to_what_the_policy_allows(
        self, policy: Manifest, asked: str, given: str | None
    ) -> None:
        found = allocator(*self.shared(default="1Gi", **policy)).allocate(NODE, [self.wanting(asked)])
        taken = None if found is None else found[0].devices.results[0].consumed_capacity
        assert taken == (None if given is None else {"memory": given})

    def test_a_device_without_that_capacity_is_passed_over(self) -> None:
        assert allocate([slice_of(device("a"))], self.wanting("1")) is None


class TestConfiguration:
    def test_class_before_claim_each_for_its_requests(self) -> None:
        of_class: DeviceClass = made(
            "DeviceClass", "any", {"config": [{"opaque": {"driver": "d", "parameters": {"a": 1}}}]}
        )
        config = [{"requests": ["q"], "opaque": {"driver": "d", "parameters": {"b": 2}}}]
        wanted = claim(exactly("q"), exactly("r"), config=config)
        slices = slice_of(device("a"), device("b"))
        (found,) = allocator(slices, of_class=of_class).allocate(NODE, [wanted]) or []
        assert [(each.source, each.requests) for each in found.devices.config] == [
            ("FromClass", ("q", "r")),
            ("FromClaim", ("q",)),
        ]


class TestErrors:
    def test_a_selector_that_does_not_compile_names_the_class(self) -> None:
        broken: DeviceClass = made("DeviceClass", "any", {"selectors": cel("device.")})
        with pytest.raises(AllocationError, match=r"^class any: selector #0: CEL compile error: "):
            allocate([slice_of(device("a"))], claim(exactly()), of_class=broken)

    def test_a_selector_that_fails_names_the_claim(self) -> None:
        missing = claim(exactly(selectors=cel('device.attributes["d"].missing')))
        with pytest.raises(
            AllocationError, match=r"^claim default/c: selector #0: CEL runtime error: no such key: missing"
        ):
            allocate([slice_of(device("a"))], missing)
