"""The shadow of a followed cluster: judged by a real engine, stored once, and read through the API and the command."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from schedweb.configurations.models import Configuration, ConfigurationVersion
from schedweb.engine.real_rows import JudgementRow
from schedweb.runs.management.commands import cluster as cluster_command
from schedweb.runs.models import Followed, Run, ShadowJudgement
from schedweb.runs.shadowing.watched import Watched
from schedweb.runs.storing import judgements
from schedweb.runs.storing.upserts import identifier
from schedweb.runs.wire.messages import Message, ShadowJudged
from schedweb.runs.wire.publisher import run_group
from tests.apiserver import ApiServer
from tests.apiserver.manifests import pod
from tests.schedweb.clusters.conftest import CONTEXT, Worker, until
from tests.schedweb.clusters.followed import bind, followed, live, replay_is_the_same, stands, unschedulable
from tests.schedweb.engine.test_judged import PACKED

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_watching")]


@pytest.fixture
def packed(transactional_db: None) -> ConfigurationVersion:
    known = Configuration.objects.create(name="bin packing", slug="bin-packing")
    return ConfigurationVersion.objects.create(configuration=known, number=1, text=PACKED)


def large(name: str, cpu: str, namespace: str = "shop") -> dict[str, Any]:
    containers = [{"name": "main", "image": "web:1", "resources": {"requests": {"cpu": cpu}}}]
    return pod(name, namespace, spec={"containers": containers})


def kinds(run: Run) -> list[tuple[str, str]]:
    return list(ShadowJudgement.objects.filter(run=run).order_by("number").values_list("name", "kind"))


def judged(run: Run, name: str) -> Callable[[], bool]:
    return lambda: ShadowJudgement.objects.filter(run=run, name=name).exists()


def get(client: Client, run: Run, path: str = "", **query: Any) -> Any:
    answer = client.get(f"/api/v1/runs/{run.pk}/shadow/{path}", query)
    assert answer.status_code == 200, answer.content
    return answer


def test_differences_are_stored_once_whoever_plays(
    cluster: ApiServer, operator: Client, packed: ConfigurationVersion, workers: Callable[[Run], Worker]
) -> None:
    run = followed(operator, configuration_version=str(packed.pk), shadow=True)
    first = workers(run)
    live(operator, run)
    cluster.add(large("full", "2"))
    until(stands(run, "full", "active"))
    bind(cluster, "full", "n1")
    until(judged(run, "full"))
    cluster.add(large("next", "1", "ml"))
    until(stands(run, "next", "active"))
    cluster.change("pods", "next", "ml", by=lambda it: it["spec"].update(nodeName="n2"))
    until(judged(run, "next"))
    assert ShadowJudgement.objects.get(name="next").own_node == "n1", "the fuller node is better here"
    before = kinds(run)
    cluster.add(large("while-dying", "1"))
    until(stands(run, "while-dying", "active"))
    first.supervisor.child.child.kill()
    bind(cluster, "while-dying", "n0")
    until(judged(run, "while-dying"))
    first.lose_the_lease()
    second = workers(run)
    cluster.add({**unschedulable("no-room"), "status": {"phase": "Pending"}})
    until(stands(run, "no-room", "active"))
    cluster.change("pods", "no-room", "shop", by=lambda it: it.update(status=unschedulable("x")["status"]))
    until(judged(run, "no-room"))
    second.end()
    assert kinds(run)[: len(before)] == before
    assert len({each for each, _ in kinds(run)}) == len(kinds(run)), "none twice"
    assert dict(kinds(run))["no-room"] == "pending"
    row = Followed.objects.get(run=run)
    assert (row.judgements_stored, row.judgements_dropped) == (len(kinds(run)), 0)
    replay_is_the_same(run)
    assert len(kinds(run)) == row.judgements_stored

    found = get(operator, run).json()
    assert found["decisions"] == found["same"] + found["tie"] + found["different"] > 0
    assert found["other_node"] == found["different"] >= 1
    assert found["plugins"][0]["plugin"] == "NodeResourcesFit"
    assert sum(each["same"] + each["tie"] + each["different"] for each in found["buckets"]) == found["decisions"]
    assert {"ml", "shop"} <= set(found["namespaces"])
    assert found["profiles"] == ["default-scheduler"]
    assert (found["is_below"], found["alert_below"]) == (True, 90)
    of_ml = get(operator, run, namespace="ml").json()
    assert (of_ml["decisions"], of_ml["different"]) == (1, 1)
    rows = get(operator, run, "decisions/", namespace="ml").json()
    assert [(each["name"], each["real_node"], each["own_node"]) for each in rows["results"]] == [("next", "n2", "n1")]
    assert get(operator, run, "decisions/", q="ml/nex", plugin="NodeResourcesFit").json()["count"] == 1
    assert get(operator, run, "decisions/", workload="nobody's").json()["count"] == 0
    assert get(operator, run, "decisions/", kind="all").json()["count"] == len(kinds(run))

    ShadowJudgement.objects.filter(name="next").update(own_node="=cmd()")
    table = list(
        csv.DictReader(StringIO(get(operator, run, "export/", **{"as": "csv", "kind": "all"}).content.decode()))
    )
    assert len(table) == len(kinds(run))
    assert {each["name"]: each["own_node"] for each in table}["next"] == "'=cmd()"
    whole = json.loads(get(operator, run, "export/", **{"as": "json", "kind": "all"}).content)
    assert (len(whole["decisions_made"]), whole["decisions"]) == (len(kinds(run)), found["decisions"])

    url = f"/api/v1/runs/{run.pk}/shadow/"
    assert operator.put(url, {"alert_below": None}, content_type="application/json").json()["is_below"] is False
    assert operator.put(url, {"alert_below": 0}, content_type="application/json").status_code == 400
    switch = {"type": "set_configuration", "version": str(packed.pk)}
    answer = operator.post(f"/api/v1/runs/{run.pk}/commands/", switch, content_type="application/json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "shadow")


def test_what_was_created_and_bound_while_nobody_watched_is_counted(
    cluster: ApiServer, operator: Client, workers: Callable[[Run], Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[str, Message]] = []
    monkeypatch.setattr(
        "schedweb.runs.live.telling.PUBLISHER.publish", lambda group, message: told.append((group, message))
    )
    run = followed(operator, shadow=True)
    first = workers(run)
    live(operator, run)
    first.lose_the_lease()
    for number in range(2):
        cluster.add(pod(f"meanwhile-{number}", "shop", on="n1"))
    second = workers(run)
    until(stands(run, "meanwhile-1", "bound"))
    assert dict(kinds(run)) == {"meanwhile-0": "not_judged", "meanwhile-1": "not_judged"}, "and none of the others"
    # A later list of the same reader: the watch was too old.
    cluster.pause()
    cluster.cut_watches()
    cluster.add(pod("relisted", "shop", on="n1"))
    cluster.forget_history()
    cluster.resume()
    until(judged(run, "relisted"))
    second.end()
    assert len(kinds(run)) == 3
    judged_of = [(group, each.count) for group, each in told if isinstance(each, ShadowJudged)]
    assert {group for group, _ in judged_of} == {run_group(run.pk)}, "who follows the run hears of it"
    assert sum(count for _, count in judged_of) == 3
    replay_is_the_same(run)
    found = get(operator, run).json()
    assert (found["not_judged"], found["decisions"]) == (3, 0)
    rows = get(operator, run, "decisions/", kind="not_judged").json()["results"]
    assert next((each["name"], each["real_node"], each["own_node"]) for each in rows) == ("relisted", "n1", "")
    assert all("while nobody watched" in each["why_not"] for each in rows)


def row_of(number: int, kind: str = "same", **more: Any) -> JudgementRow:
    about = {"at": number * 10**9, "uid": f"u{number}", "namespace": "shop", "name": f"pod-{number}", "workload": "web"}
    decided = {"bound": True, "real_node": "n2", "own_node": "n1", "plugin": "", "margin": 0, "detail": "{}"}
    return JudgementRow(**{"number": number, "profile": "default-scheduler", "kind": kind, **about, **decided, **more})


def test_the_newest_are_kept_and_what_made_room_is_counted(
    cluster: ApiServer, operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judgements, "MOST", 3)
    monkeypatch.setattr(judgements, "SOME", 1)
    run = followed(operator, shadow=True)
    key = identifier(Run, run.pk)
    for number in range(6):
        judgements.store_judgements(key, [row_of(number)])
    assert [name for name, _ in kinds(run)] == ["pod-2", "pod-3", "pod-4", "pod-5"], "one more than three, at most"
    assert get(operator, run).json()["left_out"] == 2
    Followed.objects.filter(run=run).update(shadow=False)
    assert operator.get(f"/api/v1/runs/{run.pk}/shadow/").status_code == 404
    assert operator.get(f"/api/v1/runs/{run.pk}/follow/").json()["shadow"] is False


def test_from_the_command_line(
    cluster: ApiServer,
    olga: User,
    packed: ConfigurationVersion,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What a worker stores while the command watches is said, and figures when the run ends."""
    waiting = [
        [row_of(1), row_of(2, "tie")],
        [row_of(3, "other_node", plugin="NodeResourcesFit", margin=75)],
        [row_of(4, "stays_pending", own_node="", detail='{"reasons": ["Insufficient cpu"]}', plugin="NodeAffinity")],
    ]

    def goes_on(self: Watched) -> bool:
        if not waiting:
            return False
        judgements.store_judgements(identifier(Run, self.run.pk), waiting.pop(0))
        return True

    monkeypatch.setattr(Watched, "goes_on", goes_on)
    monkeypatch.setattr(cluster_command, "LOOK_SECONDS", 0.01)
    call_command("cluster", "shadow", CONTEXT, "--user", "olga", "--configuration", "bin-packing")
    run = Run.objects.get()
    assert (run.configuration_version, run.follows) == (packed, CONTEXT)
    said = capsys.readouterr().out.splitlines()
    assert said[0].endswith(f"/runs/{run.pk}/shadow")
    assert said[1:] == [
        "1970-01-01T00:00:03.000Z shop/pod-3: n2 there, n1 here (NodeResourcesFit +75)",
        "1970-01-01T00:00:04.000Z shop/pod-4: n2 there, pending here (NodeAffinity): Insufficient cpu",
        "agreement 50.0 %: 4 bindings, 1 on the same node, 1 on one of several best nodes, 2 different",
        "  1 by NodeAffinity",
        "  1 by NodeResourcesFit",
        "would stay pending 1, would preempt 0, pending there and placed here 0",
    ]
    with pytest.raises(CommandError, match="There is no configuration named nothing"):
        call_command("cluster", "shadow", CONTEXT, "--user", "olga", "--configuration", "nothing")
