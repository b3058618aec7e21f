"""Every remedy, tried on a fork beside all other pods, does what it says, for the pod, its workload and others."""

from __future__ import annotations

import random

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from framework.advice import what_would_help
from framework.objects import Pod
from framework.objects.decode import to_manifest
from framework.objects.metadata import OwnerReference
from schedweb.engine.played_on import PlayedOn
from schedweb.engine.player import Happened
from tests.advice.asking import helped, of_kind, places_of, played, pod_of, texts, tried
from tests.advice.worlds import random_node, random_pod
from tests.schedweb.engine.worlds import Manifest, node, player, pod

ZONE = "topology.kubernetes.io/zone"


def owned(made: Pod, owner: str) -> Pod:
    reference = OwnerReference(api_version="apps/v1", kind="ReplicaSet", name=owner, uid=owner, controller=True)
    return replace(made, metadata=replace(made.metadata, owner_references=(reference,)))


def classed(made: Pod) -> Manifest:
    """With the PriorityClass that its priority came from: who makes it again asks admission."""
    name = f"p{made.spec.priority}" if made.spec.priority else ""
    return to_manifest(replace(made, spec=replace(made.spec, priority_class_name=name)))


CLASSES: list[Manifest] = [
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": f"p{value}"}, "value": value}
    for value in (10, 100)
]


def crowded(seed: int) -> list[Manifest]:
    """Several pods want the same room; some have a controller, and some are replicas of one another."""
    rng = random.Random(seed)
    nodes = [f"n{number}" for number in range(rng.randint(1, 4))]
    objects = [*CLASSES, *(to_manifest(random_node(rng, name)) for name in nodes)]
    for number in range(rng.randint(1, 6)):
        placed = random_pod(rng, f"placed-{number}", rng.choice(nodes))
        objects.append(classed(owned(placed, f"set-{number % 2}") if rng.random() < 0.6 else placed))
    template = random_pod(rng, "replica-0")
    for number in range(rng.randint(1, 3)):
        made = replace(template, metadata=replace(template.metadata, name=f"replica-{number}", uid=f"replica-{number}"))
        objects.append(classed(owned(made, "replica")))
    objects += [classed(random_pod(rng, f"other-{number}")) for number in range(rng.randint(0, 3))]
    return objects


def comes_to_rest(objects: list[Manifest]) -> bool:
    """Not so where victims come back for ever: such a run is paused with a sentence."""
    game = player(objects)
    while (happened := game.operate()) not in (Happened.WAITS, Happened.FINISHED, Happened.IDLE):
        if happened is Happened.ERRORS:
            return False
    return True


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32 - 1))
@example(37760)
def test_what_a_remedy_says_is_what_a_fork_shows(seed: int) -> None:
    objects = crowded(seed)
    assume(comes_to_rest(objects))
    game = played(objects)
    before = places_of(game)
    for key in [key for key, place in before.items() if not place][:2]:
        found = helped(game, key.partition("/")[2])
        assert not found.fits_on
        for remedy in found.remedies:
            after = places_of(tried(objects, remedy))
            about = (seed, key, str(remedy.text))
            if remedy.kind == "fewer":
                assert key not in after, about
            else:
                assert after[key] == remedy.node != "", about
            told = {fate.pod: fate for fate in remedy.others}
            assert remedy.finished
            assert remedy.others_count == len(told)
            assert remedy.left_pending == sum(fate.fate != "moves" for fate in remedy.others), about
            for other, place in before.items():
                if place and not after.get(other) and not other.startswith("default/replica"):
                    assert other in told, (*about, other)
            for other, fate in told.items():
                assert (fate.fate == "gone") <= (other not in after), (*about, other)
                if fate.fate == "moves":
                    assert fate.node in after.values(), (*about, other)
    assert places_of(game) == before


def replica(name: str, tail: str, cpu: str = "500m", *, node_name: str = "", **spec: object) -> Manifest:
    made = pod(f"{name}-6d4cf56db6-{tail}", cpu, node_name=node_name, owner=f"{name}-6d4cf56db6", app=name)
    made["metadata"]["labels"]["pod-template-hash"] = "6d4cf56db6"
    made["spec"].update(spec)
    return made


def one_per(key: str) -> Manifest:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": "web"}}}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


ZONES = [node(f"n-{zone}{number}", **{ZONE: f"eu-1{zone}"}) for zone in "abc" for number in (1, 2)]
WEB = [replica("web", tail, affinity=one_per(ZONE)) for tail in ("6gfjf", "dpmh8", "xlvtq", "k2k2k", "p9p9p")]


