"""``--feature-gates`` on the command line, and what a configuration file's comment says without it."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from framework.cli import simulate
from framework.cli.clusters import ClusterRequest
from framework.cli.main import main
from framework.configuration import parse_feature_gates

POD = """\
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: c, image: app}]}
"""
FILE = """\
# kube-scheduler --feature-gates=SchedulerQueueingHints=false
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
"""


@pytest.mark.parametrize("command", ["simulate", "decide"])
def test_a_flag_that_cannot_be_set_ends_with_a_sentence(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pod.yaml").write_text(POD)
    given = ["-f", str(tmp_path / "pod.yaml")] if command == "simulate" else [str(tmp_path / "pod.yaml")]
    assert main([command, *given, "--feature-gates", "Nope=true"]) == 2
    assert capsys.readouterr().err == "--feature-gates: unrecognized feature gate: Nope\n"


def test_the_files_comment_counts_unless_the_flag_is_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pod, config = tmp_path / "pod.yaml", tmp_path / "config.yaml"
    pod.write_text(POD)
    config.write_text(FILE)
    given = ["simulate", "-f", str(pod), "--config", str(config)]
    assert main(given) == 2
    assert "cannot set feature gate SchedulerQueueingHints to false" in capsys.readouterr().err
    assert main([*given, "--feature-gates", "SchedulerPopFromBackoffQ=false"]) == 0


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("GenericWorkload=true,GangScheduling=true", 'waiting for pods\'s pod group "g" to appear in scheduling queue'),
        ("GenericWorkload=true", ""),
    ],
)
def test_the_gates_reach_the_scheduler(flag: str, message: str, tmp_path: Path) -> None:
    pod = tmp_path / "pod.yaml"
    pod.write_text(POD.replace("spec: {", "spec: {schedulingGroup: {podGroupName: g}, "))
    output = io.StringIO()
    asked = simulate.Request(ClusterRequest([str(pod)], feature_gates=parse_feature_gates(flag)))
    assert simulate.run(asked, output) == (1 if message else 0)
    assert message in " ".join(output.getvalue().split())
