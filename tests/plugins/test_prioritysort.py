"""PrioritySort (docs/semantics/plugins.md#prioritysort)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from framework.interface import PodInfo
from framework.plugins.prioritysort import PrioritySort
from framework.queue import QueuedPodInfo
from tests.builders import make_pod
from tests.plugins.evaluation import NO_HANDLE

PLUGIN = PrioritySort(None, NO_HANDLE)
LEAST, MOST = -(1 << 31), (1 << 31) - 1
queued = st.builds(
    lambda priority, timestamp: QueuedPodInfo(PodInfo(make_pod("p", priority=priority)), timestamp),
    st.sampled_from([LEAST, -1, 0, 1, MOST]) | st.integers(LEAST, MOST),
    st.sampled_from([0, 1, 1_767_225_600_000_000_000, (1 << 63) - 1]) | st.integers(0, (1 << 63) - 1),
)


@given(queued, queued)
def test_the_key_sorts_as_less_does(a: QueuedPodInfo, b: QueuedPodInfo) -> None:
    assert (PLUGIN.sort_key(a) < PLUGIN.sort_key(b)) == PLUGIN.less(a, b)


def test_higher_priority_first_then_who_came_earlier() -> None:
    pods = [
        QueuedPodInfo(PodInfo(make_pod(name, priority=priority)), timestamp)
        for name, priority, timestamp in (("late", 0, 9), ("early", 0, 8), ("urgent", 1, 10), ("low", -1, 0))
    ]
    ordered = sorted(pods, key=PLUGIN.sort_key)
    assert [each.pod.metadata.name for each in ordered] == ["urgent", "early", "late", "low"]
