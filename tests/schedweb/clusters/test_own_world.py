"""A shadow on its own, played by real workers at the stand-in: differences add up, and are laid beside the cluster."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from schedweb.configurations.models import Configuration, ConfigurationVersion
from schedweb.runs.management.commands import cluster as cluster_command
from schedweb.runs.models import RealPodRecord, Run, ShadowJudgement
from schedweb.runs.own_world.watched import OwnWorldWatched
from tests.apiserver import ApiServer
from tests.apiserver.manifests import pod
from tests.schedweb.clusters.conftest import CONTEXT, Worker, until
from tests.schedweb.clusters.followed import bind, column, followed, live, replay_is_the_same, stands, state
from tests.schedweb.clusters.followed import unschedulable as failing
from tests.schedweb.engine.test_judged import PACKED

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_watching")]


@pytest.fixture
def packed(transactional_db: None) -> ConfigurationVersion:
    known = Configuration.objects.create(name="bin packing", slug="bin-packing")
    return ConfigurationVersion.objects.create(configuration=known, number=1, text=PACKED)


def asking(name: str, cpu: str, namespace: str = "shop", priority: int = 0) -> dict[str, Any]:
    containers = [{"name": "main", "image": "web:1", "resources": {"requests": {"cpu": cpu}}}]
    return pod(name, namespace, spec={"containers": containers, "priority": priority})


def get(client: Client, run: Run, path: str = "", **query: Any) -> Any:
    answer = client.get(f"/api/v1/runs/{run.pk}/shadow/world/{path}", query)
    assert answer.status_code == 200, answer.content
    return answer


def there(run: Run, name: str) -> Callable[[], bool]:
    """The run knows that the real scheduler has bound it, or said that it could not."""
    return lambda: RealPodRecord.objects.filter(run=run, name=name).exclude(node="", message="").exists()


def begun(operator: Client, packed: ConfigurationVersion) -> Run:
    return followed(operator, configuration_version=str(packed.pk), shadow=True, way="on_its_own")


def half_full(cluster: ApiServer, run: Run) -> None:
    """There a pod of 2 cpu is on each of three nodes of 4."""
    for number in range(3):
        cluster.add(asking(f"half-{number}", "2"))
        until(stands(run, f"half-{number}", "bound"))
        bind(cluster, f"half-{number}", f"n{number}")
        until(there(run, f"half-{number}"))


def test_a_later_pod_fits_here_and_not_there(
    cluster: ApiServer, operator: Client, packed: ConfigurationVersion, workers: Callable[[Run], Worker]
) -> None:
    run = begun(operator, packed)
    assert state(operator, run)["way"] == "on_its_own"
    first = workers(run)
    live(operator, run)
    until(stands(run, "web-0", "bound"))
    half_full(cluster, run)
    cluster.add(asking("large", "3", "ml"))
    until(stands(run, "large", "bound"))
    cluster.change("pods", "large", "ml", by=lambda it: it.update(status=failing("x")["status"]))
    until(there(run, "large"))

    # Another worker goes on, from the journal.
    first.lose_the_lease()
    cluster.add(asking("while-away", "500m"))
    second = workers(run)
    until(stands(run, "while-away", "bound"))
    second.supervisor.child.child.kill()
    cluster.add(asking("after-death", "500m"))
    until(stands(run, "after-death", "bound"))
    cluster.add(asking("urgent", "4", priority=1000))
    until(lambda: run.pod_records.filter(name="urgent", column="bound").exists())
    bind(cluster, "while-away", "n0")
    until(there(run, "while-away"))

    found = get(operator, run).json()
    assert found["counts"]["pending_there"] >= 1
    assert found["counts"]["evicted_here"] >= 1
    assert found["b"]["attempts"]["victims"] == found["counts"]["evicted_here"]
    assert (found["a"]["attempts"]["victims"], found["a"]["attempts"]["total"]) == (0, None)
    cpu = {side: next(each for each in found[side]["resources"] if each["name"] == "cpu") for side in "ab"}
    bound_there = sum(
        {"half": 2000, "while": 500}.get(each["metadata"]["name"].split("-")[0], 0)
        for each in cluster.all("pods")
        if each["spec"].get("nodeName") and each["status"].get("phase") != "Succeeded"
    )
    assert cpu["a"]["used"] == bound_there == 6500
    assert cpu["b"]["used"] == run.pod_records.filter(name__startswith="half", column="bound").count() * 2000 + sum(
        {"large": 3000, "while-away": 500, "after-death": 500, "urgent": 4000}[name]
        for name in run.pod_records.filter(column="bound").values_list("name", flat=True)
        if name in ("large", "while-away", "after-death", "urgent")
    )
    assert found["a"]["nodes"] == found["b"]["nodes"] == found["a"]["nodes_in_use"] == 3
    assert found["a"]["pods"] == len(
        [each for each in cluster.all("pods") if each["status"].get("phase") != "Succeeded"]
    )
    assert found["a"]["placed"] == sum(
        bool(each["spec"].get("nodeName")) and each["status"].get("phase") != "Succeeded"
        for each in cluster.all("pods")
    )
    assert found["a"]["waiting"]["count"] == 4
    assert {"ml", "shop"} <= set(found["namespaces"])

    rows = get(operator, run, "pods/", kind="pending_there").json()["results"]
    large = next((each for each in rows if each["pod"]["name"] == "large"), None)
    gone = get(operator, run, "pods/", kind="evicted_here").json()["results"]
    assert all(each["evicted_for"] == "shop/urgent" for each in gone)
    if large is not None:
        assert (large["there"]["node"], large["here"]["column"]) == (None, "bound")
        assert "Insufficient cpu" in large["there"]["message"]
        assert [each["why"] for each in large["causes"]] == ["refused"]
    else:
        assert "large" in {each["pod"]["name"] for each in gone}
    elsewhere = get(operator, run, "pods/", kind="elsewhere").json()["results"]
    assert elsewhere
    assert all(each["causes"] for each in elsewhere)
    assert get(operator, run, namespace="nowhere").json()["differ"] == 0
    assert get(operator, run, "pods/", q="no-such-pod").json()["count"] == 0

    whole = json.loads(get(operator, run, "export/", **{"as": "json"}).content)
    assert len(whole["pods"]) == whole["differ"] == get(operator, run, "pods/").json()["count"]
    table = list(
        csv.DictReader(StringIO(get(operator, run, "export/", **{"as": "csv", "kind": "same"}).content.decode()))
    )
    assert {each["kind"] for each in table} == {"same"}

    assert operator.get(f"/api/v1/runs/{run.pk}/shadow/").status_code == 404, "nothing is judged step by step"
    assert not ShadowJudgement.objects.filter(run=run).exists()
    second.end()
    replay_is_the_same(run)


def test_what_it_takes_and_what_a_fork_of_it_is(
    cluster: ApiServer, operator: Client, packed: ConfigurationVersion, workers: Callable[[Run], Worker]
) -> None:
    run = begun(operator, packed)
    worker = workers(run)
    live(operator, run)
    cluster.add(asking("first", "2"))
    until(stands(run, "first", "bound"))
    url = f"/api/v1/runs/{run.pk}/commands/"

    def answer(**command: Any) -> tuple[int, str]:
        found = operator.post(url, command, content_type="application/json")
        return found.status_code, "" if found.status_code < 400 else found.json()["error"]["code"]

    assert answer(type="pod_delete", namespace="shop", name="first") == (409, "follows")
    assert answer(type="set_configuration", version=str(packed.pk)) == (409, "shadow")
    body = operator.get(f"/api/v1/runs/{run.pk}/").json()
    assert (body["own_world"], body["schedules"], body["follows"]) == (True, False, CONTEXT)
    page = operator.get(f"/api/v1/runs/{run.pk}/pods/shop/first/").json()
    assert page["answer"]["kind"] == "bound"

    worker.end()
    run.refresh_from_db()
    fork = operator.post(f"/api/v1/runs/{run.pk}/forks/", {"changes": []}, content_type="application/json")
    assert fork.status_code == 201, fork.content
    made = Run.objects.get(pk=fork.json()["id"])
    other = workers(made)
    until(lambda: Run.objects.get(pk=made.pk).position > run.position)
    other.end()
    made.refresh_from_db()
    assert (made.follows, made.clock_mode) == ("", "virtual")
    assert column(made, "first") == "bound"
    assert operator.get(f"/api/v1/runs/{made.pk}/shadow/world/").status_code == 404
    replay_is_the_same(made)


def test_a_person_is_asked_in_our_world_only(
    cluster: ApiServer, operator: Client, workers: Callable[[Run], Worker]
) -> None:
    text = PACKED.replace(
        "  pluginConfig:\n",
        "  pluginConfig:\n"
        "  - name: ManualApproval\n"
        "    args: {podSelector: {matchLabels: {ask: person}}, timeoutSeconds: 800}\n",
    ).replace("    multiPoint:\n", "    permit: {enabled: [{name: ManualApproval}]}\n    multiPoint:\n")
    known = Configuration.objects.create(name="asking", slug="asking")
    version = ConfigurationVersion.objects.create(configuration=known, number=1, text=text)
    run = begun(operator, version)
    worker = workers(run)
    live(operator, run)
    cluster.add({**asking("asks", "1"), "metadata": {"name": "asks", "namespace": "shop", "labels": {"ask": "person"}}})
    until(stands(run, "asks", "waiting"))
    bind(cluster, "asks", "n2")
    until(there(run, "asks"))
    assert column(run, "asks") == "waiting"
    uid = run.pod_records.get(name="asks").uid
    command = {"type": "decide", "decision": "approve", "pods": [{"uid": uid, "namespace": "shop", "name": "asks"}]}
    taken = operator.post(f"/api/v1/runs/{run.pk}/commands/", command, content_type="application/json")
    assert taken.status_code == 202, taken.content
    until(stands(run, "asks", "bound"))
    worker.end()
    replay_is_the_same(run)


def test_from_the_command_line(
    cluster: ApiServer,
    olga: User,
    packed: ConfigurationVersion,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    workers: Callable[[Run], Worker],
) -> None:
    """What differs for two looks is said, and the figures of both when the run ends."""
    playing: list[Worker] = []
    looks = iter(range(1000))

    def goes_on(self: OwnWorldWatched) -> bool:
        if not playing:
            playing.append(workers(self.run))
            until(stands(self.run, "web-0", "bound"))
            half_full(cluster, self.run)
            for each in ("web-0", "web-10", "web-20"):
                bind(cluster, each, self.run.pod_records.get(name=each).node)
                until(there(self.run, each))
        return next(looks) < 4

    monkeypatch.setattr(OwnWorldWatched, "goes_on", goes_on)
    monkeypatch.setattr(cluster_command, "LOOK_SECONDS", 0.01)
    call_command("cluster", "shadow", CONTEXT, "--user", "olga", "--configuration", "bin-packing", "--on-its-own")
    run = Run.objects.get()
    assert run.own_world
    playing[0].end()
    said = capsys.readouterr().out.splitlines()
    assert said[0].endswith(f"/runs/{run.pk}/shadow")
    moved = [line for line in said if line.startswith("shop/half-")]
    assert moved
    assert len(moved) == len(set(moved)), "each once"
    assert all(" there, " in line and "NodeResourcesFit" in line for line in moved)
    assert any(line.startswith("6 pods came since ") and f"; {len(moved)} differ" in line for line in said)
    assert "cpu 50.0% there, 50.0% here" in said
