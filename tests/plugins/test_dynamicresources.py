"""DynamicResources over whole clusters: claims from template to deletion, and what upstream does in odd corners."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from msgspec.structs import replace

from framework.interface import DeviceDecision
from framework.objects import DeviceClass, KubeObject, Pod, ResourceClaim, ResourceClaimTemplate, ResourceSlice
from framework.objects.decode import decode_manifest
from framework.objects.defaults import with_defaults
from framework.objects.devices import CLAIM_FINALIZER, AllocatedDeviceStatus, DeviceCondition
from framework.plugins.dynamicresources.tracker import TRACKER
from tests.builders import make_node, make_pod
from tests.plugins.playing import Play

CONFIGURATION = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
"""
WAITING = (
    CONFIGURATION
    + """
profiles:
- plugins:
    permit:
      enabled:
      - name: ManualApproval
"""
)
DRIVER = "gpu.example.com"
GPU = {"deviceClassName": "gpu"}
ON_X = {"key": "metadata.name", "operator": "In", "values": ["x"]}
ELSEWHERE = {"nodeSelectorTerms": [{"matchFields": [ON_X]}]}


def made(kind: str, name: str, **fields: Any) -> Any:
    metadata = {"name": name, "uid": f"uid-{name}", **fields.pop("metadata", {})}
    manifest = {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": metadata, **fields}
    return with_defaults(decode_manifest(manifest))


def gpu_class(**spec: Any) -> DeviceClass:
    selectors = [{"cel": {"expression": f'device.driver == "{DRIVER}"'}}]
    found: DeviceClass = made("DeviceClass", "gpu", spec={"selectors": selectors, **spec})
    return found


def node_slice(node: str, *devices: str, **of_device: Any) -> ResourceSlice:
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    listed = [{"name": device, **of_device} for device in devices]
    spec = {"driver": DRIVER, "nodeName": node, "pool": pool, "devices": listed}
    found: ResourceSlice = made("ResourceSlice", f"slice-{node}", spec=spec)
    return found


def one_gpu(**exactly: Any) -> dict[str, Any]:
    return {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu", **exactly}}]}}


def claim(name: str = "c", **exactly: Any) -> ResourceClaim:
    found: ResourceClaim = made("ResourceClaim", name, spec=one_gpu(**exactly))
    return found


def template(name: str = "t") -> ResourceClaimTemplate:
    found: ResourceClaimTemplate = made("ResourceClaimTemplate", name, spec={"spec": one_gpu()})
    return found


def user(name: str, of: str = "c", *, from_template: bool = False, **spec: Any) -> Pod:
    source = "resourceClaimTemplateName" if from_template else "resourceClaimName"
    manifest = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "uid": f"uid-{name}"},
        "spec": {"containers": [{"name": "main"}], "resourceClaims": [{"name": "dev", source: of}], **spec},
    }
    pod = with_defaults(decode_manifest(manifest))
    assert isinstance(pod, Pod)
    return pod


def play(*objects: KubeObject, configuration: str = CONFIGURATION) -> Play:
    return Play(configuration, [make_node("n1"), gpu_class(), *objects])


def stored(game: Play, name: str) -> ResourceClaim:
    found = game.scheduler.cluster.get(ResourceClaim, "default", name)
    assert found is not None
    return found


def devices_of(found: ResourceClaim) -> list[str]:
    assert found.status.allocation is not None
    return [each.device for each in found.status.allocation.devices.results]


def test_a_claim_is_allocated_reserved_and_part_of_the_attempt() -> None:
    game = play(node_slice("n1", "gpu-0"), claim())
    game.create(user("p"))
    game.cycles()
    assert game.bound == {"p": "n1"}
    found = stored(game, "c")
    assert (devices_of(found), [each.name for each in found.status.reserved_for]) == (["gpu-0"], ["p"])
    assert found.metadata.finalizers == (CLAIM_FINALIZER,)
    assert found.status.allocation is not None
    assert found.status.allocation.allocation_timestamp == "2027-01-15T08:00:00Z"
    assert game.seen.attempts[-1].decisions == (DeviceDecision("default/c", "gpu", DRIVER, "n1", "gpu-0", False),)