def test_a_workload_that_allows_one_per_zone_is_told_so_and_helped_as_a_whole() -> None:
    found = helped(played([*ZONES, *WEB]), "web-6d4cf56db6-p9p9p")
    assert str(found.why) == "One per zone: 6gfjf, dpmh8 and xlvtq hold all 3 zones that it could use."
    assert (found.workload, found.alike) == ("deployment/web", 2)
    assert texts(found) == [
        f"Add 2 nodes with a new {ZONE}, such as eu-1d, like n-a1 (4 cpu, 16 Gi memory)",
        f"Make the required pod anti-affinity to pods app=web per {ZONE} preferred",
        f"Spread it over {ZONE} instead of forbidding two: maxSkew 1",
        "Run 3 of 5 replicas of deployment/web",
    ]
    assert [remedy.placed for remedy in found.remedies] == [2, 2, 2, 0]
    assert not any(remedy.others for remedy in found.remedies)  # nobody of its own is pushed aside
    assert found.remedies[3].commands == ("kubectl scale deployment/web -n shop --replicas=3",)


def test_replicas_of_a_stateful_set_are_called_by_their_names() -> None:
    stateful = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "kafka", "uid": "kafka", "controller": True}
    pods = [pod(f"kafka-{number}", app="web") for number in range(2)]
    for made in pods:
        made["metadata"]["ownerReferences"] = [stateful]
        made["spec"]["affinity"] = one_per("kubernetes.io/hostname")
    found = helped(played([node("a"), *pods]), "kafka-1")
    assert str(found.why) == "One per node: kafka-0 holds the only node that it could use."


def test_more_replicas_with_a_host_port_than_nodes_are_told_why_and_may_be_fewer() -> None:
    pods = [replica("web", tail) for tail in ("bbbbb", "ccccc", "ddddd")]
    for made in pods:
        made["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]
    objects = [node("a"), node("b"), *pods]
    game = played(objects)
    (name,) = (key.partition("/")[2] for key, place in places_of(game).items() if not place)
    found = helped(game, name)
    assert str(found.why).startswith("One per node: ")
    assert str(found.why).endswith(" hold all 2 nodes that it could use.")
    assert [remedy.kind for remedy in found.remedies] == ["node", "fewer"]
    fewer = of_kind(found, "fewer")
    assert str(fewer.text) == "Run 2 of 3 replicas of deployment/web"
    assert all(places_of(tried(objects, fewer)).values())


def test_the_patch_of_a_workload_is_for_its_template() -> None:
    relaxed = of_kind(helped(played([*ZONES, *WEB]), "web-6d4cf56db6-p9p9p"), "relax")
    (command,) = relaxed.commands
    assert command == (
        "kubectl patch deployment/web -n shop --type=merge -p '"
        '{"spec":{"template":{"spec":{"affinity":{"podAntiAffinity":{'
        '"requiredDuringSchedulingIgnoredDuringExecution":null,'
        '"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":100,"podAffinityTerm":{'
        f'"labelSelector":{{"matchLabels":{{"app":"web"}}}},"topologyKey":"{ZONE}"}}}}]}}}}}}}}}}}}'
        "'"
    )
    lines = relaxed.diff.splitlines()
    assert lines[:5] == [" spec:", "   template:", "     spec:", "       affinity:", "         podAntiAffinity:"]
    assert "-          requiredDuringSchedulingIgnoredDuringExecution:" in lines
    assert "+          preferredDuringSchedulingIgnoredDuringExecution:" in lines


def test_as_many_nodes_are_added_as_it_takes_beside_those_who_come_first() -> None:
    """Three others want the room, too, and are older."""
    waiting = [replica("svc", tail, "3500m") for tail in ("bbbbb", "ccccc", "ddddd")]
    objects = [node("a"), pod("big", "3", node_name="a"), *waiting, pod("me", "3500m")]
    found = helped(played(objects), "me")
    added = of_kind(found, "node")
    assert str(added.text) == "Add 4 nodes like a (4 cpu, 16 Gi memory)"
    assert places_of(tried(objects, added))["shop/me"] == added.node
    assert "free" not in [remedy.kind for remedy in found.remedies]  # the room would be svc's


def test_who_is_deleted_is_told_with_what_becomes_of_it() -> None:
    objects = [node("a"), pod("alone", "3", node_name="a"), pod("me", "3500m")]
    freed = of_kind(helped(played(objects), "me"), "free")
    assert str(freed.text) == "Delete shop/alone from a"
    assert [(each.fate, str(each.text)) for each in freed.others] == [
        ("gone", "shop/alone leaves a for good: nobody makes it again.")
    ]
    assert freed.left_pending == 1
    assert freed.commands == ("kubectl delete pod alone -n shop",)


def test_a_pod_that_has_another_place_is_moved_there() -> None:
    objects = [node("a"), node("b", "3"), replica("low", "bbbbb", "3", node_name="a"), pod("me", "3500m")]
    found = helped(played(objects), "me")
    moved = of_kind(found, "move")
    assert str(moved.text) == "Move shop/low-6d4cf56db6-bbbbb to b"
    assert [each.fate for each in moved.others] == ["moves"]
    assert moved.left_pending == 0
    assert moved.commands == (
        "kubectl cordon a",
        "kubectl delete pod low-6d4cf56db6-bbbbb -n shop",
        "kubectl uncordon a",
    )


@pytest.mark.parametrize("kind", ["ResourceClaim", "ResourceClaimTemplate"])
def test_a_missing_claim_to_a_device_is_made(kind: str) -> None:
    devices: Manifest = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "a-gpus"}}
    devices["spec"] = {"driver": "gpu.example.com", "nodeName": "a", "devices": [{"name": "gpu-0"}]}
    devices["spec"]["pool"] = {"name": "a", "generation": 1, "resourceSliceCount": 1}
    chosen: Manifest = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"}}
    chosen["spec"] = {"selectors": [{"cel": {"expression": 'device.driver == "gpu.example.com"'}}]}
    wants = pod("trainer")
    field = "resourceClaimName" if kind == "ResourceClaim" else "resourceClaimTemplateName"
    wants["spec"]["resourceClaims"] = [{"name": "gpu", field: "one-gpu"}]
    wants["spec"]["containers"][0]["resources"]["claims"] = [{"name": "gpu"}]
    objects = [node("a"), node("b"), devices, chosen, wants]
    found = helped(played(objects), "trainer")
    assert texts(found)[0] == f"Create the missing {kind} one-gpu"
    assert places_of(tried(objects, found.remedies[0])) == {"shop/trainer": "a"}


