"""Every kernel with a second form for few rows, and every amount with one for a single row: both say the same."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import framework.kernels
import framework.plugins
from framework.interface import Column, WorkOut
from framework.interface.columns import FEW_ROWS
from framework.objects.resources import CPU, MEMORY
from tests.plugins.test_honest_plans import FILTERS, SCORES, Cluster, plugins

RESOURCES = (CPU, MEMORY, "example.com/gpu")
SMALL = st.integers(0, 1 << 44)
"""Scores are only worked out of amounts that float64 holds (``framework.kernels.amounts.EXACT``)."""
LARGE = st.integers(-(1 << 63), (1 << 63) - 1)


def work_outs() -> Iterator[tuple[str, WorkOut]]:
    """All that the built-in plugins use."""
    packages = (framework.kernels, framework.plugins)
    found: list[WorkOut] = []
    for module in chain.from_iterable(pkgutil.walk_packages(each.__path__, f"{each.__name__}.") for each in packages):
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, WorkOut) and value.of_row is not None and value not in found:
                found.append(value)
                yield f"{module.name}.{name}", value


PAIRS = dict(work_outs())


def test_the_pairs_are_found() -> None:
    assert {name.rpartition(".")[2] for name in PAIRS} >= {"FREE", "PREPARED"}


@pytest.mark.parametrize("name", PAIRS)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_what_is_made_of_one_row_is_what_is_made_of_many(name: str, data: st.DataObject) -> None:
    pair = PAIRS[name]
    assert pair.of_row is not None
    count = data.draw(st.integers(1, len(RESOURCES)))
    rows = data.draw(st.integers(2, 5))
    amounts = LARGE if name.endswith(".FREE") and data.draw(st.booleans()) else SMALL

    def numbers() -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.array(data.draw(st.lists(amounts, min_size=rows, max_size=rows)), dtype=np.int64)

    def several() -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], ...]:
        return tuple(numbers() for _ in range(count))

    offered = several()
    whole = Column(
        RESOURCES[:count],
        offered,
        several(),
        numbers(),
        numbers(),
        np.arange(rows),
        np.full(rows, 2),
        tuple(bool(each.all()) for each in offered),
        None if amounts is LARGE else 1 << 44,
    )
    many = pair.of_rows(whole)
    for row in range(rows):
        one = slice(row, row + 1)
        alone = whole._replace(
            allocatable=tuple(each[one] for each in whole.allocatable),
            requested=tuple(each[one] for each in whole.requested),
            non_zero_cpu=whole.non_zero_cpu[one],
            non_zero_memory=whole.non_zero_memory[one],
            pods=whole.pods[one],
            allowed_pods=whole.allowed_pods[one],
        )
        assert pair.of_row(alone).tolist() == many[:, one].tolist()


@pytest.mark.parametrize("seed", range(3))
def test_few_rows_get_the_answers_they_have_among_many(seed: int) -> None:
    cluster = Cluster(seed)
    snapshot = cluster.scheduler.core.snapshot
    compared = 0
    for _ in range(40):
        for names, score in ((FILTERS, False), (SCORES, True)):
            for plugin in plugins(cluster, names):
                plan = cluster.plan(plugin, cluster.query(), score=score)
                if plan is None or plan.few is None:
                    continue
                column = cluster.column(plan)
                for size in (1, 2, FEW_ROWS, FEW_ROWS + 1):
                    rows = snapshot.order[:: max(1, len(snapshot.order) // size)][:size]
                    assert plan.answers(rows).tolist() == column[rows].tolist(), plugin.name
                    few = plan.few(*[each.gather(rows) for each in plan.inputs])
                    assert few.tolist() == column[rows].tolist(), plugin.name
                    compared += 1
        for _ in range(3):
            cluster.change()
        cluster.refresh()
    assert compared > 15
