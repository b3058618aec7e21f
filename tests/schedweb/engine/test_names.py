"""How pod names are read, and how amounts and spans of time are written."""

from __future__ import annotations

import datetime

import pytest

from schedweb.engine.amounts import amount_text
from schedweb.engine.names import split_name
from schedweb.engine.times import iso, nanoseconds
from schedweb.engine.words import event_words, seconds_text

SECOND = 1_000_000_000


@pytest.mark.parametrize(
    ("name", "owner", "kind", "label", "want"),
    [
        ("web-7c9d8b6f5d-x2x4z", "web-7c9d8b6f5d", "ReplicaSet", "7c9d8b6f5d", ("web", "x2x4z")),
        ("web-7c9d8b6f5d-x2x4z", "web-7c9d8b6f5d", "ReplicaSet", "", ("web", "x2x4z")),
        ("web-v2-x2x4z", "web-v2", "ReplicaSet", "", ("web-v2", "x2x4z")),
        ("kafka-1", "kafka", "StatefulSet", "", ("kafka", "1")),
        ("nightly-28345-x2x4z", "nightly-28345", "Job", "", ("nightly-28345", "x2x4z")),
        ("web-7c9d8b6f5d-x2x4z", "", "", "", ("web", "x2x4z")),
        ("ci-runner-2b4rn", "", "", "", ("ci-runner", "2b4rn")),
        ("postgres-4", "", "", "", ("postgres", "4")),
        ("my-apple", "", "", "", ("my-apple", "")),
        ("x2x4z", "", "", "", ("x2x4z", "")),
    ],
)
def test_names_are_read_at_both_ends(name: str, owner: str, kind: str, label: str, want: tuple[str, str]) -> None:
    assert split_name(name, owner, kind, label) == want


@pytest.mark.parametrize(
    ("resource", "amount", "want"),
    [
        ("cpu", 4000, "4"),
        ("cpu", 250, "250m"),
        ("cpu", 7920, "7920m"),
        ("cpu", 0, "0"),
        ("memory", 16 * 2**30, "16Gi"),
        ("memory", 1536 * 2**20, "1.5Gi"),
        ("memory", 500, "500"),
        ("memory", -(2**30), "-1Gi"),
        ("hugepages-2Mi", 4 * 2**20, "4Mi"),
        ("nvidia.com/gpu", 8, "8"),
        ("pods", 110, "110"),
    ],
)
def test_amounts_are_written_for_people(resource: str, amount: int, want: str) -> None:
    assert amount_text(resource, amount) == want


@pytest.mark.parametrize(
    ("span", "want"),
    [
        (SECOND, "1 s"),
        (1_500_000_000, "1.5 s"),
        (59 * SECOND, "59 s"),
        (166 * SECOND, "2m 46s"),
        (7500 * SECOND, "2h 05m"),
    ],
)
def test_spans_of_time(span: int, want: str) -> None:
    assert str(seconds_text(span)) == want


def test_events() -> None:
    labels = {
        "AssignedPodDelete": "Pod deleted",
        "storage.k8s.io/CSINodeAdd": "CSINode added",
        "podgroups.v1alpha1.scheduling.x-k8s.ioUpdate": "podgroups updated",
        "AssignedPodUpdatePodLabel": "Labels of Pod changed",
        "SomethingElse": "SomethingElse",
    }
    assert {label: str(event_words(label)) for label in labels} == labels


def test_run_time_is_iso_with_milliseconds() -> None:
    assert iso(1_700_000_000_123_456_789) == "2023-11-14T22:13:20.123Z"
    assert iso(0) == "1970-01-01T00:00:00.000Z"


def test_a_moment_survives_the_way_there_and_back() -> None:
    moment = datetime.datetime(2026, 5, 1, 12, 0, 0, 123456, tzinfo=datetime.UTC)
    assert nanoseconds(moment) == 1_777_636_800_123_456_000
