"""A world of our own beside a real cluster: its arrivals come, its scheduler's decisions do not, and both are known."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest

from framework.objects import PersistentVolume, PersistentVolumeClaim, Pod
from framework.objects.decode import decode_manifest
from framework.plugins.registry import built_in_registry
from schedweb.engine.batch import Gatherer
from schedweb.engine.checkpoint import load_checkpoint, save_checkpoint
from schedweb.engine.commands import ClusterChanges, ObservedChange, Unfollow
from schedweb.engine.frames import Entry
from schedweb.engine.own_differences import differences_of
from schedweb.engine.own_world import RealPod
from schedweb.engine.pace import Pace
from schedweb.engine.player import Happened, Player, RunOptions, effective_configuration
from schedweb.engine.replay import CLOCK, replay
from schedweb.engine.sums import Sums
from tests.schedweb.engine.test_judged import PACKED
from tests.schedweb.engine.test_observed import at, failing, gated, name_of, node, seen
from tests.schedweb.engine.worlds import DEFAULT, SECOND, START, Manifest, Table, places, play, pod

EVICTED = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}


def own_world(*manifests: Manifest, text: str = DEFAULT) -> Player:
    registry = built_in_registry()
    return Player(
        [decode_manifest(manifest) for manifest in manifests],
        [],
        effective_configuration(text, registry),
        registry,
        RunOptions(7, "seeded", "hold", "real", START, observing=True, own_world=True),
    )


class World:
    """Our world, what is told of the real cluster, and the journal of both. Told is what is new, as workers do."""

    def __init__(self, *manifests: Manifest, text: str = DEFAULT) -> None:
        self.game = own_world(*manifests, text=text)
        self.table = Table(self.game)
        self.sums = Sums(self.game)
        self.seconds = 0.0
        self.version = 0

    def told(self, *what: tuple[str, Manifest]) -> list[ObservedChange]:
        """Told and applied; then ours decides. What of it was new."""
        found = differences_of(self.game).of([seen(verb, self._versioned(manifest)) for verb, manifest in what])
        self.seconds += 1
        if found:
            self.table.order(ClusterChanges(START + round(self.seconds * SECOND), tuple(found)))
        self.decide()
        return found

    def _versioned(self, manifest: Manifest) -> Manifest:
        """As every object of an API server."""
        self.version += 1
        return {**manifest, "metadata": {**manifest.get("metadata", {}), "resourceVersion": str(self.version)}}

    def decide(self) -> None:
        assert play(self.game) is Happened.IDLE
        self.sums._compare_projection(*self.sums._of_cluster())
        self.sums._compare_cache(*self.sums._of_cluster())

    def wait(self, seconds: float) -> None:
        """The wall's clock goes on, as the engine journals it."""
        self.seconds += seconds
        to = START + round(self.seconds * SECOND)
        self.table.journal.append(Entry("", self.game.position, to, "", {"type": CLOCK, "to": to}))
        self.game.advance(to)
        self.decide()

    @property
    def nodes(self) -> dict[str, str]:
        """Pod → its node here."""
        return {each.metadata.name: each.spec.node_name for each in self.game.world.cluster.list(Pod)}

    def known(self, name: str) -> RealPod | None:
        assert self.game.own is not None
        return self.game.own.beside.pods.get(("shop", name))

    def real(self, name: str) -> RealPod:
        found = self.known(name)
        assert found is not None
        return found


def evicted(manifest: Manifest) -> Manifest:
    """As kube-scheduler leaves a victim until its kubelet is done."""
    metadata = {**manifest["metadata"], "deletionTimestamp": "2023-11-14T22:13:25Z"}
    return {**manifest, "metadata": metadata, "status": {"conditions": [EVICTED]}}


def running(manifest: Manifest) -> Manifest:
    """As its kubelet says it."""
    conditions = [{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "True"}]
    status = {"phase": "Running", "hostIP": "10.0.0.1", "startTime": "2023-11-14T22:13:21Z", "conditions": conditions}
    return {**manifest, "status": status}


