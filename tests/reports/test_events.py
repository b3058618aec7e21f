"""Events as kubectl prints them: series, table, JSON."""

from __future__ import annotations

import msgspec
import pytest

from framework.objects.timestamps import SECOND
from framework.reports.events import NOTE_LIMIT, duration, event_list, series_of, table
from framework.scheduler import ClusterEventRecord


def failed(at: int, note: str = "0/1 nodes are available", pod: str = "a/p") -> ClusterEventRecord:
    return ClusterEventRecord(at * SECOND, "Warning", "FailedScheduling", pod, note, "u", "second")


def bound(at: int) -> ClusterEventRecord:
    return ClusterEventRecord(
        at * SECOND, "Normal", "Scheduled", "a/p", "Successfully assigned a/p to n", "u", "second"
    )


def test_a_series_begins_with_the_third_failure_as_the_first_changes_the_pod() -> None:
    found = series_of([failed(1), failed(2), failed(4), failed(8), failed(9, "other"), bound(10)])
    assert [(each.count, each.record.at // SECOND, each.last // SECOND) for each in found] == [
        (1, 1, 1),
        (4, 2, 9),
        (1, 10, 10),
    ]


def test_events_of_other_pods_are_no_part_of_a_series() -> None:
    assert [each.count for each in series_of([failed(1), failed(1, pod="a/q"), failed(2), failed(2, pod="a/q")])] == [
        1
    ] * 4


def test_the_table_is_kubectl_s() -> None:
    lines = list(table(series_of([failed(1), failed(2), failed(4), bound(60)]), 90 * SECOND))
    assert lines == [
        "NAMESPACE   LAST SEEN           TYPE      REASON             OBJECT   MESSAGE",
        "a           89s                 Warning   FailedScheduling   pod/p    0/1 nodes are available",
        "a           86s (x2 over 88s)   Warning   FailedScheduling   pod/p    0/1 nodes are available",
        "a           30s                 Normal    Scheduled          pod/p    Successfully assigned a/p to n",
    ]


def test_json_has_the_fields_of_a_recorded_event() -> None:
    (event,) = event_list(series_of([bound(1_700_000_000)]))["items"]
    assert event["metadata"] == {
        "creationTimestamp": "2023-11-14T22:13:20Z",
        "name": "p.17979cfe362a0000",
        "namespace": "a",
    }
    assert (event["action"], event["eventTime"]) == ("Binding", "2023-11-14T22:13:20.000000Z")
    assert (event["reportingComponent"], event["involvedObject"]["uid"]) == ("second", "u")
    assert "series" not in event
    assert msgspec.json.encode(event)


def test_a_long_note_is_cut_as_the_api_demands() -> None:
    (event,) = event_list(series_of([failed(1, "x" * 2000)]))["items"]
    assert len(event["message"]) == NOTE_LIMIT
    assert event["message"].endswith("x ...")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (301, "5m1s"),
        (601, "10m"),
        (3 * 3600, "3h"),
        (3 * 3600 + 300, "3h5m"),
        (30 * 3600, "30h"),
        (50 * 3600, "2d2h"),
        (400 * 86400, "400d"),
        (800 * 86400, "2y70d"),
    ],
)
def test_durations_are_kubectl_s(seconds: int, said: str) -> None:
    assert duration(seconds * SECOND) == said
