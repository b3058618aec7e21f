"""Extenders about a real cluster: a run that schedules it asks them, a shadow on its own as well; none binds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from schedweb.configurations.models import Configuration, ConfigurationVersion
from schedweb.runs.models import JournalEntry, Run
from tests.apiserver import ApiServer
from tests.apiserver.manifests import pod
from tests.schedweb.clusters.conftest import CONTEXT, Worker, until
from tests.schedweb.clusters.followed import bind, followed, live, replay_is_the_same, stands
from tests.schedweb.clusters.scheduled import URL, Begin, asks, at_rest, begun, bindings, decide, state
from tests.schedweb.clusters.scheduling.conftest import OURS, condition, node_of, ours
from tests.schedweb.engine.worlds import DEFAULT
from tests.schedweb.worker.webhook import Webhook, webhook

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_watching")]
BEGIN = f"/api/v1/clusters/{CONTEXT}/follow/"


@pytest.fixture
def hook(settings: Settings) -> Iterator[Webhook]:
    with webhook() as made:
        settings.EXTENDER_URLS = (made.url,)
        yield made


def with_extender(text: str, hook: Webhook, **fields: Any) -> str:
    """The id of a version of its own."""
    extender = {"urlPrefix": hook.url, "filterVerb": "filter", "nodeCacheCapable": True, "httpTimeout": "2s", **fields}
    known = Configuration.objects.create(name="asks", slug="asks")
    text = f"{text}extenders: {json.dumps([extender])}\n"
    return str(ConfigurationVersion.objects.create(configuration=known, number=1, text=text).pk)


def text_of(version: str) -> str:
    return ConfigurationVersion.objects.get(pk=version).text


def only(node: str) -> Callable[[dict[str, Any]], tuple[int, bytes]]:
    def reply(body: dict[str, Any]) -> tuple[int, bytes]:
        out = {name: "no license" for name in body["NodeNames"] if name != node}
        return 200, json.dumps({"NodeNames": [node], "FailedNodes": out}).encode()

    return reply


def test_a_run_that_schedules_asks_and_binds_where_the_extender_leaves_it(
    server: ApiServer, operator: Client, version: str, workers: Begin, hook: Webhook
) -> None:
    hook.replies["/filter"] = only("n2")
    server.add(ours("plain"), asks("good"))
    run = begun(operator, with_extender(text_of(version), hook))
    first = workers(run)
    until(lambda: node_of(server, "plain"))
    until(stands(run, "good", "waiting"))
    decide(operator, run, "approve", "good")
    until(lambda: node_of(server, "good"))
    assert (node_of(server, "plain"), node_of(server, "good")) == ("n2", "n2")
    asked = hook.pods("/filter")
    assert sorted(set(asked)) == ["good", "plain"]

    # One that is down is an error of the attempt, and the pod is tried again.
    del hook.replies["/filter"]
    server.add(ours("down"))
    until(lambda: condition(server, "down").get("reason") == "SchedulerError")
    assert f"{hook.url}/filter" in condition(server, "down")["message"]
    hook.replies["/filter"] = only("n1")
    until(lambda: node_of(server, "down") == "n1")

    # Another worker goes on without calling for what was answered.
    at_rest(run)
    calls = len(hook.calls)
    first.lose_the_lease()
    workers(run)
    server.add(ours("after"))
    until(lambda: node_of(server, "after") == "n1")
    assert hook.pods("/filter")[calls:] == ["after"]
    assert sorted(bindings(server)) == ["after", "down", "good", "plain"]
    at_rest(run)
    replay_is_the_same(run)
    assert JournalEntry.objects.filter(run=run, type="extender_answers").count() == len(hook.calls)


def test_stop_while_an_extender_thinks_writes_nothing(
    server: ApiServer, operator: Client, version: str, workers: Begin, hook: Webhook
) -> None:
    hook.late("/filter")
    run = begun(operator, with_extender(text_of(version), hook, httpTimeout="60s"))
    worker = workers(run)
    until(lambda: state(operator, run)["state"] == "scheduling")
    server.add(ours("thought-about"))
    until(lambda: hook.calls)
    server.add(ours("came-meanwhile"))
    until(stands(run, "came-meanwhile", "active"))  # the cluster is taken in while the extender thinks
    answer = operator.post(f"/api/v1/runs/{run.pk}/commands/", {"type": "stop"}, content_type="application/json")
    assert answer.status_code == 202, answer.content
    until(lambda: Run.objects.get(pk=run.pk).state == "stopped")
    hook.release.set()
    worker.join()
    assert bindings(server) == []


def test_an_extender_that_binds_schedules_no_real_cluster(
    server: ApiServer, operator: Client, version: str, hook: Webhook
) -> None:
    binding = with_extender(text_of(version), hook, bindVerb="bind")
    asked = {"typed": CONTEXT, "configuration_version": binding, "scheduler_names": [OURS]}
    answer = operator.post(URL, asked, content_type="application/json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "extenders")
    assert hook.url in answer.json()["error"]["message"]
    assert "bindVerb" in answer.json()["error"]["message"]
    for way in ("on_its_own", "step_by_step"):
        Configuration.objects.filter(slug="asks").delete()
        wanted = {"configuration_version": with_extender(DEFAULT, hook, bindVerb="bind"), "shadow": True, "way": way}
        answer = operator.post(BEGIN, wanted, content_type="application/json")
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "extenders"), way
    assert not hook.calls


def test_a_shadow_on_its_own_asks(
    cluster: ApiServer, operator: Client, workers: Callable[[Run], Worker], hook: Webhook
) -> None:
    hook.replies["/filter"] = only("n1")
    version = with_extender(DEFAULT, hook)
    run = followed(operator, configuration_version=version, shadow=True, way="on_its_own")
    worker = workers(run)
    live(operator, run)
    until(stands(run, "web-0", "bound"))
    until(stands(run, "web-20", "bound"))
    assert set(hook.pods("/filter")) == {"web-0", "web-10", "web-20"}
    worker.end()
    replay_is_the_same(run)


def prefers(node: str) -> Callable[[dict[str, Any]], tuple[int, bytes]]:
    return lambda body: (200, json.dumps([{"Host": node, "Score": 10}]).encode())


def test_a_shadow_step_by_step_asks_on_the_state_before_the_real_decision(
    cluster: ApiServer, operator: Client, workers: Callable[[Run], Worker], hook: Webhook
) -> None:
    hook.replies["/filter"] = only("n1")
    run = followed(operator, configuration_version=with_extender(DEFAULT, hook), shadow=True)
    first = workers(run)
    live(operator, run)
    agrees = judged_as(cluster, operator, run, "agrees", "n1")
    assert agrees["kind"] == "same"
    refused = judged_as(cluster, operator, run, "refused", "n2")
    assert (refused["kind"], refused["own_node"], refused["plugin"]) == ("other_node", "n1", hook.url)
    assert refused["reasons"] == ["no license"]
    [asked] = refused["extenders"]
    assert (asked["extender"], asked["verb"], asked["kept"], asked["error"]) == (hook.url, "filter", 1, "")
    assert asked["sent"] > 1
    assert set(asked) == {"extender", "verb", "sent", "kept", "error", "microseconds"}, "bodies are read one by one"

    # What was sent and replied, as of an attempt; bodies of what does not agree.
    told = extenders_of(operator, run, refused)
    [call] = told["calls"]
    assert (call["extender"], call["status"], call["kept"], call["error"]) == (hook.url, 200, 1, "")
    assert json.loads(call["request"]["text"])["Pod"]["metadata"]["name"] == "refused"
    assert call["request"]["bytes"] == len(call["request"]["text"])
    assert json.loads(call["reply"]["text"])["NodeNames"] == ["n1"]
    assert told["waited_us"] == call["us"] == asked["microseconds"] > 0
    [call] = extenders_of(operator, run, agrees)["calls"]
    assert (call["status"], call["kept"], call["request"], call["reply"]) == (200, 1, None, None)
    assert operator.get(f"/api/v1/runs/{run.pk}/shadow/decisions/1/extenders/").status_code == 404

    # What is no answer is no difference of the configuration's.
    hook.replies["/filter"] = lambda body: (200, b"[]")
    assert "cannot unmarshal" in judged_as(cluster, operator, run, "lied-to", "n2")["why_not"]
    del hook.replies["/filter"]
    down = judged_as(cluster, operator, run, "down", "n2")
    assert (down["kind"], f"{hook.url}/filter" in down["why_not"]) == ("not_judged", True)
    [call] = extenders_of(operator, run, down)["calls"]
    assert (call["kept"], call["error"] != "", call["request"] is None) == (None, True, False)

    # Who plays it next asks about what comes, and replay asks nobody.
    hook.replies["/filter"] = only("n1")
    calls = len(hook.calls)
    first.lose_the_lease()
    workers(run)
    live(operator, run)
    assert judged_as(cluster, operator, run, "after", "n1")["kind"] == "same"
    assert hook.pods("/filter")[calls:] == ["after"]
    at_rest(run)
    replay_is_the_same(run)
    assert len(hook.calls) == calls + 1
    assert not JournalEntry.objects.filter(run=run, type="extender_answers").exists()


def test_a_shadow_step_by_step_hears_whom_an_extender_prefers_and_does_not_wait_for_a_silent_one(
    cluster: ApiServer, operator: Client, workers: Callable[[Run], Worker], hook: Webhook
) -> None:
    hook.replies["/prioritize"] = prefers("n2")
    fields = {"filterVerb": "", "prioritizeVerb": "prioritize", "weight": 10, "httpTimeout": "3600s"}
    run = followed(operator, configuration_version=with_extender(DEFAULT, hook, **fields), shadow=True)
    workers(run)
    live(operator, run)
    assert judged_as(cluster, operator, run, "preferred", "n2")["kind"] == "same"
    other = judged_as(cluster, operator, run, "other", "n1")
    assert (other["own_node"], other["plugin"]) == ("n2", hook.url)
    assert {"plugin": hook.url, "own": 1000, "real": 0} in other["points"]

    hook.late("/prioritize")  # it says nothing for 60 s, and may take an hour
    silent = judged_as(cluster, operator, run, "silent", "n1")
    assert "deadline exceeded" in silent["extenders"][0]["error"]
    assert silent["kind"] in ("tie", "same", "other_node"), "without its points, as kube-scheduler decides then"
    assert not hook.release.is_set()


def extenders_of(operator: Client, run: Run, decision: dict[str, Any]) -> dict[str, Any]:
    url = f"/api/v1/runs/{run.pk}/shadow/decisions/{decision['number']}/extenders/"
    found: dict[str, Any] = operator.get(url).json()
    return found


def judged_as(cluster: ApiServer, operator: Client, run: Run, name: str, on: str) -> dict[str, Any]:
    """What is told of a pod that the real scheduler puts there."""
    cluster.add(pod(name, "shop"))
    until(stands(run, name, "active"))
    bind(cluster, name, on)
    url = f"/api/v1/runs/{run.pk}/shadow/decisions/"
    until(lambda: operator.get(url, {"kind": "all", "q": f"shop/{name}"}).json()["count"])
    [row] = operator.get(url, {"kind": "all", "q": f"shop/{name}"}).json()["results"]
    found: dict[str, Any] = row
    return found
