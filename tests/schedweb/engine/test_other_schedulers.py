"""Which other schedulers are seen to bind pods onto the nodes of a run that schedules a real cluster."""

from __future__ import annotations

import pickle
from typing import Any

from schedweb.engine import other_schedulers
from schedweb.engine.batch import Gatherer
from schedweb.engine.commands import ObservedChange
from schedweb.engine.live import LiveCluster, Scheduling
from tests.schedweb.engine.test_restored import Desk
from tests.schedweb.engine.worlds import START, Manifest, node, pod

LATER = "2023-11-14T22:13:21Z"
"""A second after the run began."""
EARLIER = "2023-11-14T22:13:19Z"


def theirs(name: str, on: str = "", *, scheduler: str = "batch", created: str = LATER, **metadata: Any) -> Manifest:
    made = pod(name, node_name=on)
    made["spec"]["schedulerName"] = scheduler
    made["metadata"] |= {"resourceVersion": "900", "creationTimestamp": created, **metadata}
    return made


def desk(**terms: Any) -> Desk:
    nodes = [node("a", pool="ours"), node("b", pool="theirs")]
    return Desk(*nodes, terms=Scheduling("us", ("default-scheduler",), **terms))


def counts(found: Desk) -> dict[str, int]:
    return {name: row.count for name, row in found.live.others.seen.items()}


def test_pods_of_other_schedulers_are_counted_when_they_get_their_node_and_no_more_than_once() -> None:
    table = desk()
    table.tell(ObservedChange("added", theirs("p1")))
    assert counts(table) == {}
    table.tell(ObservedChange("modified", theirs("p1", "a")))
    table.tell(ObservedChange("added", theirs("p2", "b")), ObservedChange("added", theirs("p3", "b", scheduler="gpu")))
    assert counts(table) == {"batch": 2, "gpu": 1}
    table.tell(ObservedChange("modified", theirs("p1", "a", labels={"changed": "yes"})))
    assert counts(table) == {"batch": 2, "gpu": 1}
    assert table.live.others.seen["batch"].last_at > START
    table.tell(ObservedChange("deleted", theirs("p1", "a")), ObservedChange("added", theirs("p1", "a", uid="new")))
    assert counts(table)["batch"] == 3, "another pod has this name now"
    table.is_replayed()


def test_what_was_there_before_kubelets_own_pods_and_ours_are_not_counted() -> None:
    table = desk()
    owner = {"apiVersion": "v1", "kind": "Node", "name": "a", "uid": "uid-a", "controller": True}
    table.tell(
        ObservedChange("added", theirs("old", "a", created=EARLIER)),
        ObservedChange("added", theirs("static", "a", ownerReferences=[owner])),
        ObservedChange("added", theirs("mine", "a", scheduler="default-scheduler")),
    )
    assert counts(table) == {}


def test_only_nodes_that_the_run_schedules_to_count() -> None:
    table = desk(node_selector={"pool": "ours"})
    table.tell(*(ObservedChange("added", theirs(f"on-{on}", on)) for on in ("a", "b", "unknown")))
    assert counts(table) == {"batch": 1}


def test_a_batch_has_all_of_them_where_something_is_new_and_names_have_an_end() -> None:
    table = desk()
    gatherer = Gatherer(table.game)
    assert gatherer.of_real_cluster()["others"] is None
    for number in range(other_schedulers.MOST + 2):
        table.tell(ObservedChange("added", theirs(f"p{number}", "a", scheduler=f"s{number}")))
    assert len(gatherer.of_real_cluster()["others"]) == other_schedulers.MOST
    assert gatherer.of_real_cluster()["others"] is None
    table.tell(ObservedChange("added", theirs("again", "a", scheduler="s1")))
    assert {row.scheduler: row.count for row in gatherer.of_real_cluster()["others"]}["s1"] == 2


def test_a_checkpoint_from_before_knows_none() -> None:
    live = desk().live
    state = {name: value for name, value in live.__dict__.items() if name not in ("others", "_groups")}
    again = LiveCluster.__new__(LiveCluster)
    again.__setstate__(pickle.loads(pickle.dumps({"terms": state["terms"]})))
    assert again.others.seen == {}
