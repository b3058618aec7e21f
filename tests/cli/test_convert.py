"""``convert``: v1 on standard output, sentences on standard error, and an exit status for scripts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from framework.cli.main import main

OLD = "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n"
NEW = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def written(folder: Path, text: str) -> str:
    path = folder / "old.yaml"
    path.write_text(text)
    return str(path)


def test_text_and_sentences_go_separate_ways(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", written(tmp_path, OLD)]) == 0
    said = capsys.readouterr()
    assert said.out == NEW
    assert said.err.startswith("changed:\n  line 1: kubescheduler.config.k8s.io/v1beta3 is written as ")


def test_what_is_dropped_makes_the_status_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", written(tmp_path, OLD + "metricsBindAddress: 0.0.0.0\n"), "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["text"] == NEW
    assert answer["status"] == 1
    assert answer["findings"][-1] == {
        "outcome": "dropped",
        "what": "metricsBindAddress",
        "path": "metricsBindAddress",
        "line": 3,
        "sentence": "metricsBindAddress: health and metrics are served on the secure port alone, which is a flag.",
    }
    assert answer["errors"] == []


def test_flags_alone_and_beside_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "--flags=--leader-elect=false"]) == 0
    assert capsys.readouterr().out == NEW + "leaderElection:\n  leaderElect: false\n"
    assert main(["convert", written(tmp_path, OLD), "--flags=--leader-elect=false"]) == 0
    assert capsys.readouterr().out == NEW + "leaderElection:\n  leaderElect: false\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (OLD + "parallelism: 0\n", "refused: parallelism: "),
        ("kind: Pod\napiVersion: v1\n", "1:1: Pod (v1) is no configuration of kube-scheduler"),
    ],
)
def test_what_cannot_be_used_makes_the_status_2(
    text: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["convert", written(tmp_path, text)]) == 2
    assert says in capsys.readouterr().err


def test_without_anything_to_convert(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert"]) == 2
    assert capsys.readouterr().err == "name a file to convert, or give --flags\n"


def test_simulate_leads_to_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nodes = tmp_path / "nodes.yaml"
    nodes.write_text("apiVersion: v1\nkind: Node\nmetadata: {name: a}\n")
    path = written(tmp_path, OLD)
    assert main(["simulate", "-f", str(nodes), "--config", path]) == 2
    assert f"`python -m framework convert {path}` writes it as v1" in capsys.readouterr().err