def test_a_claim_given_back_wakes_the_pod_that_waits_for_its_device() -> None:
    game = play(node_slice("n1", "gpu-0"), claim("c"), claim("d"))
    game.create(user("p"), user("q", "d"))
    game.cycles()
    assert (game.bound, game.unschedulable) == ({"p": "n1"}, {"q"})
    gone = game.scheduler.cluster.get(Pod, "default", "p")
    assert gone is not None
    game.scheduler.cluster.delete(gone)
    game.seconds(2)
    assert game.bound == {"q": "n1"}
    found = stored(game, "c")
    assert (found.status.allocation, found.status.reserved_for, found.metadata.finalizers) == (None, (), ())


class TestTemplates:
    def test_a_claim_is_made_named_told_and_deleted_with_its_pod(self) -> None:
        game = play(node_slice("n1", "gpu-0"), template())
        game.create(user("p", "t", from_template=True))
        game.cycles()
        assert game.bound == {"p": "n1"}
        (made_one,) = game.scheduler.cluster.list(ResourceClaim)
        assert made_one.name.startswith("p-dev-")
        assert len(made_one.name) == len("p-dev-") + 5
        assert made_one.metadata.annotations == {"resource.kubernetes.io/pod-claim-name": "dev"}
        pod = game.scheduler.cluster.get(Pod, "default", "p")
        assert pod is not None
        assert [s.resource_claim_name for s in pod.status.resource_claim_statuses] == [made_one.name]
        game.scheduler.cluster.delete(pod)
        assert game.scheduler.cluster.list(ResourceClaim) == []

    def test_a_pod_without_its_template_is_gated_until_there_is_one(self) -> None:
        game = play(node_slice("n1", "gpu-0"))
        game.create(user("p", "t", from_template=True))
        game.cycles()
        assert game.gated == {"p"}
        game.create(template())
        game.seconds(1)
        assert game.bound == {"p": "n1"}

    def test_a_replay_repeats_the_name(self) -> None:
        names = set()
        for _ in range(2):
            game = play(node_slice("n1", "gpu-0"), template())
            game.create(user("p", "t", from_template=True))
            names |= {each.name for each in game.scheduler.cluster.list(ResourceClaim)}
        assert len(names) == 1

    def test_somebody_elses_claim_of_that_name_is_replaced(self) -> None:
        game = play(node_slice("n1", "gpu-0"), template(), claim("foreign"))
        pod = user("p", "t", from_template=True)
        told = {"resourceClaimStatuses": [{"name": "dev", "resourceClaimName": "foreign"}]}
        manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "uid": pod.uid}, "status": told}
        status = decode_manifest(manifest)
        assert isinstance(status, Pod)
        game.create(Pod(metadata=pod.metadata, spec=pod.spec, status=status.status))
        game.cycles()
        assert game.bound == {"p": "n1"}
        assert stored(game, "foreign").status.allocation is None


class TestInFlight:
    """Between Reserve and PreBind nothing is written: the device must not be given away twice."""

    def test_a_pod_that_waits_on_permit_keeps_its_device(self) -> None:
        game = play(node_slice("n1", "gpu-0"), claim("c"), claim("d"), configuration=WAITING)
        game.create(user("p"), user("q", "d"), user("r", "c"))
        game.cycles()
        assert set(game.waiting) == {"p"}
        assert stored(game, "c").status.allocation is None
        messages = {each.pod: each.message for each in game.seen.attempts}
        assert messages["default/q"].startswith("0/1 nodes are available: 1 cannot allocate all claims.")
        in_process = "resource claim default/c is in the process of being allocated"
        assert messages["default/r"].startswith(f"0/1 nodes are available: {in_process}.")

    def test_it_survives_a_checkpoint_and_a_rejection(self) -> None:
        game = play(node_slice("n1", "gpu-0"), claim("c"), claim("d"), configuration=WAITING)
        game.create(user("p"))
        game.cycles()
        game.scheduler = pickle.loads(pickle.dumps(game.scheduler))
        game.scheduler.reject("uid-p", "ManualApproval", "no")
        game.create(user("q", "d"))
        game.cycles()
        game.scheduler.allow("uid-q", "ManualApproval")
        assert game.bound == {"q": "n1"}
        assert devices_of(stored(game, "d")) == ["gpu-0"]

    def test_all_profiles_see_one_tracker(self) -> None:
        two = CONFIGURATION + "profiles:\n- schedulerName: a\n- schedulerName: b\n"
        game = play(configuration=two)
        plugins = [profile.plugins["DynamicResources"] for profile in game.scheduler.profiles.values()]
        trackers = {id(plugin.handle.shared(TRACKER, object)) for plugin in plugins}
        assert (len(plugins), len(trackers)) == (2, 1)


