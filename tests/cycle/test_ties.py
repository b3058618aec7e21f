"""Which of equally good nodes is taken (docs/semantics/framework.md#choose-a-node, docs/semantics/runs.md#ties)."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.profiles import SeededGenerator, Ties
from framework.profiles.services import TieRule, heap_root
from tests.builders import make_node, make_pod
from tests.cycle.small import SmallCluster


def heap_init_root(totals: list[int]) -> int:
    """Go's heap.Init over (total, index), by the book."""
    items = list(enumerate(totals))

    def better(a: int, b: int) -> bool:
        return items[a][1] > items[b][1]

    for start in range(len(items) // 2 - 1, -1, -1):
        i = start
        while 2 * i + 1 < len(items):
            child = 2 * i + 1
            if child + 1 < len(items) and better(child + 1, child):
                child += 1
            if not better(child, i):
                break
            items[i], items[child] = items[child], items[i]
            i = child
    return items[0][0]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=70))
def test_upstream_rule_is_the_root_of_the_heap(totals: list[int]) -> None:
    scores = np.array(totals)
    tied = np.flatnonzero(scores == scores.max())
    assert tied[heap_root(len(totals), tied)] == heap_init_root(totals)


def test_smallest_rule_takes_the_smallest_name() -> None:
    ties = Ties("smallest", SeededGenerator(1))
    assert ties.pick_scored(5, 3, lambda: np.array([1, 3, 4]), lambda: ["n9", "n10", "n2"]) == 1
    assert ties.pick(["b", "a"]) == "a"


def test_seeded_rule_is_fair_and_repeatable() -> None:
    def drawn(seed: int) -> list[int]:
        ties = Ties("seeded", SeededGenerator(seed))
        places = np.array([2, 5, 7])
        return [int(places[ties.pick_scored(9, 3, lambda: places, lambda: ())]) for _ in range(3000)]

    assert drawn(5) == drawn(5)
    assert drawn(5) != drawn(6)
    assert set(Counter(drawn(5))) == {2, 5, 7}
    assert min(Counter(drawn(5)).values()) > 900


def test_generator_is_splitmix64() -> None:
    generator = SeededGenerator(1234567)
    assert [generator.next() for _ in range(3)] == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@pytest.mark.parametrize("rule", ["seeded", "upstream", "smallest"])
def test_an_attempt_says_who_was_tied_and_which_rule_chose(rule: TieRule) -> None:
    cluster = SmallCluster([make_node("b"), make_node("a"), make_node("full", cpu="1")], ties=rule)
    attempt = cluster.schedule(make_pod("p", requests={"cpu": "500m"}))
    assert attempt.tie_rule == rule
    assert attempt.scores is not None
    assert attempt.filter is not None
    assert {attempt.filter.nodes[i] for i in attempt.scores.candidates} == {"a", "b"}
    assert attempt.selected == {"upstream": "b", "smallest": "a"}.get(rule, attempt.selected)
    alone = cluster.schedule(make_pod("large", requests={"cpu": "3"}, nodeSelector={"none": "such"}))
    assert alone.tie_rule == ""
