"""All 46 unschedulable pods of the export: a first sentence that is true, and a remedy that was tried."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from framework.objects import Pod
from schedweb.engine.player import Player
from schedweb.runs.pods.page import pod_body
from schedweb.runs.records.runs import run_get
from tests.advice.asking import helped, of_kind, places_of, played, texts, tried
from tests.schedweb.runs.conftest import played_out

EXPORT = Path(__file__).parents[3] / "data" / "cluster-shop" / "kubectl-export.json.gz"
#: Workload → (pods, how the first sentence begins, what is proposed).
WANTED: dict[str, tuple[int, str, list[str]]] = {
    "trainer": (
        2,
        "No node has 8 free GPUs; the nearest, ip-10-0-3-11, has 6.",
        [
            "Add a node like ip-10-0-3-10 (47.92 cpu, 191.1 Gi memory, 8 nvidia.com/gpu)",
            "Move ml/serve-6859b459fc-5dpf4 to ip-10-0-3-14 and ml/serve-6859b459fc-p7clb to ip-10-0-3-12",
            "Lower the request of nvidia.com/gpu from 8 to 6",
        ],
    ),
    "ci-runner": (
        41,
        "None of the 24 nodes that it may use has 1.5 free cpu; the nearest, ",
        [
            "Uncordon ip-10-0-1-90",
            "Add a node like ip-10-0-4-10 (3.92 cpu, 15.1 Gi memory)",
            "Resize ip-10-0-4-10 from 3.92 cpu, 15.1 Gi memory to 7.84 cpu, 30.2 Gi memory",
            "Tolerate the taint dedicated=data:NoSchedule",
            "Tolerate the taint nvidia.com/gpu=present:NoSchedule",
            "Remove the taint dedicated=data:NoSchedule from ip-10-0-2-10",
            "Remove the taint nvidia.com/gpu=present:NoSchedule from ip-10-0-3-10",
            "Lower the request of cpu from 1.5 to 1.37",
        ],
    ),
    "legacy-report": (
        2,
        "Only 11 nodes are large enough, and they are closed to this pod: ip-10-0-2-11 has the taint ",
        [
            "Add a node like ip-10-0-2-10 (15.92 cpu, 127.1 Gi memory), without dedicated=data:NoSchedule",
            "Resize ip-10-0-4-10 from 3.92 cpu, 15.1 Gi memory to 15.68 cpu, 60.5 Gi memory",
            "Tolerate the taint dedicated=data:NoSchedule",
            "Tolerate the taint nvidia.com/gpu=present:NoSchedule",
            "Remove the taint dedicated=data:NoSchedule from ip-10-0-2-12",
            "Remove the taint nvidia.com/gpu=present:NoSchedule from ip-10-0-3-10",
        ],
    ),
    "windows-agent": (
        1,
        "No node has kubernetes.io/os=windows.",
        ["Add a node like ip-10-0-4-10 (3.92 cpu, 15.1 Gi memory), with kubernetes.io/os=windows"],
    ),
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


def test_every_workload_has_remedies_that_a_fork_shows(exported: list[dict[str, Any]]) -> None:
    """About the first pod of each workload: what is proposed, in this order, and each tried beside all others."""
    game = played(exported)
    asked: set[str] = set()
    for pod in game.world.cluster.list(Pod):
        of = workload(pod.metadata.name)
        if pod.spec.node_name or pod.spec.scheduling_gates or of in asked:
            continue
        asked.add(of)
        found = helped(game, pod.metadata.name)
        assert texts(found) == WANTED[of][2]
        assert (found.workload, found.alike) == (f"deployment/{of}", WANTED[of][0])
        for remedy in found.remedies:
            after = places_of(tried(exported, remedy))
            assert after[pod.key] == remedy.node
            assert sum(bool(after.get(each.key)) for each in pods_of(game, of)) == remedy.placed
            assert not remedy.left_pending
    assert asked == WANTED.keys()


def pods_of(game: Player, of: str) -> list[Pod]:
    """Those that are pending."""
    pending = (pod for pod in game.world.cluster.list(Pod) if not pod.spec.node_name)
    return [pod for pod in pending if workload(pod.metadata.name) == of]


def test_a_trainer_is_helped_without_another_trainer_paying_for_it(exported: list[dict[str, Any]]) -> None:
    game = played(exported)
    pod = pods_of(game, "trainer")[0]
    moved = of_kind(helped(game, pod.metadata.name), "move")
    assert [str(each.text) for each in moved.others] == [
        "ml/serve-6859b459fc-5dpf4 leaves ip-10-0-3-11 and goes to ip-10-0-3-14.",
        "ml/serve-6859b459fc-p7clb leaves ip-10-0-3-11 and goes to ip-10-0-3-12.",
    ]
    lowered = of_kind(helped(game, pod.metadata.name), "lower")
    assert lowered.commands == (
        "kubectl patch deployment/trainer -n ml --type=strategic -p '"
        '{"spec":{"template":{"spec":{"containers":[{"name":"trainer","resources":'
        '{"requests":{"nvidia.com/gpu":"6"},"limits":{"nvidia.com/gpu":"6"}}}]}}}}'
        "'",
    )
