"""``manage.py cluster schedule``: who may start it, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.apiserver import ApiServer
from tests.apiserver.manifests import node
from tests.schedweb.clusters.conftest import until
from tests.schedweb.clusters.scheduling.conftest import (
    CONTEXT,
    OURS,
    ROOT,
    ours,
    reasons,
)


def start_command(tmp_path: Path, *options: str, may: str = CONTEXT) -> subprocess.Popen[str]:
    config = tmp_path / "scheduler.yaml"
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        f"profiles: [{{schedulerName: {OURS}}}]\n"
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
    )


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
