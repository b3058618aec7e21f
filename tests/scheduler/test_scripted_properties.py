"""Whatever plugins say and whatever happens outside: no pod is lost, none is in two places (property tests)."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings

from tests.conformance.script import play
from tests.examples import examples
from tests.scheduler.scripted_runs import CheckedPlay, cases

SETTINGS = settings(max_examples=examples(250), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@SETTINGS
@given(case=cases())
def test_every_pod_is_in_exactly_one_place_and_unreserve_mirrors_reserve(case: dict[str, Any]) -> None:
    steps = CheckedPlay(case).result()["steps"]
    assert len(steps) == len(case["actions"]) + 1


@SETTINGS
@given(case=cases())
def test_the_same_case_is_played_the_same_way(case: dict[str, Any]) -> None:
    assert play(case) == play(case)
