"""The shadow of a followed run: judged on the state just before, told once, and without a trace in the run itself."""

from __future__ import annotations

from typing import Any

import msgspec

from schedweb.engine.batch import Gatherer
from schedweb.engine.commands import ClusterChanges, ObservedChange, command_from, plain
from schedweb.engine.frames import Seen
from schedweb.engine.judged import PLACES
from schedweb.engine.obey import Obedience
from schedweb.engine.observed import Differences
from schedweb.engine.player import Player
from schedweb.engine.real_rows import JudgementRow
from tests.schedweb.engine.test_observed import AT, BEGIN, ORDERS, SINCE, at, failing, following, node
from tests.schedweb.engine.worlds import Manifest, pod

PACKED = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}
  plugins:
    multiPoint:
      disabled: [{name: NodeResourcesBalancedAllocation}, {name: ImageLocality}]
"""
CLUSTER = [node("a"), node("b"), pod("web-0", node_name="a"), pod("new")]


def shadowed(*manifests: Manifest, text: str = "") -> Player:
    game = following(*manifests)
    if text:
        game.set_configuration(text)
    game.judgements = []
    return game


def told(game: Player, *orders: ClusterChanges) -> list[JudgementRow]:
    for number, order in enumerate(orders):
        Obedience(game).obey(order, author="prod", entry=str(number))
    return Gatherer(game).judgements()


def detail(row: JudgementRow) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(row.detail)
    return found


def test_a_difference_names_the_plugin_that_made_it() -> None:
    order = at(1, ("modified", pod("new", node_name="b")))
    (same,) = told(shadowed(*CLUSTER), order)
    assert (same.kind, same.bound, same.real_node, same.own_node, same.plugin) == ("same", True, "b", "b", "")
    (row,) = told(shadowed(*CLUSTER, text=PACKED), order)
    assert (row.kind, row.real_node, row.own_node) == ("other_node", "b", "a")
    assert (row.plugin, row.margin > 0) == ("NodeResourcesFit", True)
    assert (row.namespace, row.name, row.profile) == ("shop", "new", "default-scheduler")
    assert any(plugin == "NodeResourcesFit" and own > real for plugin, own, real in detail(row)["points"])


def test_a_tie_is_agreement_and_each_pod_is_judged_before_its_own_binding() -> None:
    game = shadowed(node("a"), node("b"), pod("one"), pod("two"))
    first, second = told(game, at(1, ("modified", pod("one", node_name="b")), ("modified", pod("two", node_name="a"))))
    assert (first.kind, detail(first)["tied"], first.own_node) == ("tie", 2, "b")
    assert (second.kind, second.own_node) == ("same", "a"), "the first one takes room by then"
    assert second.number == first.number + 1
    assert first.number // PLACES == second.number // PLACES


def test_what_the_real_scheduler_leaves_pending_stands_beside_the_bindings() -> None:
    (row,) = told(shadowed(*CLUSTER), at(1, ("modified", failing("new", "1"))))
    assert (row.kind, row.bound, row.real_node) == ("placed_here", False, "")
    (row,) = told(shadowed(node("a"), pod("new", "9")), at(1, ("modified", failing("new"))))
    assert (row.kind, row.bound) == ("pending", False)


def test_what_a_list_told_is_not_judged_nor_a_scheduler_without_profile() -> None:
    game = shadowed(*CLUSTER)
    bound = {**pod("new", node_name="b")}
    kind = msgspec.json.encode({"apiVersion": "v1", "kind": "Pod"})
    seen = [Seen("list", kind), Seen("listed", msgspec.json.encode(bound))]
    (change,) = Differences(game).of(seen)
    assert change.listed
    assert msgspec.json.encode(change).endswith(b'"listed":true}')
    (row,) = told(game, ClusterChanges(game.now, (change,)))
    assert (row.kind, row.bound) == ("not_judged", True)
    assert "in a list" in str(detail(row)["why"])

    other = pod("theirs")
    other["spec"]["schedulerName"] = "volcano"
    game = shadowed(node("a"), other)
    theirs = pod("theirs", node_name="a")
    theirs["spec"]["schedulerName"] = "volcano"
    (row,) = told(game, at(1, ("modified", theirs)))
    assert (row.kind, row.profile) == ("not_judged", "volcano")


def listed(name: str, bound: str = "", created: str = AT, **more: Any) -> ObservedChange:
    manifest = pod(name, node_name="a")
    manifest["metadata"] |= {"creationTimestamp": created, **more}
    if bound:
        condition = {"type": "PodScheduled", "status": "True", "lastTransitionTime": bound}
        manifest["status"] = {"conditions": [condition]}
    return ObservedChange("added", manifest, listed=True)


def test_pods_that_came_and_were_bound_unseen_are_counted_as_not_judged() -> None:
    static = {"apiVersion": "v1", "kind": "Node", "name": "a", "uid": "uid-a", "controller": True}
    theirs = listed("theirs")
    theirs.manifest["spec"]["schedulerName"] = "volcano"
    changes = (
        listed("unseen", bound="2023-11-14T22:13:25Z"),
        listed("no-condition"),
        theirs,
        listed("new", uid="another"),
        listed("bound-before", bound=SINCE, created=SINCE),
        listed("made-before", created=SINCE),
        listed("of-a-file", ownerReferences=[static]),
        ObservedChange("added", pod("born-with-a-node", node_name="a")),
    )
    rows = told(shadowed(*CLUSTER), ClusterChanges(at(9).at, changes))
    assert [(each.name, each.profile) for each in rows] == [
        ("unseen", "default-scheduler"),
        ("no-condition", "default-scheduler"),
        ("theirs", "volcano"),
        ("new", "default-scheduler"),
    ]
    assert {(each.kind, each.bound, each.real_node, each.own_node) for each in rows} == {("not_judged", True, "a", "")}
    assert "while nobody watched" in str(detail(rows[0])["why"])
    assert "no profile" in str(detail(rows[2])["why"])


def test_what_a_later_list_has_otherwise_is_not_judged_either() -> None:
    game = shadowed(*CLUSTER)
    (change,) = Differences(game).of([Seen("listed", msgspec.json.encode(pod("new", node_name="b")))])
    assert (change.verb, change.listed) == ("modified", True)
    (row,) = told(game, ClusterChanges(game.now, (change,)))
    assert row.kind == "not_judged"


def test_a_stored_change_of_before_there_were_lists_is_read() -> None:
    content = plain(ClusterChanges(5, (ObservedChange("added", pod("new")),)))
    assert "listed" not in content["changes"][0]
    assert command_from(content) == ClusterChanges(5, (ObservedChange("added", pod("new")),))


def test_the_run_is_the_same_with_a_shadow_and_judged_again_the_same() -> None:
    plain_run, one, two = following(*BEGIN), shadowed(*BEGIN), shadowed(*BEGIN)
    told(plain_run, *ORDERS)
    rows = told(one, *ORDERS)
    assert rows == told(two, *ORDERS) != []
    assert plain_run.judgements is None
    assert one.digest == two.digest == plain_run.digest
    assert one.position == plain_run.position


def test_a_pod_that_is_bound_there_may_stay_pending_here() -> None:
    game = shadowed(node("a"), pod("new", "9"))
    (row,) = told(game, at(1, ("modified", pod("new", "9", node_name="a"))))
    assert (row.kind, row.own_node, row.plugin) == ("stays_pending", "", "NodeResourcesFit")
    assert detail(row)["reasons"] == ["Insufficient cpu"]