def test_another_scheduler_a_mistyped_label_and_a_gate() -> None:
    odd, typed, gated = pod("odd"), pod("typed"), pod("gated", "24")
    odd["spec"]["schedulerName"] = "defalt-scheduler"
    typed["spec"]["nodeSelector"] = {"pool": "genral"}
    gated["spec"]["schedulingGates"] = [{"name": "example.com/quota"}]
    objects = [node("a", pool="general"), node("b", pool="spot"), odd, typed, gated]
    game = played(objects)
    used = helped(game, "odd")
    assert texts(used) == ["Use the scheduler default-scheduler instead of defalt-scheduler"]
    assert places_of(tried(objects, used.remedies[0]))["shop/odd"] == used.remedies[0].node
    spelled = helped(game, "typed")
    assert texts(spelled)[0] == "Change pool=genral to pool=general, which nodes have"
    assert places_of(tried(objects, spelled.remedies[0]))["shop/typed"] == "a"
    assert spelled.remedies[0].commands == (
        "kubectl get pod typed -n shop -o json | kubectl patch --local -f - --type=merge -p '"
        '{"spec":{"nodeSelector":{"pool":"general"}}}'
        "' -o json | kubectl replace --force -f -",
    )
    both = helped(game, "gated")
    assert texts(both) == [
        "Remove the scheduling gate example.com/quota. Add a node larger than a (32 cpu, 128 Gi memory)."
    ]
    assert places_of(tried(objects, both.remedies[0]))["shop/gated"] == "a-more-1"


def test_who_would_have_got_the_node_is_told() -> None:
    """With a higher priority it comes before one that is older and would have had the node."""
    objects = [node("a"), pod("first", "3"), pod("me", "3")]
    begun = player(objects)
    found = what_would_help(begun.scheduler, pod_of(begun, "me"), PlayedOn(begun, 600, 600))
    raised = of_kind(found, "priority")
    assert str(raised.text) == "Create a PriorityClass of 1 for it, instead of 0"
    assert [(each.fate, str(each.text)) for each in raised.others] == [
        ("passed", "shop/first stays pending; without this it goes to a.")
    ]
    assert raised.left_pending == 1
    assert found.remedies[0].kind == "node"  # which leaves nobody behind


def test_what_there_was_no_time_for_is_not_said() -> None:
    begun = played([node("a"), pod("me", "24")])
    none = what_would_help(begun.scheduler, pod_of(begun, "me"), PlayedOn(begun, seconds=0))
    assert (none.remedies, none.complete) == ((), False)


