"""Columns by state against the same plans worked out for every row, in clusters that change at random."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from framework.columns import Snapshot, facts
from framework.interface import Plan
from framework.interface.columns import DomainCounts, PodQuery, TermKind, TermTarget
from framework.objects.selectors import matcher_from_labels
from framework.reuse.columns import StateColumn, States, Work
from tests.plugins.domain_worlds import HOSTNAME, RACK, ZONE, World, evaluate

WEB = PodQuery(((frozenset(("default", "dev")), matcher_from_labels({"app": "web"})),), spreading=True)
ANYBODY = PodQuery(((None, matcher_from_labels({})),))
TARGET = TermTarget("default", (("app", "web"),), ())


def _telling_apart(*gathered: Any) -> NDArray[np.int64]:
    """Another number for every combination of what was gathered."""
    total: Any = 0
    for each in gathered:
        value = each
        if isinstance(each, DomainCounts):
            value = np.where(each.codes < 0, -1, each.table.take(each.codes))
        total = total * 101 + value
    scores: NDArray[np.int64] = np.asarray(total, dtype=np.int64)
    return scores


def _plans(view: Snapshot) -> list[Plan]:
    preferred = ((TermKind.PREFERRED, None), (TermKind.PREFERRED_ANTI, None))
    here = view.eligible((HOSTNAME,), None, None)
    inputs = [
        (here, view.pods_on_node(WEB)),
        (here, view.pods_on_node(WEB), view.pods_in_domains(WEB, ZONE, view.eligible((ZONE, HOSTNAME), None, None))),
        (view.pods_in_domains(ANYBODY, ZONE, keyless_as_empty=True), view.pods_in_domains(ANYBODY, RACK)),
        (view.placed_terms(preferred, TARGET), view.pods_in_domains(WEB, HOSTNAME)),
        (here, view.placed_terms(((TermKind.REQUIRED_ANTI, 1),), TARGET).any()),
    ]
    return [Plan(_telling_apart, each) for each in inputs]


@pytest.mark.parametrize("few", [0, 1, 8])
@pytest.mark.parametrize("seed", range(12))
def test_scores_of_states_are_those_of_rows(seed: int, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """``few``: with 0 every label has few values, with 8 hardly any has: domains are then told apart by number."""
    monkeypatch.setattr(facts, "FEW", few)
    rng = random.Random(seed)
    world = World.random(rng)
    snapshot = world.snapshot
    plans = _plans(snapshot)
    states = [States(snapshot, plan.inputs) for plan in plans]
    columns = [StateColumn(of, Work(), plan) for of, plan in zip(states, plans, strict=True)]
    others = [StateColumn(of, Work(), plan) for of, plan in zip(states, plans, strict=True)]
    for _ in range(60):
        for plan, column, other in zip(plans, columns, others, strict=True):
            expected = evaluate(plan)
            for each in (column, other) if rng.random() < 0.5 else (column,):
                each.follow()
                assert each.by_row().tolist() == expected.tolist()
            occurring, rows = column.states.occurring()
            assert column.states.history.values[rows].tolist() == occurring.tolist()
            assert sorted(set(column.states.history.values.tolist())) == occurring.tolist()
        for _ in range(rng.randint(1, 3)):
            world.happen()


def test_a_placement_moves_one_row_and_asks_for_one_row_of_each_state() -> None:
    world = World.random(random.Random(1))
    for _ in range(40):
        world._add_node()
    world._refresh()
    snapshot = world.snapshot
    plan = _plans(snapshot)[0]
    work = Work()
    column = StateColumn(States(snapshot, plan.inputs), work, plan)
    column.follow()
    world._place()
    before, rows = column.states.history.version, work.rows
    world.snapshot.add_pod(world.names[0], world.new_pod(0))
    column.follow()
    moved = column.states.history.changed_since(before)
    assert moved is not None
    assert len(moved) <= 2
    assert work.rows - rows <= len(column.states)
    assert len(column.states) < 8


def test_pods_that_score_alike_share_the_array_of_groups() -> None:
    world = World.random(random.Random(2))
    snapshot = world.snapshot
    here = snapshot.eligible((HOSTNAME,), None, None)
    nobody = [PodQuery(((frozenset((f"nobody-{i}",)), matcher_from_labels({"app": "web"})),)) for i in range(2)]
    one, other = (States(snapshot, (here, snapshot.pods_on_node(query))) for query in nobody)
    one.follow()
    other.follow()
    assert one.history.values is other.history.values
