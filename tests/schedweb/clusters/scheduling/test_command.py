"""``manage.py cluster schedule``: who may start it, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.apiserver import ApiServer
from tests.apiserver.manifests import node
from tests.schedweb.clusters.conftest import until
from tests.schedweb.clusters.scheduling.conftest import (
    CONTEXT,
    OURS,
    ROOT,
    condition,
    node_of,
    ours,
    reasons,
)
from tests.schedweb.worker.webhook import Webhook, webhook


@pytest.fixture
def hook() -> Iterator[Webhook]:
    with webhook() as made:
        yield made


def only(node_name: str) -> Callable[[dict[str, Any]], tuple[int, bytes]]:
    return lambda body: (200, json.dumps({"NodeNames": [node_name], "FailedNodes": {}}).encode())


def start_command(
    tmp_path: Path, *options: str, may: str = CONTEXT, extender: dict[str, Any] | None = None
) -> subprocess.Popen[str]:
    config = tmp_path / "scheduler.yaml"
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        f"profiles: [{{schedulerName: {OURS}}}]\n"
        + ("" if extender is None else f"extenders: [{json.dumps(extender)}]\n")
    )
    command = [sys.executable, "manage.py", "cluster", "schedule", CONTEXT, "--configuration", str(config)]
    environment = {**os.environ, "PLAYGROUND_DATA": str(tmp_path / "data"), "PLAYGROUND_MAY_SCHEDULE": may}
    return subprocess.Popen(
        [*command, "--scheduler-name", OURS, *options],
        cwd=ROOT,
        env={key: value for key, value in environment.items() if key != "DJANGO_SETTINGS_MODULE"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_hear_ctrl_c,
    )


def _hear_ctrl_c() -> None:
    """What a shell begins in its background does not, and neither does what that begins."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize(
    ("named", "may", "said"),
    [(CONTEXT, "", "may not schedule in prod"), ("prd", CONTEXT, "not prod"), (CONTEXT, "other", "may not schedule")],
)
def test_nobody_schedules_by_accident(server: ApiServer, tmp_path: Path, named: str, may: str, said: str) -> None:
    process = start_command(tmp_path, "--i-mean", named, may=may)
    _, complaint = process.communicate(timeout=120)
    assert process.returncode == 2
    assert said in complaint
    assert not list(server.requests)


def test_ctrl_c_while_an_api_server_is_silent_about_rights(server: ApiServer, tmp_path: Path) -> None:
    """It ends when the questions that are on their way have been given up."""
    process = start_command(tmp_path, "--i-mean", CONTEXT)
    try:
        until(lambda: server.requests.select(resource="selfsubjectaccessreviews"))
        server.pause()
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=60)
    finally:
        process.kill()
        server.resume()
    assert (process.returncode, complaint) == (130, "CommandError: Interrupted.\n")
    assert not server.requests.writes()


def test_the_command_schedules_until_it_is_told_to_stop(server: ApiServer, tmp_path: Path) -> None:
    server.add(node("n1"), ours("p1"))
    record = tmp_path / "record.jsonl"
    process = start_command(tmp_path, "--i-mean", CONTEXT, "--record", str(record))
    assert process.stdout is not None
    try:
        # It takes as long as it takes until Django and the kubernetes client are imported.
        assert "schedules for ours" in process.stdout.readline()
        until(lambda: "Scheduled" in reasons(server, "p1"))
    finally:
        process.send_signal(signal.SIGTERM)
        said, complaint = process.communicate(timeout=120)
    assert process.returncode == 0, complaint
    assert "default/p1 bound to n1" in said
    assert "may overfill" in complaint
    steps = [json.loads(line) for line in record.read_text().splitlines()]
    [binding] = [each for each in steps if each.get("write", {}).get("purpose") == "bind"]
    [outcome] = [each["outcome"] for each in steps if "outcome" in each and each["number"] == binding["number"]]
    assert (outcome["result"], outcome["node_name"]) == ("done", "n1")
    assert server.get("Lease", "scheduling-playground", "kube-system")["spec"]["holderIdentity"] == ""


