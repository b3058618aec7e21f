"""The messages of kube-scheduler's events: taken apart as they were put together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.interface import Code, Status
from framework.interface.fit_error import counted_fit_error_message
from schedweb.snapshots.scheduler_messages import Unfit, assigned_node, read_unfit, same_message
from tests.schedweb.snapshots.events import shop_events

REASONS = (
    "Insufficient cpu",
    "Insufficient memory",
    "node(s) were unschedulable",
    "node(s) had untolerated taint {dedicated.example.com/a: b, c}",
    "node(s) didn't match Pod's node affinity/selector",
)


@pytest.mark.parametrize(
    ("message", "want"),
    [
        (
            "0/36 nodes are available: 1 node(s) were unschedulable, 11 node(s) had untolerated taint(s), "
            "24 Insufficient cpu. no new claims to deallocate, preemption: 0/36 nodes are available: 36 Preemption is "
            "not helpful for scheduling.",
            Unfit(
                36,
                {"node(s) were unschedulable": 1, "node(s) had untolerated taint(s)": 11, "Insufficient cpu": 24},
                "no new claims to deallocate, preemption: 0/36 nodes are available: 36 Preemption is not helpful for "
                "scheduling.",
            ),
        ),
        ("0/2 nodes are available: 2 Insufficient cpu.", Unfit(2, {"Insufficient cpu": 2})),
        (
            '0/3 nodes are available: persistentvolumeclaim "data" not found. preemption: not eligible.',
            Unfit(3, {'persistentvolumeclaim "data" not found': 3}, "preemption: not eligible."),
        ),
        ("0/0 nodes are available", Unfit(0, {})),
        ('running Bind plugin "DefaultBinder": no', None),
    ],
    ids=["preemption", "no preemption", "PreFilter", "no nodes", "another failure"],
)
def test_why_a_pod_fitted_nowhere(message: str, want: Unfit | None) -> None:
    assert read_unfit(message) == want


@given(st.dictionaries(st.sampled_from(REASONS), st.integers(1, 5000), min_size=1), st.booleans())
def test_what_the_framework_writes_is_read_back(counts: dict[str, int], preemption: bool) -> None:
    total = sum(counts.values())
    rest = "preemption: 0/9 nodes are available: 9 No preemption victims found for incoming pod." if preemption else ""
    statuses = [(Status(Code.UNSCHEDULABLE, (reason,), plugin="P"), count) for reason, count in counts.items()]
    message = counted_fit_error_message(total, statuses, post_filter_message=rest)
    assert read_unfit(message) == Unfit(total, counts, rest)


def test_every_event_of_the_shop_is_understood() -> None:
    events = shop_events()
    placed = [each for each in events if each["reason"] == "Scheduled"]
    failed = [each for each in events if each["reason"] == "FailedScheduling"]
    assert placed
    assert failed
    assert all(assigned_node(each["message"]).startswith("ip-10-0-") for each in placed)
    for each in failed:
        unfit = read_unfit(each["message"])
        assert unfit is not None, each["message"]
        assert unfit.reasons, each["message"]


def test_a_dot_more_or_less_is_the_same_message() -> None:
    assert same_message("0/1 nodes are available: 1 x. preemption: y..", "0/1 nodes are available: 1 x. preemption: y.")
    assert not same_message("0/1 nodes are available: 1 x.", "0/2 nodes are available: 2 x.")
