"""Evictions of a run that schedules a real cluster, as kube-scheduler was recorded: the last one after the others."""

from __future__ import annotations

import pytest

from schedweb.engine.commands import ObservedChange
from schedweb.engine.live import Scheduling
from schedweb.writes.writes import Result
from tests.schedweb.engine.test_restored import TERMS, Desk
from tests.schedweb.engine.worlds import Manifest, node, places, pod

IN_TURN = Scheduling("us", ("default-scheduler",), victims_in_turn=True)


def desk(*low: str, terms: Scheduling = IN_TURN) -> Desk:
    """A node that is full of these, and one pod that needs all of it."""
    high = pod("high", "900m")
    high["spec"]["priority"] = 1000
    return Desk(node("a", "1"), *(pod(each, f"{900 // len(low)}m", node_name="a") for each in low), high, terms=terms)


def answer(here: Desk, name: str, result: Result = "done") -> list[str]:
    """The last write of it, then what is written next: purpose and name."""
    row = next(each for each in here.awaited if each.write.about.name == name)
    here.awaited.remove(row)
    here.answer(row, result)
    return written(here)


def written(here: Desk) -> list[str]:
    rows = here.written("disrupt", "evict", "event")
    here.awaited += [each for each in rows if each.is_awaited]
    told = [each for each in rows if each.write.purpose != "event" or each.write.body["reason"] == "Preempted"]
    return [f"{each.write.purpose} {each.write.about.name.partition('.')[0]}" for each in told]


def gone(here: Desk, name: str) -> None:
    manifest: Manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop"}}
    here.tell(ObservedChange("deleted", manifest))


def test_the_last_one_is_told_when_the_others_were_deleted() -> None:
    here = desk("one", "two", "three")
    first, second = written(here)
    assert {first, second} < {"disrupt one", "disrupt two", "disrupt three"}
    others = [each.split()[1] for each in (first, second)]
    (last,) = {"one", "two", "three"} - set(others)
    assert answer(here, others[0]) == [f"evict {others[0]}"]
    assert answer(here, others[0]) == [f"event {others[0]}"]
    assert answer(here, others[1]) == [f"evict {others[1]}"]
    assert answer(here, others[1]) == [f"event {others[1]}", f"disrupt {last}"]
    gone(here, others[0])
    assert places(here.game)["high"] == "gated", "it is not tried before its room is coming"
    assert written(here) == []
    assert answer(here, last) == [f"evict {last}"]
    assert answer(here, last) == [f"event {last}"]
    gone(here, others[1])
    gone(here, last)
    (row,) = here.written("bind")
    assert row.write.about.name == "high"
    here.is_replayed()


def test_where_one_is_refused_the_rest_stays_and_it_is_tried_again() -> None:
    here = desk("one", "two")
    (told,) = written(here)
    first = told.split()[1]
    (last,) = {"one", "two"} - {first}
    assert answer(here, first) == [f"evict {first}"]
    # Tried again at once, from the beginning: the one that was refused comes first once more.
    assert answer(here, first, "forbidden") == [f"disrupt {first}"]
    assert answer(here, first) == [f"evict {first}"]
    assert answer(here, first) == [f"event {first}", f"disrupt {last}"]
    here.is_replayed()


def test_of_three_that_is_on_its_way_when_another_is_refused_nothing_more_is_written() -> None:
    here = desk("one", "two", "three")
    others = [each.split()[1] for each in written(here)]
    gone(here, "high")
    assert written(here) == []
    assert answer(here, others[0], "refused") == []
    assert answer(here, others[1]) == [], "it was told why, and stays"
    assert here.live._victims == {}
    assert here.live._evictions == {}


@pytest.mark.parametrize("result", ["gone", "replaced"])
def test_one_that_is_gone_makes_room(result: Result) -> None:
    here = desk("one", "two")
    (told,) = written(here)
    (last,) = {"one", "two"} - {told.split()[1]}
    assert answer(here, told.split()[1], result) == [f"disrupt {last}"]


def test_one_that_went_before_its_answer_came_makes_room() -> None:
    here = desk("one", "two")
    (told,) = written(here)
    (last,) = {"one", "two"} - {told.split()[1]}
    gone(here, told.split()[1])
    assert written(here) == [f"disrupt {last}"]


def test_a_run_from_before_writes_all_at_once() -> None:
    """As its journal numbers them."""
    assert sorted(written(desk("one", "two", terms=TERMS))) == ["disrupt one", "disrupt two"]