class TestPostFilter:
    def test_an_unused_claim_of_no_use_on_any_node_is_deallocated(self) -> None:
        result = {"request": "gpu", "driver": DRIVER, "pool": "x", "device": "gpu-9"}
        allocation = {"devices": {"results": [result]}, "nodeSelector": ELSEWHERE}
        stale = made("ResourceClaim", "c", spec=one_gpu(), status={"allocation": allocation})
        game = play(node_slice("n1", "gpu-0"), stale)
        game.create(user("p"))
        game.cycles()
        first = game.seen.attempts[0].message
        assert first.startswith("0/1 nodes are available: 1 resourceclaim not available on the node.")
        assert "deallocation of ResourceClaim completed" in first
        game.seconds(2)
        assert game.bound == {"p": "n1"}
        assert devices_of(stored(game, "c")) == ["gpu-0"]

    def test_a_claim_that_others_use_stays(self) -> None:
        result = {"request": "gpu", "driver": DRIVER, "pool": "x", "device": "gpu-9"}
        allocation = {"devices": {"results": [result]}, "nodeSelector": ELSEWHERE}
        consumers = [{"resource": "pods", "name": "other", "uid": "uid-other"}]
        used = made("ResourceClaim", "c", spec=one_gpu(), status={"allocation": allocation, "reservedFor": consumers})
        game = play(node_slice("n1", "gpu-0"), used, make_pod("other", node_name="n1"))
        game.create(user("p"))
        game.cycles()
        assert "still not schedulable" in game.seen.attempts[0].message
        assert devices_of(stored(game, "c")) == ["gpu-9"]

    def test_without_claims_there_is_nothing_to_deallocate(self) -> None:
        game = play()
        game.create(make_pod("p", requests={"cpu": "1000"}))
        game.cycles()
        assert "no new claims to deallocate" in game.seen.attempts[0].message


class TestPreFilter:
    def test_a_missing_class_is_named(self) -> None:
        game = Play(CONFIGURATION, [make_node("n1"), claim()])
        game.create(user("p"))
        game.cycles()
        said = "request gpu: device class gpu does not exist"
        assert game.seen.attempts[0].message.startswith(f"0/1 nodes are available: {said}.")
        game.create(gpu_class(), node_slice("n1", "gpu-0"))
        game.seconds(2)
        assert game.bound == {"p": "n1"}

    def test_a_claim_that_as_many_pods_use_as_may_is_waited_for(self) -> None:
        others = [user(f"o{number}", nodeName="n2") for number in range(256)]
        consumers = [{"resource": "pods", "name": each.name, "uid": each.uid} for each in others]
        result = {"request": "gpu", "driver": DRIVER, "pool": "n1", "device": "gpu-0"}
        status = {"allocation": {"devices": {"results": [result]}}, "reservedFor": consumers}
        shared = made("ResourceClaim", "c", spec=one_gpu(), status=status)
        game = play(make_node("n2"), node_slice("n1", "gpu-0"), shared, *others)
        game.create(user("p"))
        game.cycles()
        assert game.seen.attempts[0].message.startswith("0/2 nodes are available: resourceclaim in use.")
        game.scheduler.cluster.delete(others[0])
        game.seconds(2)
        assert game.bound["p"] == "n1"

    def test_a_claim_named_twice_fails_in_pre_bind(self) -> None:
        # Upstream allocates it twice and then meets its own allocation.
        game = play(node_slice("n1", "gpu-0", "gpu-1"), claim())
        twice = [{"name": "a", "resourceClaimName": "c"}, {"name": "b", "resourceClaimName": "c"}]
        game.create(user("p", resourceClaims=twice))
        game.scheduler.step()
        assert "claim default/c got allocated elsewhere in the meantime" in game.seen.attempts[0].message