def test_arrivals_come_and_the_real_decisions_do_not() -> None:
    world = World(node("a"), node("b"), pod("given", node_name="a"), failing("large"), text=PACKED)
    assert world.game.operate() is not Happened.IDLE, "ours tries what was pending when it began"
    world.decide()
    assert world.nodes["given"] == "a"
    world.told(("added", pod("new")))
    assert world.nodes["new"] == "a", "the fuller one"
    world.told(("modified", running(pod("new", node_name="b"))))
    here = world.game.world.cluster.get(Pod, "shop", "new")
    assert here is not None
    assert (here.spec.node_name, here.status.phase, here.status.start_time) == ("a", "Pending", None)
    assert [each.type for each in here.status.conditions] == ["PodScheduled"]
    assert (world.real("new").node, world.real("large").node) == ("b", "")
    assert world.real("large").message.startswith("0/2 nodes")
    assert world.known("given") is None, "it cannot differ"
    assert places(world.game)["large"] == "unschedulable"
    world.told(("modified", pod("given", node_name="a", labelled="anew")))
    assert world.nodes["given"] == "a"
    world.told(("deleted", name_of(pod("new"))), ("deleted", name_of(pod("given"))))
    assert set(world.nodes) == {"large"}


def test_differences_add_up() -> None:
    """Ours packs, so a large pod still fits here. There both nodes are half full."""
    packed, spread = (World(node("a"), node("b"), text=text) for text in (PACKED, DEFAULT))
    for world in (packed, spread):
        for number, real_node in enumerate(("a", "b")):
            small = pod(f"small-{number}", "2")
            world.told(("added", small))
            world.told(("modified", pod(f"small-{number}", "2", node_name=real_node)))
        world.told(("added", pod("large", "3")))
        world.told(("modified", failing("large", "3")))
    assert len({packed.nodes["small-0"], packed.nodes["small-1"]}) == 1
    assert packed.nodes["large"] != ""
    assert spread.nodes["large"] == ""
    assert packed.real("large").node == ""
    assert packed.real("large").message


def test_what_is_known_on_both_sides_is_no_news() -> None:
    world = World(node("a"), pod("given", node_name="a"))
    assert world.told(("added", pod("new")))
    assert world.told(("modified", running(pod("new", node_name="a"))))
    assert world.told(("modified", running(pod("new", node_name="a")))) == []
    kind: Manifest = {"apiVersion": "v1", "kind": "Pod"}
    listed = [("listed", running(pod("new", node_name="a"))), ("listed", pod("given", node_name="a"))]
    assert world.told(("list", kind), *listed, ("whole", kind)) == []
    assert [each.verb for each in world.told(("list", kind), listed[1], ("whole", kind))] == ["deleted"]


def test_victims_of_ours_go_here_only() -> None:
    low = {**pod("low", "3", node_name="a"), "status": {"phase": "Running"}}
    world = World(node("a"), low)
    first = pod("first", "3")
    first["spec"]["priority"] = 1000
    world.told(("added", first))
    assert world.nodes.get("low") is None
    assert (world.real("low").node, world.real("low").decided, world.real("low").preempted) == ("a", False, False)
    world.wait(30)
    assert world.nodes == {"first": "a"}
    relabelled = {**low, "metadata": {**low["metadata"], "labels": {"new": "label"}}}
    world.told(("modified", relabelled))
    assert "low" not in world.nodes, "it does not come back"
    kind: Manifest = {"apiVersion": "v1", "kind": "Pod"}
    gone = world.told(("list", kind), ("listed", first), ("whole", kind))
    assert [(each.verb, each.manifest["metadata"]) for each in gone] == [
        ("deleted", {"name": "low", "uid": "uid-low", "namespace": "shop"})
    ]
    assert world.known("low") is None


