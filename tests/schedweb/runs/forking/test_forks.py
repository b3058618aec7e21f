"""Forks: they begin where their parent was, go their own way, and change nothing of it."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils.translation import override

from schedweb.configurations.models import ConfigurationVersion
from schedweb.runs.forking.fork_changes import fork_changes
from schedweb.runs.forking.forks import change_of, run_fork
from schedweb.runs.models import Attempt, Checkpoint, JournalEntry, Run
from schedweb.runs.records.manifests import manifest_of
from schedweb.sentences import translated
from tests.schedweb.engine.worlds import DEFAULT, Manifest, node, pod
from tests.schedweb.runs.conftest import Game, played_out

pytestmark = pytest.mark.django_db(transaction=True)
DERIVED = ("position", "points", "attempts", "digest", "clock", "counts", "columns", "cycle", "node_count", "pod_count")


def pods_of(run: Run) -> list[Any]:
    rows = run.pod_records.order_by("uid")
    return list(rows.values_list("uid", "column", "node", "attempts", "since", "card", "detail", "labels"))


def nodes_of(run: Run) -> list[Any]:
    return list(
        run.node_records.order_by("row").values_list("row", "name", "present", "allocatable", "requested", "reserved")
    )


def attempts_of(run: Run) -> list[Any]:
    rows = Attempt.objects.filter(run=run).order_by("number")
    return list(rows.values_list("number", "pod_uid", "at", "ended", "result", "node", "message", "score"))


def stored(run: Run) -> dict[str, Any]:
    """Every row of a run."""
    run.refresh_from_db()
    journal = list(JournalEntry.objects.filter(run=run).order_by("number").values())
    facts = {name: getattr(run, name) for name in (*DERIVED, "seq", "epoch", "state", "wanted")}
    return {**facts, "journal": journal, "pods": pods_of(run), "nodes": nodes_of(run), "attempts": attempts_of(run)}


def test_a_fork_now_is_what_its_parent_is_and_leaves_it_alone(played: Game, client: Client) -> None:
    before = stored(played.run)
    answer = client.post(f"/api/v1/runs/{played.id}/forks/", {}, content_type="application/json")
    assert answer.status_code == 201, answer.content
    body = answer.json()
    assert body["parent"] == {"id": str(played.id), "number": str(played.run), "position": played.run.position}
    assert body["state"] == "paused"
    fork = Game(Run.objects.get(pk=body["id"]), played.user)
    fork.play()
    assert fork.run.error == ""
    assert fork.run.state == "paused"
    after = stored(fork.run)
    assert {name: after[name] for name in DERIVED} == {name: before[name] for name in DERIVED}
    assert (after["pods"], after["nodes"], after["attempts"]) == (before["pods"], before["nodes"], before["attempts"])
    assert Checkpoint.objects.filter(run=fork.run, position=fork.run.position).exists()
    fork.command("node_delete", name="a")
    fork.command("play", speed="max")
    fork.play()
    assert stored(fork.run)["nodes"] != before["nodes"]
    assert stored(played.run) == before


def test_a_fork_of_an_earlier_moment_with_a_remedy(played: Game) -> None:
    """Half way, a node is added that the large pod fits on: it goes there, and the parent's does not."""
    half = played.run.position // 2
    before = stored(played.run)
    changes = [{"verb": "add", "manifest": node("huge", "32")}]
    fork = Game(run_fork(parent=played.run, user=played.user, position=half, changes=changes), played.user)
    fork.command("play", speed="max")
    fork.play()
    assert fork.run.error == ""
    own = JournalEntry.objects.filter(run=fork.run, type="change").get()
    assert (own.status, translated((own.result or {})["text"])) == ("applied", "added Node huge")
    assert own.position is not None
    assert own.position >= half
    large = fork.run.pod_records.get(name="large")
    assert (large.column, large.node) == ("bound", "huge")
    common = [row for row in attempts_of(fork.run) if row[3] is not None and row[3] <= (own.clock or 0)]
    assert common == [row for row in before["attempts"] if row in common]
    assert stored(played.run) == before


