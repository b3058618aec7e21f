"""Incremental arrays against the same arrays made anew, while their sources change at random."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from framework.columns import Incremental, RowLog, Unknown
from framework.interface.columns import Rows
from framework.trace.history import MOST_STEPS, History


@dataclass
class Count:
    used: int


class Numbers:
    """A source: a list of numbers with a log."""

    def __init__(self, count: int) -> None:
        self.values = [0] * count
        self.log = RowLog()

    @property
    def version(self) -> int:
        return self.log.version

    def changed_since(self, version: int) -> Rows:
        return self.log.changed_since(version)

    def write(self, row: int, value: int) -> None:
        self.values[row] = value
        self.log.append(row)


class Total(Incremental):
    """The sum of two sources, and how it was made."""

    def __init__(self, count: Count, one: Numbers, other: Numbers) -> None:
        super().__init__(count, (one, other))
        self.one, self.other = one, other
        self.history = History()
        self.made: list[str] = []
        self.fails = False

    @property
    def version(self) -> int:
        self.refresh()
        return self.history.version

    def changed_since(self, version: int) -> Rows:
        return self.history.changed_since(version)

    def _sum(self, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        if self.fails:
            raise RuntimeError("no sum today")
        return np.array([self.one.values[row] + self.other.values[row] for row in rows.tolist()], dtype=np.int64)

    def _make_all(self) -> None:
        self.made.append("all")
        self.history.replace(self._sum(np.arange(self._rows.used)))

    def _make_some(self, rows: NDArray[np.intp]) -> None:
        self.made.append("some")
        self.history.write(rows, self._sum(rows), len(rows))

    def _make_one(self, row: int) -> None:
        self.made.append("one")
        self.history.write(row, self._sum(np.array([row])).item(), 1)


class Doubled(Total):
    """Made from another incremental array, which nobody else need have brought up to date."""

    def __init__(self, count: Count, total: Total) -> None:
        super().__init__(count, total.one, total.other)
        Incremental.__init__(self, count, (total,))
        self.total = total

    def _sum(self, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        return 2 * self.total.history.values[rows].astype(np.int64)


def anew(total: Total) -> list[int]:
    return [a + b for a, b in zip(total.one.values, total.other.values, strict=True)]


@pytest.mark.parametrize("seed", range(8))
def test_what_is_kept_is_what_would_be_made_anew(seed: int) -> None:
    rng = random.Random(seed)
    count = Count(7)
    one, other = Numbers(7), Numbers(7)
    total = Total(count, one, other)
    doubled = Doubled(count, total)
    for _ in range(300):
        for _ in range(rng.choice((0, 1, 1, 2, 5))):
            rng.choice((one, other)).write(rng.randrange(count.used), rng.randrange(-9, 1000))
        if rng.random() < 0.02:
            one.log.everything()
        if rng.random() < 0.02:
            count.used += 1
            for each in (one, other):
                each.values.append(rng.randrange(9))
        if rng.random() < 0.7:
            doubled.refresh()
            assert doubled.history.values.tolist() == [2 * value for value in anew(total)]
        if rng.random() < 0.5:
            total.refresh()
            assert total.history.values.tolist() == anew(total)
    assert {"all", "some", "one"} <= set(total.made)
    assert {"all", "some", "one"} <= set(doubled.made)


def test_nothing_is_made_while_nothing_changes_and_one_row_when_both_sources_name_it() -> None:
    count = Count(4)
    one, other = Numbers(4), Numbers(4)
    total = Total(count, one, other)
    total.refresh()
    total.refresh()
    assert total.made == ["all"]
    one.write(2, 5)
    other.write(2, 6)
    total.refresh()
    assert total.made == ["all", "one"]
    assert total.history.values.tolist() == [0, 0, 11, 0]


def test_what_raised_is_made_again() -> None:
    count = Count(3)
    one, other = Numbers(3), Numbers(3)
    total = Total(count, one, other)
    total.refresh()
    one.write(1, 4)
    total.fails = True
    with pytest.raises(RuntimeError):
        total.refresh()
    total.fails = False
    total.refresh()
    assert total.history.values.tolist() == [0, 4, 0]


def test_a_counter_that_stays_saves_asking() -> None:
    counter, count = RowLog(), Count(2)
    total = Total(count, Numbers(2), Numbers(2))
    Incremental.__init__(total, count, (total.one,), counter)
    total.refresh()
    total.one.write(0, 1)
    total.refresh()
    assert total.made == ["all"]
    counter.append(0)
    total.refresh()
    assert total.made == ["all", "one"]
    total.forget()
    total.refresh()
    assert total.made == ["all", "one", "all"]


def test_what_nothing_is_known_of_is_made_every_time() -> None:
    count = Count(2)
    total = Total(count, Numbers(2), Numbers(2))
    Incremental.__init__(total, count, (Unknown(),))
    total.refresh()
    total.refresh()
    assert total.made == ["all", "all"]


def test_a_history_names_the_rows_of_its_steps_until_it_begins_anew() -> None:
    history = History(np.zeros(9, dtype=np.int8))
    start = history.version
    history.write(3, 1, 1)
    middle = history.version
    history.write(np.array([1, 5]), np.array([7, 8], dtype=np.int8), 2)
    history.write(3, 2, 1)

    def since(version: int) -> list[int] | None:
        rows = history.changed_since(version)
        return None if rows is None else rows.tolist()

    assert since(start) == [1, 3, 5]
    assert since(middle) == [1, 3, 5]
    assert since(history.version) == []
    last = history.version
    history.write(0, 1000, 1)  # needs wider numbers
    assert since(last) is None
    last = history.version
    for number in range(MOST_STEPS + 1):
        history.write(number % 9, number % 100, 1)
    assert since(last) is None
    last = history.version
    history.replace(np.ones(9, dtype=np.int8))
    assert since(last) is None
    assert since(history.version) == []
