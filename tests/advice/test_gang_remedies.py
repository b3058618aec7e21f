"""Remedies for pods of a PodGroup of scheduling.k8s.io, which are scheduled all in one cycle, played to their end."""

from __future__ import annotations

import pytest

from framework.advice import Help
from tests.advice.asking import done, helped, places_of, texts
from tests.advice.refusals import of_gang
from tests.advice.test_reasons import played, to_its_end
from tests.schedweb.engine.test_pod_groups import GROUPS, gang
from tests.schedweb.engine.worlds import Manifest, node

ANEW = ": make it anew, as its schedulingPolicy cannot be changed"
WORLDS: dict[str, list[Manifest]] = {
    "one too many": [node("n1", "2"), gang(3), *map(of_gang, "abc")],
    "too few": [node("n1"), gang(3), *map(of_gang, "ab")],
    "a gate": [node("n1"), gang(2), of_gang("a"), of_gang("b", "1", "later")],
    "too few, and too large": [node("n1"), gang(3), of_gang("a", "5"), of_gang("b", "5")],
}


def asked(name: str, pod: str) -> Help:
    """All its remedies hold: each was played again, from the beginning, as a fork does."""
    objects = WORLDS[name]
    found = helped(played((objects, GROUPS)), pod)
    assert found.complete
    for remedy in found.remedies:
        after = to_its_end(done(played((objects, GROUPS)), remedy.operations))
        assert places_of(after)[f"shop/{pod}"] == remedy.node, str(remedy.text)
    return found


@pytest.mark.parametrize(
    ("name", "pod", "text"),
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
def test_a_gang_is_helped(name: str, pod: str, text: str) -> None:
    assert text in texts(asked(name, pod))


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