def test_what_was_changed_is_told_with_the_fork_and_it_plays_by_itself(played: Game, client: Client) -> None:
    large = manifest_of(played.run.pod_records.get(name="large").manifest)
    smaller = deepcopy(large)
    smaller["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "1"
    smaller["spec"]["priority"] = 7
    changes = [
        {"verb": "replace", "manifest": smaller},
        {"verb": "add", "manifest": node("huge", "32")},
        {"type": "node_cordon", "name": "b"},
    ]
    body = {"position": played.run.position, "changes": changes, "play": True}
    made = client.post(f"/api/v1/runs/{played.id}/forks/", body, content_type="application/json").json()
    assert [(each["workload"], each["text"]) for each in made["fork_changes"]] == [
        ("large", "lowered cpu 16 → 1, priority 0 → 7"),
        ("", "added node huge (32 cpu, 16 Gi memory)"),
        ("b", "cordoned"),
    ]
    fork = Game(Run.objects.get(pk=made["id"]), played.user)
    fork.play()
    assert fork.run.state == "waiting_for_person", "for the pod that the parent waits for"
    page = client.get(f"/api/v1/runs/{made['id']}/pods/shop/large/").json()
    assert (page["column"], page["priority"], page["requests"]["cpu"]) == ("bound", 7, "1")
    assert page["uid"] != large["metadata"]["uid"], "made anew: no update changes a priority"
    assert page["answer"]["headline"] == f"Bound to {page['node']}."
    assert [each["attempt"] for each in page["attempt_list"]] == [1]
    shown = client.get(f"/api/v1/runs/{made['id']}/pods/shop/large/yaml/").json()["yaml"]
    assert "priority: 7" in shown
    assert "cpu: '1'" in shown or 'cpu: "1"' in shown
    listed = client.get("/api/v1/runs/").json()["results"]
    assert {each["id"]: each["fork_changes"] for each in listed} == {
        made["id"]: made["fork_changes"],
        str(played.id): [],
    }


ANTI: Manifest = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
        ]
    }
}
ON_DISKS: Manifest = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}]
        }
    }
}


def replica(tail: str, node_name: str = "", **spec: Any) -> Manifest:
    made = pod(f"web-6d4cf56db6-{tail}", node_name=node_name, owner="web-6d4cf56db6", app="web")
    made["metadata"]["labels"]["pod-template-hash"] = "6d4cf56db6"
    made["spec"].update(spec)
    return made


def anew(made: Manifest, **spec: Any) -> list[Any]:
    """Two changes: taken away, and again with another specification, as advice does it with pods that have a node."""
    again = deepcopy(made)
    again["spec"] = {**again["spec"], **spec}
    return [{"verb": "remove", "manifest": made}, {"verb": "add", "manifest": again}]