@pytest.mark.parametrize("owner", ["", "web"])
def test_victims_of_the_real_scheduler_go_here_where_they_are_brought_back(owner: str) -> None:
    victim = pod("victim", "3", node_name="a", owner=owner)
    world = World(node("a"), victim)
    world.told(("modified", evicted(victim)))
    assert world.real("victim").preempted
    here = world.game.world.cluster.get(Pod, "shop", "victim")
    assert here is not None
    assert (here.metadata.deletion_timestamp is None) is (owner == "")
    assert world.told(("deleted", name_of(victim)))
    assert ("victim" in world.nodes) is (owner == "")
    assert world.told(("deleted", name_of(victim))) == []
    kind: Manifest = {"apiVersion": "v1", "kind": "Pod"}
    assert world.told(("list", kind), ("whole", kind)) == []
    again = pod("victim", "1")
    again["metadata"]["uid"] = "another"
    world.told(("added", again))
    assert world.nodes["victim"] == "a", "one of its name takes its place"
    assert world.real("victim").uid == "another"


def test_pods_of_other_schedulers_are_where_these_put_them() -> None:
    theirs = pod("theirs")
    theirs["spec"]["schedulerName"] = "volcano"
    world = World(node("a"), node("b"))
    world.told(("added", theirs))
    assert world.nodes["theirs"] == ""
    theirs["spec"]["nodeName"] = "b"
    world.told(("modified", theirs), ("added", pod("static", node_name="a")))
    assert (world.nodes["theirs"], world.nodes["static"]) == ("b", "a")
    assert (world.known("theirs"), world.known("static")) == (None, None)


def test_what_was_bound_while_nobody_watched_is_decided_here() -> None:
    world = World(node("a"), node("b"), pod("full", "4", node_name="a"))
    late = pod("late", "1", node_name="a")
    late["metadata"]["creationTimestamp"] = "2023-11-14T22:13:25Z"
    before = pod("before", "1", node_name="b")
    before["metadata"]["creationTimestamp"] = "2023-11-14T22:00:00Z"
    world.told(("listed", late), ("listed", before))
    assert world.nodes == {"full": "a", "late": "b", "before": "b"}
    assert world.real("late").node == "a"


def test_a_gate_is_taken_away_for_both() -> None:
    world = World(node("a"))
    world.told(("added", gated("later")))
    assert (places(world.game)["later"], world.real("later").gated) == ("gated", True)
    world.told(("modified", pod("later")))
    assert (world.nodes["later"], world.real("later").gated) == ("a", False)


# --- claims -----------------------------------------------------------------------------------------------------------

CLASS: Manifest = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "local", "uid": "uid-local"},
    "provisioner": "csi.example.com",
    "volumeBindingMode": "WaitForFirstConsumer",
}
ZONED = {"a": "east", "b": "west"}


def zoned(name: str, cpu: str = "4") -> Manifest:
    manifest = node(name, cpu)
    manifest["metadata"]["labels"]["zone"] = ZONED[name]
    return manifest


def driver(name: str) -> Manifest:
    drivers = [{"name": "csi.example.com", "nodeID": name, "topologyKeys": ["zone"]}]
    about = {"name": name, "uid": f"csi-{name}"}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": about, "spec": {"drivers": drivers}}


def claim(**more: Any) -> Manifest:
    spec = {
        "storageClassName": "local",
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        **more.pop("spec", {}),
    }
    about = {"name": "data", "namespace": "shop", "uid": "uid-data", **more.pop("metadata", {})}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": about, "spec": spec, **more}


def with_claim(name: str, **more: Any) -> Manifest:
    manifest = pod(name, **more)
    manifest["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    return manifest


def volume(zone: str) -> Manifest:
    """As the real provisioner makes it for the claim."""
    terms = [{"matchExpressions": [{"key": "zone", "operator": "In", "values": [zone]}]}]
    reference = {"kind": "PersistentVolumeClaim", "namespace": "shop", "name": "data", "uid": "uid-data"}
    spec = {
        "claimRef": reference,
        "storageClassName": "local",
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "1Gi"},
        "persistentVolumeReclaimPolicy": "Delete",
        "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
        "csi": {"driver": "csi.example.com", "volumeHandle": "v"},
    }
    about = {"name": "pvc-uid-data", "uid": "uid-theirs"}
    status = {"phase": "Bound"}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": about, "spec": spec, "status": status}


