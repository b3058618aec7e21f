"""The framework itself against kube-scheduler v1.36.2: scripted plugins through every extension point (SCRIPT.md)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.conformance.compressed import read_lines
from tests.conformance.script import play

DATA = Path(__file__).parent / "data"
CASES: dict[str, Any] = {
    case["name"]: case for case in map(msgspec.json.decode, read_lines(DATA / "script.cases.jsonl.gz"))
}
EXPECTED: dict[str, Any] = {
    result["name"]: result for result in map(msgspec.json.decode, read_lines(DATA / "script.expected.jsonl.gz"))
}


def test_all_cases_have_a_result_to_be_compared_with() -> None:
    assert len(CASES) == 327
    assert list(CASES) == list(EXPECTED)


@pytest.mark.parametrize("name", list(CASES))
def test_scripted_case_is_decided_as_kube_scheduler_does(name: str) -> None:
    got = json.loads(msgspec.json.encode(play(CASES[name])))
    want = EXPECTED[name]
    assert got.get("configError") == want.get("configError")
    for number, (mine, theirs) in enumerate(zip(got["steps"], want["steps"], strict=True)):
        assert mine == theirs, f"step {number}"