class TestScore:
    def test_an_earlier_alternative_is_better(self) -> None:
        """8 − position of the chosen subrequest; normalised over the nodes."""
        big = 'device.attributes["gpu.example.com"].big'
        alternatives = [
            {"name": "big", "deviceClassName": "gpu", "selectors": [{"cel": {"expression": big}}]},
            {"name": "any", "deviceClassName": "gpu"},
        ]
        listed = {"devices": {"requests": [{"name": "r", "firstAvailable": alternatives}]}}
        game = Play(
            CONFIGURATION,
            [
                make_node("n1"),
                make_node("n2"),
                gpu_class(),
                node_slice("n1", "gpu-0", attributes={"big": {"bool": False}}),
                node_slice("n2", "gpu-0", attributes={"big": {"bool": True}}),
                made("ResourceClaim", "c", spec=listed),
            ],
        )
        game.create(user("p"))
        game.cycles()
        scores = game.seen.attempts[0].scores
        assert scores is not None
        (mine,) = [each for each in scores.plugins if each.plugin == "DynamicResources"]
        assert (mine.raw.tolist(), mine.normalized.tolist()) == ([7, 8], [87, 100])
        assert game.bound == {"p": "n2"}
        assert [d.request for d in game.seen.attempts[0].decisions if isinstance(d, DeviceDecision)] == ["r/big"]


class TestExtendedResources:
    def test_a_resource_no_node_offers_comes_from_devices(self) -> None:
        backed = gpu_class(extendedResourceName="example.com/gpu")
        game = Play(CONFIGURATION, [make_node("n1"), backed, node_slice("n1", "gpu-0", "gpu-1", "gpu-2")])
        game.create(make_pod("p", requests={"example.com/gpu": "2"}))
        game.cycles()
        assert game.bound == {"p": "n1"}
        (special,) = game.scheduler.cluster.list(ResourceClaim)
        assert devices_of(special) == ["gpu-0", "gpu-1"]
        assert special.metadata.annotations == {"resource.kubernetes.io/extended-resource-claim": "true"}
        pod = game.scheduler.cluster.get(Pod, "default", "p")
        assert pod is not None
        assert pod.status.extended_resource_claim_status is not None
        told = pod.status.extended_resource_claim_status
        assert told.resource_claim_name == special.name
        assert [(m.resource_name, m.request_name) for m in told.request_mappings] == [
            ("example.com/gpu", "container-0-request-0")
        ]
        game.scheduler.cluster.delete(pod)
        assert game.scheduler.cluster.list(ResourceClaim) == []

    def test_a_node_with_a_device_plugin_needs_no_claim(self) -> None:
        backed = gpu_class(extendedResourceName="example.com/gpu")
        node = make_node("n1", scalars={"example.com/gpu": "2"})
        game = Play(CONFIGURATION, [node, backed])
        game.create(make_pod("p", requests={"example.com/gpu": "2"}))
        game.cycles()
        assert game.bound == {"p": "n1"}
        assert game.scheduler.cluster.list(ResourceClaim) == []

    def test_too_few_devices_are_dynamic_resources_business(self) -> None:
        backed = gpu_class(extendedResourceName="example.com/gpu")
        game = Play(CONFIGURATION, [make_node("n1"), backed, node_slice("n1", "gpu-0")])
        game.create(make_pod("p", requests={"example.com/gpu": "2"}))
        game.cycles()
        assert game.seen.attempts[0].message.startswith("0/1 nodes are available: 1 cannot allocate all claims.")

    @pytest.mark.parametrize("strategy", ["LeastAllocated", "MostAllocated"])
    def test_scores_count_devices_where_nodes_offer_nothing(self, strategy: str) -> None:
        """(devices, allocated) stand for (allocatable, requested): resource_allocation.go."""
        scoring = f"""
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: {strategy}
        resources: [{{name: example.com/gpu, weight: 1}}]
"""
        backed = gpu_class(extendedResourceName="example.com/gpu")
        game = Play(
            CONFIGURATION + scoring,
            [
                make_node("n1"),
                make_node("n2"),
                make_node("n3", scalars={"example.com/gpu": "10"}),
                backed,
                node_slice("n1", "gpu-0", "gpu-1"),
                node_slice("n2", *(f"gpu-{i}" for i in range(4))),
            ],
        )
        game.create(make_pod("p", requests={"example.com/gpu": "1"}))
        game.cycles()
        scores = game.seen.attempts[0].scores
        assert scores is not None
        (mine,) = [each for each in scores.plugins if each.plugin == "NodeResourcesFit"]
        assert mine.raw.tolist() == ([50, 75, 90] if strategy == "LeastAllocated" else [50, 25, 10])