def test_what_was_changed_is_one_line_per_workload_and_says_what_a_new_node_is(operator: User) -> None:
    web = [replica(tail, node_name="a", nodeSelector={"pool": "web"}) for tail in ("bbbbb", "ccccc", "ddddd")]
    strict = [replica(tail, affinity=ANTI) for tail in ("fffff", "ggggg")]
    disks = pod("disks")
    disks["spec"]["affinity"] = ON_DISKS
    parent = played_out(operator, [node("a", pool="web", zone="eu-1a"), *web, *strict, disks]).run
    preferred = {"podAffinityTerm": ANTI["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0]}
    softer = {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, **preferred}]}}
    (term,) = ON_DISKS["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    soft_disks = deepcopy(disks)
    soft_disks["spec"]["affinity"] = {
        "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "preference": term}]}
    }
    like, larger = node("a-more-1", pool="web", zone="eu-1d"), node("a-more-2", "8", pool="web", zone="eu-1a")
    csi = {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": "a-more-1"}}
    claims = [
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": "shop"}}
        for name in ("data-0", "data-1")
    ]

    def told_of(*commands: Any) -> list[tuple[str, str]]:
        changes = fork_changes(parent, [change_of(each) for each in commands])
        return [(each["workload"], translated(each["text"])) for each in changes]

    def added(*objects: Manifest) -> list[Any]:
        return [{"verb": "add", "manifest": each} for each in objects]

    assert told_of(*(each for made in web for each in anew(made, nodeSelector=None))) == [
        ("Deployment web", "dropped the node selector pool=web (3 pods)")
    ]
    softened = [
        {"verb": "replace", "manifest": {**made, "spec": {**made["spec"], "affinity": softer}}} for made in strict
    ]
    assert told_of(*softened) == [
        (
            "Deployment web",
            "pod anti-affinity to pods app=web per kubernetes.io/hostname preferred instead of required (2 pods)",
        )
    ]
    assert told_of({"verb": "replace", "manifest": soft_disks}) == [
        ("disks", "node affinity preferred instead of required")
    ]
    assert told_of(*anew(web[0], nodeName="b")) == [("Deployment web", "moved to b")]
    assert told_of(*({"verb": "delete", "manifest": made} for made in web)) == [
        ("Deployment web", "deleted pods bbbbb, ccccc and ddddd")
    ]
    assert told_of(*added(like, csi, larger)) == [
        ("", "added node a-more-1 like a (4 cpu, 16 Gi memory), with zone=eu-1d"),
        ("", "added node a-more-2 larger than a (8 cpu, 16 Gi memory)"),
    ]
    assert told_of(*added(*claims)) == [("", "added PersistentVolumeClaim data-0 and data-1")]
    with override("uk"):
        (line,) = told_of(*(each for made in web for each in anew(made, nodeSelector=None)))
    assert line == ("Deployment web", "прибрано селектор вузлів pool=web (3 Podʼи)")


def test_forks_of_one_moment_are_alike_and_survive_their_parent(played: Game) -> None:
    changes = [{"type": "node_cordon", "name": "b"}]
    digests: list[tuple[str, int]] = []
    for _ in range(2):
        fork = Game(run_fork(parent=played.run, user=played.user, position=5, changes=changes), played.user)
        fork.command("play", speed="max")
        if digests:
            # Without its parent, and from the beginning: the journal is its own.
            played.run.delete()
        fork.play()
        Checkpoint.objects.filter(run=fork.run).delete()
        fork.command("node_uncordon", name="b")
        fork.play()
        assert fork.run.error == ""
        digests.append((fork.run.digest, fork.run.position))
    assert digests[0] == digests[1]
    assert Run.objects.get(pk=fork.id).parent is None
    assert fork.run.parent_name


def test_a_fork_with_another_configuration(played: Game, version: ConfigurationVersion) -> None:
    other = ConfigurationVersion.objects.create(configuration=version.configuration, number=2, text=DEFAULT)
    fork = Game(run_fork(parent=played.run, user=played.user, position=0, configuration_version=other.pk), played.user)
    fork.command("play", speed="max")
    fork.play()
    assert fork.run.error == ""
    assert fork.run.configuration_version_id == other.pk
    # Nobody is asked under the other configuration.
    assert fork.places()["asks-2"] == "bound"


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"position": 10**9}, "position"),
        ({"changes": [{"type": "play"}]}, "changes"),
        ({"changes": [{"verb": "melt", "manifest": {}}]}, "verb"),
        ({"changes": [{"type": "node_cordon"}]}, ""),
    ],
    ids=["beyond", "pacing", "verb", "nameless"],
)
def test_what_cannot_be_forked_is_refused(client: Client, played: Game, body: dict[str, Any], path: str) -> None:
    answer = client.post(f"/api/v1/runs/{played.id}/forks/", body, content_type="application/json")
    assert answer.status_code in (400, 422), answer.content
    assert answer.json()["error"].get("path", "") == path
    assert Run.objects.count() == 1
