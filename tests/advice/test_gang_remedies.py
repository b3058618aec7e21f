"""Remedies for pods of a PodGroup of scheduling.k8s.io, which are scheduled all in one cycle, played to their end."""

from __future__ import annotations

from typing import Any

import pytest

from framework.advice import Help
from tests.advice.asking import done, helped, places_of, texts
from tests.advice.refusals import of_gang, tainted, with_spec
from tests.advice.test_reasons import played, to_its_end
from tests.schedweb.engine.test_pod_groups import GROUPS, gang
from tests.schedweb.engine.worlds import Manifest, node, pod

ANEW = ": make it anew, as its schedulingPolicy cannot be changed"
WORLDS: dict[str, list[Manifest]] = {
    "one too many": [node("n1", "2"), gang(3), *map(of_gang, "abc")],
    "too few": [node("n1"), gang(3), *map(of_gang, "ab")],
    "a gate": [node("n1"), gang(2), of_gang("a"), of_gang("b", "1", "later")],
    "too few, and too large": [node("n1"), gang(3), of_gang("a", "5"), of_gang("b", "5")],
}


def asked(name: str, member: str) -> Help:
    """All its remedies hold: each was played again, from the beginning, as a fork does."""
    objects = WORLDS[name]
    found = helped(played((objects, GROUPS)), member)
    assert found.complete
    for remedy in found.remedies:
        after = to_its_end(done(played((objects, GROUPS)), remedy.operations))
        assert places_of(after)[f"shop/{member}"] == remedy.node, str(remedy.text)
    return found


@pytest.mark.parametrize(
    ("name", "member", "text"),
    [
        ("one too many", "a", f"Lower minCount of PodGroup shop/g to 2{ANEW}"),
        ("one too many", "c", "Add a node like n1 (2 cpu, 16 Gi memory)"),
        ("one too many", "c", "Resize n1 from 2 cpu, 16 Gi memory to 4 cpu, 32 Gi memory"),
        ("too few", "a", f"Lower minCount of PodGroup shop/g to 2{ANEW}"),
        ("a gate", "a", f"Lower minCount of PodGroup shop/g to 1{ANEW}"),
        ("a gate", "a", "Remove the scheduling gate later of shop/b"),
        ("a gate", "b", "Remove the scheduling gate later"),
        (
            "too few, and too large",
            "a",
            f"Lower minCount of PodGroup shop/g to 2{ANEW}. Add 2 nodes larger than n1 (8 cpu, 32 Gi memory).",
        ),
    ],
)
def test_a_gang_is_helped(name: str, member: str, text: str) -> None:
    assert text in texts(asked(name, member))


def test_fewer_pods_are_not_what_helps_the_one_that_has_no_room() -> None:
    assert not any("minCount" in text for text in texts(asked("one too many", "c")))


def test_the_group_is_made_anew_though_pods_name_it() -> None:
    (remedy,) = (each for each in asked("one too many", "a").remedies if each.kind == "relax")
    delete, let_go, create = remedy.commands
    assert delete == "kubectl delete podgroups.scheduling.k8s.io g -n shop --wait=false"
    assert let_go.startswith("kubectl patch podgroups.scheduling.k8s.io g -n shop ")
    assert "minCount: 2" in create
    assert "uid" not in create
    assert remedy.diff.splitlines()[-2:] == ["-      minCount: 3", "+      minCount: 2"]


def like(names: str, cpu: str = "1", job: str = "", **spec: Any) -> list[Manifest]:
    """Members that all ask for the same, of a Job where one is named."""
    members = [with_spec(of_gang(name, cpu), **spec) for name in names]
    for each in members if job else ():
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": job, "uid": job, "controller": True}
        each["metadata"]["ownerReferences"] = [owner]
    return members


SSD: dict[str, Any] = {"nodeSelector": {"disk": "ssd"}}
ALIKE: dict[str, tuple[list[Manifest], dict[str, Any]]] = {
    "taint": ([tainted("n1")], {}),
    "selector": ([node("n1")], SSD),
    "cordoned": ([{**node("n1"), "spec": {"unschedulable": True}}], {}),
    "one too many alike": ([node("n1", "2")], {}),
    "others could be elsewhere": (
        [node("n1", "4"), node("n2", "600m"), pod("x", "500m", node_name="n1"), pod("y", "1", node_name="n1")],
        {},
    ),
    "two are there": ([node("n1", "4"), *(pod(name, "1500m", node_name="n1") for name in "xy")], {}),
    "others are there": ([node("n1", "4"), pod("x", "2", node_name="n1")], {}),
}
for what, (objects, spec) in ALIKE.items():
    WORLDS[what] = [*objects, gang(3), *like("abc", **spec)]
    WORLDS[f"{what}, of a Job"] = [*objects, gang(3), *like("abc", job="train", **spec)]


@pytest.mark.parametrize("of", ["", ", of a Job"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("taint", "Tolerate the taint dedicated=db:NoSchedule"),
        ("taint", "Remove the taint dedicated=db:NoSchedule from n1"),
        ("selector", "Label n1 with disk=ssd"),
        ("selector", "Drop the node selector disk=ssd"),
        ("cordoned", "Uncordon n1"),
        ("one too many alike", "Lower the request of cpu from 1 to 0.666"),
        ("others are there", "Delete shop/x from n1"),
        ("two are there", "Delete shop/x and shop/y from n1"),
        ("others are there", "Add a node like n1 (4 cpu, 16 Gi memory)"),
    ],
)
def test_what_is_changed_is_changed_for_the_whole_gang(name: str, of: str, text: str) -> None:
    found = asked(f"{name}{of}", "b")
    assert text in texts(found)
    assert found.alike == 3
    assert found.workload == ("job/train" if of else "podgroup/g")
    assert all(each.placed == 3 for each in found.remedies if "minCount" not in str(each.text))


def test_every_pod_of_the_gang_is_made_anew_by_a_command_of_its_own() -> None:
    (remedy,) = (each for each in asked("taint", "b").remedies if each.kind == "tolerate")
    assert [command.split()[3] for command in remedy.commands] == ["b", "a", "c"]


@pytest.mark.parametrize("of", ["", ", of a Job"])
def test_who_is_moved_for_a_gang_has_a_node_beside_it(of: str) -> None:
    found = asked(f"others are there{of}", "b")
    assert not any(each.kind == "move" for each in found.remedies), "there is no other node"
    found = asked(f"others could be elsewhere{of}", "b")
    (remedy,) = (each for each in found.remedies if each.kind == "move")
    assert str(remedy.text) == "Move shop/x to n2"
    assert [each.verb for each in remedy.operations] == ["remove", "add"]


def test_gates_are_removed_once() -> None:
    assert [each.kind for each in asked("a gate", "b").remedies] == ["gate"]
