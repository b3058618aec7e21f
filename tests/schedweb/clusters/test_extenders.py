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
from tests.schedweb.clusters.conftest import CONTEXT, Worker, until
from tests.schedweb.clusters.followed import followed, live, replay_is_the_same, stands
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
    for way, fields in (("on_its_own", {"bindVerb": "bind"}), ("step_by_step", {})):
        Configuration.objects.filter(slug="asks").delete()
        wanted = {"configuration_version": with_extender(DEFAULT, hook, **fields), "shadow": True, "way": way}
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
