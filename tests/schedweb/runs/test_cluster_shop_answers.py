"""All 46 unschedulable pods of the export: a first sentence that is true, and a remedy that was tried."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from framework.advice import Remedy, perform, what_would_help
from framework.objects import Pod
from framework.objects.decode import decode_manifest
from schedweb.engine import commands
from schedweb.runs.selectors.pod_page import pod_body
from schedweb.runs.selectors.runs import run_get
from tests.schedweb.engine.worlds import Table, play, player
from tests.schedweb.runs.conftest import played_out

EXPORT = Path(__file__).parents[2] / "data" / "cluster-shop" / "kubectl-export.json.gz"
#: Workload → (pods, how the first sentence begins, a remedy that must be among those found).
WANTED = {
    "trainer": (2, "No node has 8 free GPUs; the nearest, ip-10-0-3-11, has 6.", "nvidia.com/gpu from 8 to 6"),
    "ci-runner": (
        41,
        "None of the 24 nodes that it may use has 1.5 free cpu; the nearest, ",
        "cpu from 1.5 to 1.37",
    ),
    "legacy-report": (
        2,
        "None of the 24 nodes that it may use is that large: it asks for 9 cpu",
        "cpu from 9 to 1.37",
    ),
    "windows-agent": (1, "No node that it could use has kubernetes.io/os=windows.", "Drop the node selector"),
}


def workload(name: str) -> str:
    return name.rsplit("-", 2)[0]


@pytest.fixture(scope="module")
def exported() -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = json.loads(gzip.decompress(EXPORT.read_bytes()))["items"]
    return items


@pytest.mark.django_db(transaction=True)
def test_every_pending_pod_has_a_first_sentence_that_is_true(operator: User, exported: list[dict[str, Any]]) -> None:
    game = played_out(operator, exported)
    pending = game.run.pod_records.filter(column="unschedulable").values_list("namespace", "name")
    said: Counter[str] = Counter()
    for namespace, name in pending:
        of = workload(name)
        answer = pod_body(run_get(game.id), namespace, name)["answer"]
        assert answer["kind"] == "pending"
        assert answer["headline"].startswith(WANTED[of][1]), (name, answer)
        said[of] += 1
    assert said == {of: count for of, (count, _, _) in WANTED.items()}


def test_every_pending_pod_has_a_remedy_that_was_tried(exported: list[dict[str, Any]]) -> None:
    game = player(exported)
    play(game)
    found: Counter[str] = Counter()
    applied: set[str] = set()
    for pod in game.world.cluster.list(Pod):
        if pod.spec.node_name or pod.spec.scheduling_gates:
            continue
        of = workload(pod.metadata.name)
        remedies = what_would_help(game.scheduler, pod)
        wanted = [remedy for remedy in remedies if WANTED[of][2] in str(remedy.text)]
        assert wanted, (pod.key, [str(remedy.text) for remedy in remedies])
        found[of] += 1
        if of not in applied:
            applied.add(of)
            for remedy in remedies:
                assert where_it_goes(exported, pod, remedy), (pod.key, remedy.text)
    assert found == {of: count for of, (count, _, _) in WANTED.items()}


def where_it_goes(exported: list[dict[str, Any]], pod: Pod, remedy: Remedy) -> str:
    """Its node in a cluster where the remedy was applied before anybody was scheduled, and no other pod is pending."""
    others = (each for each in exported if each["kind"] != "Pod" or each["spec"].get("nodeName"))
    own = [each for each in exported if each["kind"] == "Pod" and each["metadata"].get("name") == pod.metadata.name]
    game = player([*others, *own])
    for operation in remedy.operations:
        perform(game.world.cluster, operation)
    play(game)
    now = game.world.cluster.get(Pod, pod.metadata.namespace, pod.metadata.name)
    assert now is not None
    assert decode_manifest(own[0]).key == now.key
    return now.spec.node_name


def test_who_has_to_leave_does_not_take_the_room_again_on_a_fork(exported: list[dict[str, Any]]) -> None:
    """Beside all others that are pending, with the controllers of a run."""
    game = player(exported)
    play(game)
    trainers = [each for each in game.world.cluster.list(Pod) if workload(each.metadata.name) == "trainer"]
    # Alike, so either may be the one that gets the room.
    waiting = {each.metadata.name: each for each in trainers if not each.spec.node_name}
    pod = min(waiting.values(), key=lambda each: each.metadata.name)
    remedies = {remedy.kind: remedy for remedy in what_would_help(game.scheduler, pod)}
    assert {"move", "free"} <= remedies.keys()
    for kind in ("move", "free"):
        fork = player(exported)
        play(fork)
        at = Table(fork)
        for each in remedies[kind].operations:
            at.order(commands.Change(each.verb, each.manifest))
        play(fork)
        placed = [each.spec.node_name for each in fork.world.cluster.list(Pod) if each.metadata.name in waiting]
        assert sorted(filter(None, placed)) == [remedies[kind].node]