def test_the_command_says_that_it_may_not_take_the_lease(server: ApiServer, tmp_path: Path) -> None:
    with server.faults.forbid(resource="leases"):
        process = start_command(tmp_path, "--i-mean", CONTEXT)
        assert process.stderr is not None
        try:
            assert "may overfill" in process.stderr.readline()
            assert "The Lease cannot be taken" in process.stderr.readline()
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=120)
    assert process.returncode == 0


def test_the_command_asks_extenders_and_says_what_they_could_not_answer(
    server: ApiServer, tmp_path: Path, hook: Webhook
) -> None:
    with_secret = ours("p1")
    with_secret["spec"]["volumes"] = [{"name": "v", "azureFile": {"secretName": "hunter2", "shareName": "s"}}]
    server.add(node("n1"), node("n2"), with_secret)
    hook.replies["/filter"] = only("n2")
    record = tmp_path / "record.jsonl"
    extender = {"urlPrefix": hook.url, "filterVerb": "filter", "nodeCacheCapable": True, "httpTimeout": "2s"}
    process = start_command(tmp_path, "--i-mean", CONTEXT, "--record", str(record), extender=extender)
    try:
        until(lambda: node_of(server, "p1") == "n2")
        hook.replies["/filter"] = lambda body: (200, b"{")
        server.add(ours("lied-to"))
        until(lambda: condition(server, "lied-to").get("reason") == "SchedulerError")
        hook.replies["/filter"] = only("n1")
        until(lambda: node_of(server, "lied-to") == "n1")
        del hook.replies["/filter"]
        server.add(ours("down"))
        until(lambda: f"{hook.url}/filter" in condition(server, "down").get("message", ""))
        hook.late("/filter")
        calls = len(hook.calls)
        until(lambda: len(hook.calls) > calls)
        until(lambda: "deadline exceeded" in condition(server, "down").get("message", ""))
    finally:
        process.send_signal(signal.SIGTERM)
        said, complaint = process.communicate(timeout=120)
    assert process.returncode == 0, complaint
    assert f"default/down filter: {hook.url}: Post" in said
    asked = [each["asked"] for each in map(json.loads, record.read_text().splitlines()) if "asked" in each]
    assert len(asked) == len(hook.calls)
    [sent] = hook.calls[0][1]["Pod"]["spec"]["volumes"]
    assert sent == {"name": "v", "azureFile": {"shareName": "s"}}
    first = asked[0]
    assert (first["extender"], first["verb"], first["pod"], first["status"]) == (hook.url, "filter", "default/p1", 200)
    assert json.loads(first["answer"])["NodeNames"] == ["n2"]


def test_an_extender_that_is_silent_holds_nobody_who_stops(server: ApiServer, tmp_path: Path, hook: Webhook) -> None:
    server.add(node("n1"), ours("thought-about"))
    hook.late("/filter")
    extender = {"urlPrefix": hook.url, "filterVerb": "filter", "httpTimeout": "3600s"}
    process = start_command(tmp_path, "--i-mean", CONTEXT, extender=extender)
    try:
        until(lambda: hook.calls)
    finally:
        process.send_signal(signal.SIGTERM)
        _, complaint = process.communicate(timeout=45)  # the webhook says nothing for 60 s
    assert process.returncode == 0, complaint
    assert node_of(server, "thought-about") == ""
    assert server.get("Lease", "scheduling-playground", "kube-system")["spec"]["holderIdentity"] == ""


@pytest.mark.parametrize(
    ("extender", "said"),
    [
        ({"urlPrefix": "http://10.0.0.1:80", "filterVerb": "filter"}, "may not call http://10.0.0.1:80"),
        ({"urlPrefix": "http://127.0.0.1:1", "bindVerb": "bind"}, "Extenders that bind pods themselves"),
    ],
)
def test_an_extender_that_may_not_be_asked_ends_it_before_it_begins(
    server: ApiServer, tmp_path: Path, extender: dict[str, Any], said: str
) -> None:
    process = start_command(tmp_path, "--i-mean", CONTEXT, extender=extender)
    _, complaint = process.communicate(timeout=120)
    assert process.returncode == 2
    assert said in complaint
    assert not server.requests.writes()