def test_a_claim_has_the_volume_that_ours_chose() -> None:
    world = World(zoned("a"), zoned("b"), driver("a"), driver("b"), CLASS, pod("full", "4", node_name="a"))
    bound = claim(
        spec={"volumeName": "pvc-uid-data"},
        metadata={"annotations": {"volume.kubernetes.io/selected-node": "a", "pv.kubernetes.io/bind-completed": "yes"}},
        status={"phase": "Bound", "capacity": {"storage": "1Gi"}},
    )
    world.told(("added", claim()), ("added", with_claim("db")))
    assert world.nodes["db"] == "b"
    world.told(("modified", bound), ("added", volume("east")), ("modified", with_claim("db", node_name="a")))
    cluster = world.game.world.cluster
    here = cluster.get(PersistentVolumeClaim, "shop", "data")
    made = cluster.get(PersistentVolume, "", "pvc-uid-data")
    assert here is not None
    assert made is not None
    assert here.spec.volume_name == "pvc-uid-data"
    assert here.metadata.annotations["volume.kubernetes.io/selected-node"] == "b"
    assert made.metadata.uid != "uid-theirs"
    assert made.spec.node_affinity is not None
    assert made.spec.node_affinity.required is not None
    assert made.spec.node_affinity.required.node_selector_terms[0].match_expressions[0].values == ("west",)
    kind: Manifest = {"apiVersion": "v1", "kind": "PersistentVolume"}
    assert world.told(("list", kind), ("listed", volume("east")), ("whole", kind)) == []
    assert world.told(("list", kind), ("whole", kind)) == [], "ours has it whether they do or not"
    assert world.told(("deleted", name_of(volume("east")))) == []
    world.told(("deleted", name_of(with_claim("db"))), ("deleted", name_of(claim())))
    assert cluster.get(PersistentVolume, "", "pvc-uid-data") is None


def test_what_needs_no_scheduler_is_as_it_is_there() -> None:
    at_once = {**CLASS, "volumeBindingMode": "Immediate"}
    world = World(zoned("a"), zoned("b"), driver("a"), driver("b"), at_once)
    world.told(("added", claim()), ("added", with_claim("db")))
    assert world.nodes["db"] == ""
    bound = claim(
        spec={"volumeName": "pvc-uid-data"},
        metadata={"annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
        status={"phase": "Bound"},
    )
    world.told(("added", volume("west")), ("modified", bound))
    world.wait(30)
    assert world.nodes["db"] == "b"


def test_devices_are_those_that_ours_chose() -> None:
    allocated = {"devices": {"results": [{"request": "one", "driver": "d", "pool": "p", "device": "x"}]}}
    about: Manifest = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "gpu", "namespace": "shop", "uid": "uid-gpu"},
        "spec": {"devices": {"requests": [{"name": "one", "exactly": {"deviceClassName": "gpus"}}]}},
    }
    world = World(node("a"))
    world.told(("added", pod("train")), ("added", about))
    consumer = {"resource": "pods", "name": "train", "uid": "uid-train"}
    world.told(("modified", {**about, "status": {"allocation": allocated, "reservedFor": [consumer]}}))
    (here,) = world.game.world.cluster.of_kind("resource.k8s.io/v1", "ResourceClaim")
    assert here.status.allocation is None  # type: ignore[union-attr]
    assert here.status.reserved_for == ()  # type: ignore[union-attr]
    other = {**about, "metadata": {**about["metadata"], "name": "given", "uid": "uid-given"}}
    world.told(("added", {**other, "status": {"allocation": allocated}}))
    here = world.game.world.cluster.of_kind("resource.k8s.io/v1", "ResourceClaim")[1]
    assert here.status.allocation is not None  # type: ignore[union-attr]


# --- the journal ------------------------------------------------------------------------------------------------------


