"""The numbers of a comparison, against hand-made clusters and against plain loops over random ones."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedweb.runs.comparing import measures

AMOUNTS = st.integers(0, 64)
NODES = st.lists(st.tuples(AMOUNTS, AMOUNTS, st.integers(0, 5), st.booleans()), min_size=1, max_size=12)


def array(values: list[int]) -> measures.Amounts:
    return np.array(values, dtype=np.int64)


def test_how_full_three_nodes_are() -> None:
    spread = measures.resource_spread("cpu", array([4000, 4000, 2000, 0]), array([4000, 2000, 0, 0]))
    assert (spread["nodes"], spread["allocatable"], spread["used"]) == (3, 10_000, 6000)
    assert (spread["share"], spread["mean"], spread["highest"]) == (0.6, 0.5, 1.0)
    assert spread["deviation"] == pytest.approx(math.sqrt(1 / 6))


def test_a_resource_that_no_node_has() -> None:
    spread = measures.resource_spread("nvidia.com/gpu", array([0, 0]), array([0, 0]))
    assert (spread["share"], spread["mean"], spread["deviation"], spread["highest"]) == (None, None, None, None)


def test_gpu_islands_of_four_nodes() -> None:
    found = measures.islands(array([8, 3, 3, 8]), array([10, 10, 1, 10]), np.array([True, True, True, False]))
    assert found["nodes"] == [{"free": 3, "nodes": 2}, {"free": 8, "nodes": 1}]
    # 8 + 3 + 1 (one slot); 4 + 1 + 1; 2 of the first alone; 1 of the first alone. The last one is cordoned.
    assert [each["pods"] for each in found["fits"]] == [12, 6, 2, 1]


def test_the_largest_request_that_fits_leaves_cordoned_and_overfull_nodes_out() -> None:
    fit = measures.largest_fit(["a", "b", "c"], array([500, 900, -100]), np.array([True, False, True]))
    assert fit == {"free": 500, "largest": 500, "largest_node": "a"}
    none = measures.largest_fit(["a"], array([0]), np.array([True]))
    assert none == {"free": 0, "largest": 0, "largest_node": ""}
    assert measures.largest_fit([], array([]), np.array([], dtype=bool))["largest"] == 0


def test_zones_and_how_far_apart_they_are() -> None:
    allocatable, used = np.array([[4, 0], [4, 8], [2, 0]]), np.array([[4, 0], [0, 2], [1, 0]])
    found = measures.zones(["a", "b", "c"], ["west", "west", "east"], ["cpu", "gpu"], allocatable, used)
    assert found == [
        {"name": "east", "nodes": 1, "shares": [{"name": "cpu", "share": 0.5}]},
        {"name": "west", "nodes": 2, "shares": [{"name": "cpu", "share": 0.5}, {"name": "gpu", "share": 0.25}]},
    ]
    assert measures.imbalance(found, "cpu") == 0
    assert measures.imbalance(found, "gpu") is None


def test_waiting_times_by_nearest_rank() -> None:
    seconds = [number * 1_000_000_000 for number in (5, 1, 2, 4, 3)]
    assert measures.waiting_times(seconds) == {"count": 5, "p50": 3, "p95": 5, "longest": 5}
    assert measures.waiting_times([]) == {"count": 0, "p50": None, "p95": None, "longest": None}


@given(NODES)
def test_random_clusters_against_plain_loops(nodes: list[tuple[int, int, int, bool]]) -> None:
    allocatable, used = array([have for have, *_ in nodes]), array([taken for _, taken, *_ in nodes])
    slots, open_ = array([slot for _, _, slot, _ in nodes]), np.array([is_open for *_, is_open in nodes])
    shares = [taken / have for have, taken, *_ in nodes if have]
    spread = measures.resource_spread("cpu", allocatable, used)
    if shares:
        assert spread["mean"] == pytest.approx(statistics.fmean(shares))
        assert spread["deviation"] == pytest.approx(statistics.pstdev(shares), abs=1e-9)
        assert spread["highest"] == max(shares)
    free = [max(0, have - taken) if is_open else 0 for have, taken, _, is_open in nodes]
    fit = measures.largest_fit([str(place) for place in range(len(nodes))], allocatable - used, open_)
    assert (fit["free"], fit["largest"]) == (sum(free), max(free))
    found = measures.islands(allocatable - used, slots, open_)
    for each in found["fits"]:
        placed = 0
        for room, (_, _, slot, _) in zip(free, nodes, strict=True):
            while room >= each["gpus"] and slot > 0:
                room, slot, placed = room - each["gpus"], slot - 1, placed + 1
        assert each["pods"] == placed
    assert sum(each["nodes"] for each in found["nodes"]) == sum(room > 0 for room in free)


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=60), st.sampled_from([0.5, 0.95, 1.0]))
def test_a_quantile_is_the_smallest_value_that_covers_its_share(values: list[int], share: float) -> None:
    ordered = sorted(values)
    found = measures.quantile(ordered, share)
    covering = [value for value in ordered if sum(each <= value for each in ordered) >= share * len(ordered)]
    assert found == min(covering)
