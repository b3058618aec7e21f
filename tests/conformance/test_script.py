"""The framework itself against kube-scheduler v1.36.2: scripted plugins through every extension point.

Their form: tests/conformance/SCRIPT.md.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from framework.profiles import ReuseRule
from tests.conformance.compressed import read_lines
from tests.conformance.script import play
from tests.options import by_default

DATA = Path(__file__).parent / "data"
FILES = ("script.{}.jsonl.gz", "script_extra.{}.jsonl")
"""The second: what random cases found, made small; decided by kube-scheduler's code, too."""


def by_name(what: str) -> dict[str, Any]:
    lines = (line for file in FILES for line in read_lines(DATA / file.format(what)))
    return {entry["name"]: entry for entry in map(msgspec.json.decode, lines)}


CASES = by_name("cases")
EXPECTED = by_name("expected")


def test_all_cases_have_a_result_to_be_compared_with() -> None:
    assert len(CASES) == 328
    assert list(CASES) == list(EXPECTED)


@pytest.mark.parametrize("reuse", ["used", "off"])
@pytest.mark.parametrize("name", list(CASES))
def test_scripted_case_is_decided_as_kube_scheduler_does(
    name: str, reuse: ReuseRule, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_default(monkeypatch, reuse=reuse)
    got = json.loads(msgspec.json.encode(play(CASES[name])))
    want = EXPECTED[name]
    assert got.get("configError") == want.get("configError")
    for number, (mine, theirs) in enumerate(zip(got["steps"], want["steps"], strict=True)):
        assert mine == theirs, f"step {number}"


@pytest.mark.parametrize("add_pod", [{}, {"addPod": "Success"}])
def test_a_nominated_pods_node_is_not_asked_after_the_search_has_ended(add_pod: dict[str, str]) -> None:
    """Without scores the second feasible node ends the search (``findNodesThatPassFilters``)."""
    refused = {"byPod": {"high": "Unschedulable"}, "else": "Success"}
    points = {"filter": refused, "postFilter": {"nominatedNode": "n3"}, **add_pod}
    case = {
        "name": "nominated",
        "nodes": ["n1", "n2", "n3"],
        "pods": [{"name": "high", "priority": 10}, {"name": "low", "priority": 0}],
        "plugins": [{"name": "A", "points": points, "events": []}],
        "actions": [{"scheduleOne": 1}, {"scheduleOne": 1}],
    }
    *_, first, second = play(case)["steps"]
    assert first["queue"]["nominated"] == {"high": "n3"}
    asked = [call[3] for call in second["calls"] if call[0] in ("Filter", "AddPod")]
    assert asked == ["n1", "n2"]
