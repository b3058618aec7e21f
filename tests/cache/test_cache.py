"""The cache's three pod states, ghosts, and what a snapshot sees.

Rules: docs/semantics/cache.md#pod-states, docs/semantics/cache.md#nodes, docs/semantics/cache.md#snapshot.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from framework.cache import Cache, CacheError
from framework.columns import Snapshot
from framework.interface import PodInfo
from tests.builders import make_node, make_pod

UID = "pods.default.p"
Setup = Callable[[Cache], None]


def placed(node: str = "n1", name: str = "p") -> PodInfo:
    return PodInfo(make_pod(name, requests={"cpu": "1"}, node_name=node))


def absent(cache: Cache) -> None:
    pass


def assumed(cache: Cache) -> None:
    cache.assume_pod(placed())


def added(cache: Cache) -> None:
    cache.add_pod(placed())


@pytest.mark.parametrize(
    ("setup", "call", "want"),
    [
        (assumed, lambda c: c.assume_pod(placed()), f"pod {UID}(default/p) is in the cache, so can't be assumed"),
        (added, lambda c: c.assume_pod(placed()), f"pod {UID}(default/p) is in the cache, so can't be assumed"),
        (
            assumed,
            lambda c: c.forget_pod(placed("n2").pod),
            f"pod {UID}(default/p) was assumed on n2 but assigned to n1",
        ),
        (added, lambda c: c.forget_pod(placed().pod), f"pod {UID}(default/p) wasn't assumed so cannot be forgotten"),
        (added, lambda c: c.add_pod(placed()), f"pod {UID}(default/p) was already in added state"),
        (
            absent,
            lambda c: c.update_pod(placed().pod, placed()),
            f"pod {UID}(default/p) is not added to scheduler cache, so cannot be updated",
        ),
        (
            assumed,
            lambda c: c.update_pod(placed().pod, placed()),
            f"assumed pod {UID}(default/p) should not be updated",
        ),
        (
            absent,
            lambda c: c.remove_pod(placed().pod),
            f"pod {UID}(default/p) is not found in scheduler cache, so cannot be removed from it",
        ),
        (absent, lambda c: c.remove_node("n1"), "node n1 is not found"),
    ],
)
def test_calls_that_do_not_fit_the_state_say_what_upstream_says(setup: Setup, call: Setup, want: str) -> None:
    cache = Cache()
    setup(cache)
    with pytest.raises(CacheError) as refused:
        call(cache)
    assert str(refused.value) == want


def test_forgetting_an_absent_pod_is_fine() -> None:
    Cache().forget_pod(placed().pod)


class Watched:
    """A cache with the snapshot that follows it."""

    def __init__(self) -> None:
        self.cache = Cache()
        self.snapshot = Snapshot()

    def names(self) -> list[str]:
        self.cache.update_snapshot(self.snapshot)
        return [info.name for info in self.snapshot.list()]

    def pods(self, node: str) -> list[str]:
        self.cache.update_snapshot(self.snapshot)
        info = self.snapshot.get(node)
        return [] if info is None else [pod.pod.name for pod in info.pods]


def test_a_confirmed_pod_goes_to_the_end_of_its_node() -> None:
    """Upstream removes the assumed pod, the last one moves into the hole, and the bound pod is appended."""
    watched = Watched()
    watched.cache.set_node(make_node("n1"))
    for name in ("first", "second", "third"):
        watched.cache.assume_pod(placed(name=name))
    assert watched.pods("n1") == ["first", "second", "third"]
    watched.cache.add_pod(placed(name="first"))
    assert watched.pods("n1") == ["third", "second", "first"]
    assert watched.cache.assumed_count == 2


def test_a_pod_confirmed_before_anybody_looked_is_there_once() -> None:
    watched = Watched()
    watched.cache.set_node(make_node("n1"))
    watched.cache.assume_pod(placed())
    watched.cache.add_pod(placed())
    assert watched.pods("n1") == ["p"]
    assert watched.cache.assumed_count == 0


def test_ghosts_are_invisible_until_their_node_is_there() -> None:
    watched = Watched()
    watched.cache.add_pod(placed())
    assert watched.names() == []
    watched.cache.set_node(make_node("n1"))
    assert watched.pods("n1") == ["p"]
    watched.cache.remove_node("n1")
    assert watched.names() == []
    watched.cache.remove_pod(placed().pod)
    watched.cache.set_node(make_node("n1"))
    assert watched.pods("n1") == []


def test_the_list_is_rebuilt_only_when_the_set_of_nodes_changed() -> None:
    watched = Watched()
    for name in ("n1", "n2"):
        watched.cache.set_node(make_node(name))
    assert watched.names() == ["n1", "n2"]
    watched.cache.remove_node("n1")
    watched.cache.set_node(make_node("n1"))
    assert watched.names() == ["n1", "n2"], "went and came back between two cycles: keeps its place"
    watched.cache.remove_node("n1")
    assert watched.names() == ["n2"]
    watched.cache.set_node(make_node("n1"))
    assert watched.names() == ["n2", "n1"]


def test_a_snapshot_does_not_see_what_comes_after_it() -> None:
    watched = Watched()
    watched.cache.set_node(make_node("n1"))
    assert watched.pods("n1") == []
    watched.cache.assume_pod(placed())
    info = watched.snapshot.get("n1")
    assert info is not None
    assert info.pods == []
