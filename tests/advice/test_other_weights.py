"""Attempts ranked again are what the engine makes of the same cluster with those weights."""

from __future__ import annotations

import random

import pytest

from framework.advice.other_weights import estimate, ranked
from framework.trace.attempt import AttemptTrace
from framework.trace.encoding import decode_attempts, encode_attempts
from tests.advice.weighed import (
    RULES,
    SCORERS,
    attempt_with,
    random_cluster,
    random_weights,
    scheduler_with,
    totals_of,
)


@pytest.mark.parametrize("number", range(150))
def test_totals_and_winner_are_the_engines(number: int) -> None:
    rng = random.Random(number)
    rule = RULES[number % len(RULES)]
    cluster = random_cluster(rng)
    stored = decode_attempts(encode_attempts([attempt_with(cluster, {}, rule=rule, seed=number)]))[0]
    weights = random_weights(rng)
    want = attempt_with(cluster, weights, rule=rule, seed=number)
    assert stored.scores is not None
    assert stored.filter is not None
    names = stored.filter.nodes
    got = ranked(stored.scores, weights, rule=rule, names=names, selected=stored.selected, silent=False)
    feasible = [names[position] for position in stored.scores.positions.tolist()]
    assert dict(zip(feasible, got.total.tolist(), strict=True)) == totals_of(want)
    if got.winner is None:
        assert rule == "seeded"
        assert want.selected in {feasible[place] for place in got.tied}
    else:
        assert feasible[got.winner] == want.selected


def test_without_score_plugins_the_first_feasible_node_is_taken() -> None:
    met = set()
    for number in range(40):
        rng = random.Random(number)
        cluster = random_cluster(rng)
        stored = attempt_with(cluster, {}, rule="upstream", seed=1)
        off = dict.fromkeys((*SCORERS, "DynamicResources", "VolumeBinding"), 0)
        want = attempt_with(cluster, off, rule="upstream", seed=1)
        assert want.scores is None
        assert stored.scores is not None
        assert stored.filter is not None
        names = stored.filter.nodes
        got = ranked(stored.scores, off, rule="upstream", names=names, selected=stored.selected, silent=True)
        assert got.winner is not None
        assert names[stored.scores.positions[got.winner]] == want.selected
        met.add(want.selected == stored.selected)
    assert met == {True, False}


def played(seed: int) -> list[tuple[int, AttemptTrace]]:
    cluster = random_cluster(random.Random(seed))
    scheduler = scheduler_with(cluster, {}, rule="smallest", seed=seed)
    made = scheduler.step()
    assert made is not None
    return [(1, made)]


def test_an_estimate_counts_every_attempt_of_the_profile_once() -> None:
    attempts = [(number, trace) for number in range(60) for _, trace in played(number)]
    weights = {"NodeResourcesFit": 0, "NodeResourcesBalancedAllocation": 9}
    found = estimate(attempts, weights, profile="default-scheduler", rule="smallest")
    assert found.attempts + found.unscored == len(attempts)
    assert found.same + len(found.moved) == found.attempts
    assert found.moved
    assert found.same
    by_number = dict(attempts)
    for row in found.moved:
        assert row.node == by_number[row.number].selected != row.to
        assert row.to in row.named or row.tied > len(row.named)
        assert not row.stays_possible, "the tie rule says who wins"
    assert estimate(attempts, weights, profile="another", rule="smallest").attempts == 0


def test_the_same_weights_move_nobody() -> None:
    attempts = [each for number in range(30) for each in played(number)]
    found = estimate(attempts, {"NodeResourcesFit": 1}, profile="default-scheduler", rule="seeded")
    assert (found.same, found.moved) == (found.attempts, ())


def test_of_equals_that_the_seed_would_choose_from_nobody_is_named_the_winner() -> None:
    """With every plugin but one off, nodes are equal that were not."""
    off = {name: 0 for name in SCORERS if name != "TaintToleration"}
    open_rows = 0
    for number in range(30):
        found = estimate(played(number), off, profile="default-scheduler", rule="seeded")
        for row in found.moved:
            if not row.to:
                open_rows += 1
                assert row.tied > 1
                assert row.stays_possible == (row.behind == 0)
    assert open_rows
