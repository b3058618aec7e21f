"""Pod groups in a run: an attempt per pod of one cycle, the same from replay, and an end to trying in vain."""

from __future__ import annotations

from schedweb.engine.player import Happened
from tests.schedweb.engine.worlds import DEFAULT, Manifest, node, places, play, player, pod

GROUPS = f"# kube-scheduler --feature-gates=GangScheduling=true,GenericWorkload=true\n{DEFAULT}"


def gang(minimum: int) -> Manifest:
    return {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "metadata": {"name": "g", "namespace": "shop", "uid": "uid-g"},
        "spec": {"schedulingPolicy": {"gang": {"minCount": minimum}}},
    }


def member(name: str, cpu: str) -> Manifest:
    made = pod(name, cpu)
    return {**made, "spec": {**made["spec"], "schedulingGroup": {"podGroupName": "g"}}}


def world(cpu: str) -> list[Manifest]:
    return [node("n"), gang(3), *(member(name, cpu) for name in ("a", "b", "c"))]


def test_every_pod_of_the_cycle_has_its_attempt() -> None:
    game = player(world("100m"), configuration=GROUPS)
    assert play(game) is Happened.FINISHED
    assert places(game) == dict.fromkeys("abc", "bound")
    assert [(trace.pod, trace.cycle) for trace in game.traces] == [("shop/a", 1), ("shop/b", 2), ("shop/c", 3)]
    again = player(world("100m"), configuration=GROUPS)
    play(again)
    assert again.digest == game.digest


def test_a_gang_that_never_fits_pauses_the_run() -> None:
    game = player(world("100"), configuration=GROUPS)
    for _ in range(5_000):
        if game.operate() is Happened.ERRORS:
            break
    else:
        raise AssertionError("the run would never end")
    assert set(places(game).values()) != {"bound"}