def test_what_people_do_comes_first_and_nonsense_not_at_all() -> None:
    """A pod of 24 cpu where 0.8 are free is not told to ask for those; one that asks for a little too much is."""
    full = [node("a", "4"), pod("big", "3200m", node_name="a"), pod("me", "24")]
    assert [remedy.kind for remedy in helped(played(full), "me").remedies][:2] == ["node", "resize"]
    assert "lower" not in [remedy.kind for remedy in helped(played(full), "me").remedies]
    nearly = helped(played([node("a", "4"), pod("big", "3", node_name="a"), pod("me", "1500m")]), "me")
    kinds = [remedy.kind for remedy in nearly.remedies]
    assert kinds[0] == "node"
    assert str(of_kind(nearly, "lower").text) == "Lower the request of cpu from 1.5 to 1"
    assert kinds.index("lower") < kinds.index("free")


def test_a_node_is_uncordoned_or_freed_of_its_taint() -> None:
    cordoned, tainted = node("a"), node("b")
    cordoned["spec"] = {"unschedulable": True}
    tainted["spec"] = {"taints": [{"key": "team", "value": "red", "effect": "NoSchedule"}]}
    found = helped(played([cordoned, tainted, node("c", "1"), pod("me", "3")]), "me")
    assert of_kind(found, "uncordon").commands == ("kubectl uncordon a",)
    cleaned = of_kind(found, "untaint")
    assert str(cleaned.text) == "Remove the taint team=red:NoSchedule from b"
    assert cleaned.commands == ("kubectl taint nodes b team:NoSchedule-",)
    assert cleaned.diff.splitlines() == [
        " spec:",
        "-  taints:",
        "-  - key: team",
        "-    value: red",
        "-    effect: NoSchedule",
    ]


def test_a_toleration_is_patched_into_the_template_without_what_admission_adds() -> None:
    tainted = node("b")
    tainted["spec"] = {"taints": [{"key": "team", "value": "red", "effect": "NoSchedule"}]}
    stays = {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}
    wants = replica("me", "bbbbb", tolerations=[{**stays, "tolerationSeconds": 300}])
    tolerated = of_kind(helped(played([tainted, wants]), "me-6d4cf56db6-bbbbb"), "tolerate")
    assert tolerated.commands == (
        "kubectl patch deployment/me -n shop --type=merge -p '"
        '{"spec":{"template":{"spec":{"tolerations":'
        '[{"key":"team","operator":"Equal","value":"red","effect":"NoSchedule"}]}}}}'
        "'",
    )


def test_a_node_gets_the_label_that_a_pod_selects() -> None:
    wants = pod("me")
    wants["spec"]["nodeSelector"] = {"pool": "batch"}
    labelled = of_kind(helped(played([node("a"), wants]), "me"), "label")
    assert str(labelled.text) == "Label a with pool=batch"
    assert labelled.commands == ("kubectl label node a pool=batch",)


def test_nothing_has_to_change_for_a_pod_that_still_gets_its_place() -> None:
    """It waits in the queue of a run that has not begun."""
    found = helped(player([node("a"), pod("me")]), "me")
    assert (found.fits_on, found.remedies) == ("a", ())


def test_bare_pods_that_exclude_each_other_per_zone_are_helped_as_a_whole() -> None:
    """They were written with the same rules; only when those that have a node are softened, too, does it help."""
    bare = [pod(f"web-{number}", app="web") for number in range(4)]
    for made in bare:
        made["spec"]["affinity"] = one_per(ZONE)
    objects = [*ZONES, *bare]
    game = played(objects)
    (name,) = (key.partition("/")[2] for key, place in places_of(game).items() if not place)
    found = helped(game, name)
    assert str(found.why).startswith("One per zone: web-")
    assert texts(found) == [
        f"Add a node with a new {ZONE}, such as eu-1d, like n-a1 (4 cpu, 16 Gi memory)",
        f"Make the required pod anti-affinity to pods app=web per {ZONE} preferred",
        f"Spread it over {ZONE} instead of forbidding two: maxSkew 1",
    ]
    softer = of_kind(found, "relax")
    assert all(places_of(tried(objects, softer)).values())
    assert len(softer.commands) == 4
    assert softer.commands[0].startswith(f"kubectl get pod {name} -n shop -o json | kubectl patch --local")


