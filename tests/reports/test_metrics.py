"""``/metrics`` as kube-scheduler 1.36.2 told it after two scenarios."""

from __future__ import annotations

import gzip
import pickle
import re

import pytest

from framework.reports.metric_families import FAMILIES
from framework.reports.metrics import SchedulerMetrics
from tests.reports.recorded import DATA
from tests.reports.recorded_scenarios import played

SCENARIOS = ("mix", "churn")
SERIES = re.compile(r"^(\S+?)(\{.*\})? (\S+)$")
BLANKED = "*"


def recorded(scenario: str) -> list[str]:
    return gzip.decompress((DATA / f"metrics.{scenario}.txt.gz").read_bytes()).decode().splitlines()


def told(scenario: str) -> list[str]:
    return list(played(scenario, lambda *_: None).lines())


def series(lines: list[str]) -> dict[str, str]:
    found = {}
    for line in lines:
        if not line.startswith("#"):
            match = SERIES.match(line)
            assert match is not None, line
            found[match[1] + (match[2] or "")] = match[3]
    return found


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_queue_has_the_recorded_sizes_after_every_step(scenario: str) -> None:
    others: list[tuple[str, tuple[int, int, int], tuple[int, int, int]]] = []

    def check(step: str, theirs: tuple[int, int, int], ours: tuple[int, int, int]) -> None:
        if theirs != ours:
            others.append((step, theirs, ours))

    played(scenario, check)
    assert others == []


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_names_types_helps_and_series_are_the_recorded_ones(scenario: str) -> None:
    theirs, ours = recorded(scenario), told(scenario)
    assert [line for line in ours if line.startswith("#")] == [line for line in theirs if line.startswith("#")]
    assert list(series(ours)) == list(series(theirs))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_counters_are_the_recorded_ones(scenario: str) -> None:
    theirs, ours = series(recorded(scenario)), series(told(scenario))
    others = {name: (value, ours.get(name)) for name, value in theirs.items() if value not in (BLANKED, ours.get(name))}
    assert others == {}


def test_a_pickled_scheduler_goes_on_counting() -> None:
    metrics = played("mix", lambda *_: None)
    again = pickle.loads(pickle.dumps(metrics))
    assert list(again.lines()) == list(metrics.lines())
    assert isinstance(again, SchedulerMetrics)


def test_families_are_listed_by_name_with_labels_in_their_order() -> None:
    assert list(FAMILIES) == sorted(FAMILIES)
    assert all(list(family.labels) == sorted(family.labels) for family in FAMILIES.values())
