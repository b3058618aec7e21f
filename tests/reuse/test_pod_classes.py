"""Classes of pods: who is of one class, what outlives an attempt, and who goes first."""

from __future__ import annotations

import numpy as np
import pytest

from framework.columns import Snapshot
from framework.interface import Plan, PodInfo
from framework.reuse import pod_classes
from framework.reuse.columns import ColumnStore
from framework.reuse.pod_classes import KeptForClass, PodClasses
from tests.builders import make_node, make_pod


class Kept(KeptForClass):
    def __init__(self) -> None:
        super().__init__()
        self.gaps: frozenset[int] | None = None
        self.small = True
        self.forgotten = 0

    def has_gaps(self, gaps: frozenset[int]) -> None:
        self.gaps = gaps

    def is_small(self) -> bool:
        return self.small

    def forget(self) -> None:
        self.kept = False
        self.forgotten += 1


class Classes:
    """Told apart by the label ``app``; the second plugin says nothing of pods with the label ``odd``."""

    def __init__(self, *, keeps: bool = True) -> None:
        self.snapshot = Snapshot()
        self.snapshot.set_node(make_node("a"))
        self.snapshot.set_order(["a"])
        self.columns = ColumnStore(self.snapshot, keeps=keeps)
        self.classes = PodClasses(
            [
                lambda pod: pod.pod.metadata.labels.get("app", ""),
                lambda pod: None if "odd" in pod.pod.metadata.labels else (),
            ],
            self.snapshot,
            self.columns,
            Kept,
            keeps=keeps,
        )
        self.number = 0

    def attempt(self, *, small: bool = True, own: str = "", **labels: str) -> Kept:
        """``own``: makes a column by row with this constant."""
        self.number += 1
        found = self.classes.begin(PodInfo(make_pod(f"p{self.number}", labels=labels)))
        found.small = small
        if own:
            names = self.snapshot.name()
            self.columns.by_row("mine", Plan(lambda codes: np.zeros(len(codes.codes), np.int8), (names,), own))
        self.classes.finish(found)
        return found


def test_pods_with_equal_fragments_are_of_one_class() -> None:
    world = Classes()
    web = world.attempt(app="web")
    assert world.attempt(app="web") is web
    assert world.attempt(app="web", note="read by nobody") is web
    assert world.attempt(app="db") is not web


def test_a_class_knows_who_said_nothing_of_its_pods() -> None:
    world = Classes()
    for _ in range(2):
        plain, odd = world.attempt(app="web"), world.attempt(app="web", odd="1")
    assert plain.gaps == frozenset()
    assert odd.gaps == frozenset((1,))


def test_what_is_small_is_kept_from_the_first_attempt_on_and_else_from_the_second() -> None:
    world = Classes()
    assert world.attempt(app="small").kept
    large = world.attempt(app="large", small=False)
    assert (large.kept, large.forgotten) == (False, 1)
    assert world.attempt(app="large", small=False) is large
    assert large.kept


def test_who_made_a_column_that_nobody_else_has_is_forgotten() -> None:
    world = Classes()
    first = world.attempt(app="web", own="x")
    assert (first.kept, first.forgotten) == (False, 1)
    # The same column again is kept, and the attempt has none of its own.
    second = world.attempt(app="db", own="x")
    assert second.kept
    assert not world.columns.of_attempt


def test_the_least_recently_used_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pod_classes, "KEPT_BYTES", 2 * pod_classes.BYTES_OF_ROW)
    world = Classes()
    one, other = world.attempt(app="one"), world.attempt(app="other")
    world.attempt(app="one")
    world.attempt(app="third")
    assert (one.kept, other.kept) == (True, False)


def test_without_keeping_every_pod_is_a_class_of_its_own() -> None:
    world = Classes(keeps=False)
    assert world.attempt(app="web") is not world.attempt(app="web")