def test_pods_of_an_older_template_are_of_the_same_workload() -> None:
    """A rollout: they hold all zones, and would hold them again whoever of them is deleted."""
    new = pod("web-7f5dbbc54b-zzzzz", owner="web-7f5dbbc54b", app="web")
    new["metadata"]["labels"]["pod-template-hash"] = "7f5dbbc54b"
    new["spec"]["affinity"] = one_per(ZONE)
    objects = [*ZONES, *WEB[:3]]
    for made, where in zip(objects[-3:], ("n-a1", "n-b1", "n-c1"), strict=True):
        objects[objects.index(made)] = {**made, "spec": {**made["spec"], "nodeName": where}}
    objects.append(new)
    found = helped(played(objects), "web-7f5dbbc54b-zzzzz")
    assert str(found.why).startswith("One per zone: ")
    assert [remedy.kind for remedy in found.remedies] == ["node", "relax", "relax"]
    softer = of_kind(found, "relax")
    assert len(softer.commands) == 1
    assert all(places_of(tried(objects, softer)).values())


def test_a_rule_is_softened_for_all_pods_of_a_workload_also_where_others_hold_a_zone() -> None:
    """One zone is held by a pod of the same label that is not one of its own."""
    other = pod("other", node_name="n-c1", app="web")
    objects = [*ZONES, other, *WEB[:3]]
    found = helped(played(objects), "web-6d4cf56db6-xlvtq")
    text = f"Make the required pod anti-affinity to pods app=web per {ZONE} preferred"
    assert text in texts(found)
    softer = found.remedies[texts(found).index(text)]
    assert all(places_of(tried(objects, softer)).values())
    assert len(softer.commands) == 1


def test_what_opens_a_node_in_another_zone_is_proposed_beside_softer_rules() -> None:
    tainted = node("n-d1", **{ZONE: "eu-1d"})
    tainted["spec"] = {"taints": [{"key": "team", "value": "red", "effect": "NoSchedule"}]}
    found = helped(played([*ZONES, tainted, *WEB[:4]]), "web-6d4cf56db6-k2k2k")
    assert {"tolerate", "untaint", "relax"} <= {remedy.kind for remedy in found.remedies}
    assert of_kind(found, "untaint").node == "n-d1"


@pytest.mark.parametrize("disk", ["20Gi", ""])
def test_a_node_with_more_disk_is_proposed_as_one_with_more_cpu_is(disk: str) -> None:
    small, wants = node("a"), pod("me")
    if disk:
        for amounts in (small["status"]["capacity"], small["status"]["allocatable"]):
            amounts["ephemeral-storage"] = disk
    wants["spec"]["containers"][0]["resources"]["requests"]["ephemeral-storage"] = "200Gi"
    found = helped(played([small, wants]), "me")
    more = "320 Gi" if disk else "256 Gi"
    before = "4 cpu, 16 Gi memory" + (", 20 Gi ephemeral-storage" if disk else "")
    assert texts(found) == [
        f"Add a node like a with more ephemeral-storage (4 cpu, 16 Gi memory, {more} ephemeral-storage)",
        f"Resize a from {before} to 4 cpu, 16 Gi memory, {more} ephemeral-storage",
    ]
    for remedy in found.remedies:
        assert places_of(tried([small, wants], remedy)) == {"shop/me": remedy.node}


def budget(allowed: int, **labels: str) -> Manifest:
    made: Manifest = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget"}
    made["metadata"] = {"name": "guard", "namespace": "shop"}
    made["spec"] = {"minAvailable": 1, "selector": {"matchLabels": labels}}
    made["status"] = {"disruptionsAllowed": allowed}
    return made


@pytest.mark.parametrize("allowed", [0, 1])
def test_who_breaks_a_pod_disruption_budget_says_so(allowed: int) -> None:
    objects = [node("a"), pod("alone", "3500m", node_name="a", app="web"), budget(allowed, app="web"), pod("me", "1")]
    found = helped(played(objects), "me")
    broken = " This breaks the PodDisruptionBudget guard." if not allowed else ""
    for kind in ("free", "priority"):
        remedy = of_kind(found, kind)
        assert remedy.cost == remedy.others[0].text
        assert str(remedy.cost) == f"shop/alone leaves a for good: nobody makes it again.{broken}"


def test_a_remedy_that_breaks_no_pod_disruption_budget_comes_before_one_of_its_kind_that_does() -> None:
    """Either of two pods may be deleted; the one that is not guarded has the higher priority, so it is tried later."""
    guarded, other = pod("guarded", "3500m", node_name="a", app="web"), pod("other", "3500m", node_name="b")
    other["spec"]["priority"] = 5
    found = helped(played([node("a"), node("b"), guarded, other, budget(0, app="web"), pod("me", "1")]), "me")
    freeing = [remedy for remedy in found.remedies if remedy.kind == "free"]
    assert [str(each.text) for each in freeing] == ["Delete shop/other from b", "Delete shop/guarded from a"]
    assert ["guard" in str(each.cost) for each in freeing] == [False, True]