class TestBindingConditions:
    """Upstream ``PreBind``: the conditions of the allocated devices are looked at at once and every five seconds."""

    def waiting(self, timeout: str = "") -> Play:
        conditional = node_slice("n1", "gpu-0", bindingConditions=["attached"], bindingFailureConditions=["broken"])
        arguments = f"""
profiles:
- pluginConfig:
  - name: DynamicResources
    args: {{bindingTimeout: {timeout}}}
"""
        game = play(conditional, claim(), configuration=CONFIGURATION + (arguments if timeout else ""))
        game.create(user("p"))
        game.cycles()
        return game

    def say(self, game: Play, type_: str, status: str = "True") -> None:
        found = stored(game, "c")
        told = DeviceCondition(type=type_, status=status, reason="Because", message="it is so")
        device = AllocatedDeviceStatus(driver=DRIVER, pool="n1", device="gpu-0", conditions=(told,))
        game.scheduler.cluster.replace(replace(found, status=replace(found.status, devices=(device,))))

    def test_a_pod_waits_for_its_device(self) -> None:
        game = self.waiting()
        assert game.bound == {}
        assert stored(game, "c").status.allocation is not None
        notes = [event.note for event in game.seen.events if event.reason == "BindingConditionsPending"]
        assert notes == ["waiting for binding conditions for device on node n1"]
        game.seconds(7)
        self.say(game, "attached")
        game.seconds(2)
        assert game.bound == {}
        game.seconds(1)
        assert game.bound == {"p": "n1"}

    def test_what_was_true_between_two_looks_is_not_seen(self) -> None:
        game = self.waiting()
        self.say(game, "attached")
        self.say(game, "attached", "False")
        game.seconds(6)
        assert game.bound == {}

    def test_a_device_that_fails_sends_the_pod_back_and_the_claim_is_deallocated(self) -> None:
        game = self.waiting()
        self.say(game, "broken")
        game.seconds(5)
        said = 'device binding failed: claim=c, reason=Because, message="it is so"'
        assert said in game.seen.attempts[0].message
        game.seconds(2)
        assert "deallocation of ResourceClaim completed" in game.seen.attempts[1].message
        assert stored(game, "c").status.devices == ()

    @pytest.mark.parametrize(("timeout", "seconds"), [("", 600), ("7s", 7)])
    def test_the_wait_ends_with_the_binding_timeout(self, timeout: str, seconds: int) -> None:
        game = self.waiting(timeout)
        game.seconds(seconds - 1)
        assert len(game.seen.attempts) == 0
        game.seconds(1)
        assert "device binding timeout: context deadline exceeded" in game.seen.attempts[0].message

    def test_who_joins_a_claim_waits_no_longer_than_it_was_allocated_for(self) -> None:
        """The first look after the claim's time: allocated at 0 with 12 s to go, joined at 4 s, so at 14 s."""
        game = self.waiting("12s")
        game.seconds(4)
        game.create(user("q"))
        game.cycles()
        game.seconds(8)
        assert [trace.pod for trace in game.seen.attempts] == ["default/p"]
        game.seconds(1)
        assert [trace.pod for trace in game.seen.attempts][:1] == ["default/p"]
        game.seconds(1)
        joined = next(trace for trace in game.seen.attempts if trace.pod == "default/q")
        assert "device binding timeout: claim=c" in joined.message


class TestGates:
    @pytest.mark.parametrize(
        ("gate", "fields", "said"),
        [
            ("DRAPrioritizedList", {}, "has subrequests, but the DRAPrioritizedList feature is disabled"),
            ("DRADeviceTaints", {"taints": [{"key": "k", "effect": "NoSchedule"}]}, ""),
        ],
    )
    def test_a_gate_that_is_off(self, gate: str, fields: dict[str, Any], said: str) -> None:
        alternatives = {"devices": {"requests": [{"name": "r", "firstAvailable": [{"name": "a", **GPU}]}]}}
        wanted = made("ResourceClaim", "c", spec=alternatives) if said else claim()
        for flag, fits in (("", not fields), (f"# kube-scheduler --feature-gates={gate}=false\n", not said)):
            game = play(node_slice("n1", "gpu-0", **fields), wanted, configuration=flag + CONFIGURATION.lstrip())
            game.create(user("p"))
            game.cycles()
            assert (game.bound == {"p": "n1"}) is fits
            if said and flag:
                assert said in game.seen.attempts[0].message
