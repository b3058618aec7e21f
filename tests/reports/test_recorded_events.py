"""The Events of the two recorded scenarios: type, reason, action and note, of every pod, as often and in order."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

import pytest

from framework.reports.events import event_list, series_of
from framework.reports.metrics import SchedulerMetrics
from framework.scheduler import ClusterEventRecord
from tests.reports.recorded import DATA
from tests.reports.recorded_scenarios import played

RECORDED: Final = re.compile(
    r'^ +(\d+) regarding=(\S+) related=\S+ type=(\S+) reason=(\S+) action=(\S+) note="(.*)"$', re.MULTILINE
)
Told = tuple[str, str, str, str, str]
"""pod, type, reason, action, note"""


class Heard(SchedulerMetrics):
    def __init__(self) -> None:
        super().__init__()
        self.events: list[ClusterEventRecord] = []

    def event(self, event: ClusterEventRecord) -> None:
        super().event(event)
        self.events.append(event)


def recorded(scenario: str) -> Counter[Told]:
    text = (DATA / f"scenario.{scenario}.txt").read_text(encoding="utf-8")
    found: Counter[Told] = Counter()
    for count, pod, type_, reason, action, note in RECORDED.findall(text):
        found[pod, type_, reason, action, note.replace('\\"', '"')] += int(count)
    return found


def heard(scenario: str) -> list[Told]:
    """As ``kubectl get events -o json`` has them, each by itself."""
    heard = Heard()
    played(scenario, metrics=heard)
    items = [event_list(series_of([each]))["items"][0] for each in heard.events]
    return [
        (
            f"{each['metadata']['namespace']}/{each['involvedObject']['name']}",
            each["type"],
            each["reason"],
            each["action"],
            each["message"],
        )
        for each in items
    ]


@pytest.mark.parametrize("scenario", ["mix", "churn"])
def test_every_event_is_the_recorded_one(scenario: str) -> None:
    theirs, ours = recorded(scenario), Counter(heard(scenario))
    assert sum(theirs.values()) == {"mix": 34, "churn": 62}[scenario]
    assert (theirs - ours, ours - theirs) == (Counter(), Counter())


def test_a_pod_is_told_of_in_the_order_in_which_it_was_tried() -> None:
    """The record is sorted, so this is what its counts allow: failures first, then its node, then who evicted it."""
    told = heard("churn")
    assert [(reason, note) for pod, _, reason, _, note in told if pod == "default/s3"] == [
        ("FailedScheduling", 'running Bind plugin "DefaultBinder": bind refused'),
        ("Scheduled", "Successfully assigned default/s3 to m0"),
        ("Preempted", "Preempted by pod pods.default.h2 on node m0"),
    ]
    of_preemptor = [(pod, reason) for pod, _, reason, _, note in told if pod == "default/h1" or "default.h1 " in note]
    assert of_preemptor == [
        ("default/s2", "Preempted"),
        ("default/h1", "FailedScheduling"),
        ("default/h1", "Scheduled"),
    ]