def random_story(world: World, random_: random.Random) -> None:
    """Pods come, are bound there anywhere, fail, are evicted, go; nodes come and go."""
    there: dict[str, Manifest] = {}
    made = 0
    for _ in range(40):
        match random_.randrange(6):
            case 0 | 1:
                made += 1
                name = f"p-{made}"
                there[name] = pod(name, random_.choice(("500m", "1", "2")), owner=random_.choice(("", "web")))
                there[name]["spec"]["priority"] = random_.choice((0, 0, 100))
                world.told(("added", there[name]))
            case 2 if there:
                name = random_.choice(sorted(there))
                there[name] = {**there[name], "spec": {**there[name]["spec"], "nodeName": random_.choice("ab")}}
                world.told(("modified", there[name]))
            case 3 if there:
                name = random_.choice(sorted(there))
                world.told(("modified", evicted(there[name])), ("deleted", name_of(there.pop(name))))
            case 4 if there:
                name = random_.choice(sorted(there))
                world.told(("deleted", name_of(there.pop(name))))
            case _:
                world.wait(random_.choice((1, 20, 400)))
        kind: Manifest = {"apiVersion": "v1", "kind": "Pod"}
        listed = [("listed", manifest) for manifest in there.values()]
        assert world.told(("list", kind), *listed, ("whole", kind)) == [], "all was told"


@pytest.mark.parametrize("seed", range(6))
def test_the_journal_leads_to_the_same_world_from_anywhere(seed: int) -> None:
    cluster = [node("a"), node("b"), node("c", "2")]
    world = World(*cluster, text=PACKED)
    random_story(world, random.Random(seed))
    game, journal = world.game, world.table.journal

    again = own_world(*cluster, text=PACKED)
    replay(again, Pace(mode="playing"), journal, until=game.position)
    assert (again.digest, again.now, places(again)) == (game.digest, game.now, places(game))
    assert again.own is not None
    assert game.own is not None
    kept = {key: known for key, known in game.own.beside.pods.items() if known is not None}
    assert {key: known for key, known in again.own.beside.pods.items() if known is not None} == kept

    half = own_world(*cluster, text=PACKED)
    middle = journal[len(journal) // 2].position
    replay(half, Pace(mode="playing"), journal, until=middle)
    restored, pace = load_checkpoint(save_checkpoint(half, Pace(mode="playing")))
    restored.restored([], built_in_registry())
    replay(restored, pace, [entry for entry in journal if entry.position >= middle], until=game.position)
    assert restored.digest == game.digest


def test_what_is_stored_of_the_real_cluster_is_told_once() -> None:
    world = World(node("a"), pod("given", node_name="a"))
    world.told(("added", pod("new", "1")))
    world.told(("modified", pod("new", "1", node_name="a")))
    gatherer = Gatherer(world.game)
    assert not gatherer.is_empty
    (row,) = gatherer.real_pods()
    assert (row.name, row.node, row.decided, row.present) == ("new", "a", True, True)
    amounts = dict(zip(world.game.projection.nodes.resources, msgspec.json.decode(row.amounts), strict=True))
    assert (amounts["cpu"], amounts["pods"]) == (1000, 1)
    assert (row.came - START, row.since - START) == (1 * SECOND, 2 * SECOND)
    assert gatherer.real_pods() == []
    world.told(("deleted", name_of(pod("new"))))
    (row,) = gatherer.real_pods()
    assert not row.present


def test_a_fork_is_a_run_as_all_others() -> None:
    world = World(node("a", "1"), text=PACKED)
    world.told(("added", pod("first", "1")), ("added", pod("second", "1")))
    assert world.table.order(Unfollow()).status == "applied"
    assert world.game.own is None
    assert world.game.virtual
    assert play(world.game) is Happened.FINISHED
    assert world.table.order(at(99, ("added", pod("late")))).status == "refused"


def test_a_checkpoint_of_before_there_was_such_a_run_is_read() -> None:
    game = own_world(node("a"))
    saved, pace = load_checkpoint(save_checkpoint(game, Pace()))
    del saved.own
    options = RunOptions.__new__(RunOptions)
    for name in ("seed", "ties", "approvals", "clock", "start", "observing", "scheduling"):
        object.__setattr__(options, name, getattr(saved.options, name))
    saved.options = options
    saved.restored([], built_in_registry())
    assert (saved.own, saved.options.own_world, saved.options.seed) == (None, False, 7)
    assert pace.mode == "created"
