"""First sentences about pods that the plugins after koordinator keep out, of runs that were really played."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User

from framework.configuration.presets import preset
from schedweb.runs.models import PodRecord
from schedweb.runs.pods.page import pod_body
from schedweb.runs.records.runs import run_get
from tests.advice.test_koordinator_remedies import OVER_MAX, load, quota, reservation
from tests.schedweb.engine.worlds import Manifest, node, pod
from tests.schedweb.runs.conftest import played_out

TREE_AGAIN = "The pod is tried again when its ElasticQuotas have room: when pods go, nodes come or a quota changes."


def answer(operator: User, id_: str, objects: list[Manifest], name: str) -> tuple[str, str]:
    chosen = preset(id_)
    assert chosen is not None
    game = played_out(operator, objects, configuration=chosen.text)
    record = PodRecord.objects.get(run=game.run, name=name, node="")
    body: dict[str, Any] = pod_body(run_get(game.run.pk), record.namespace, record.name)
    return body["answer"]["headline"], body["answer"]["detail"]


def test_which_node_is_least_busy_and_how_busy_it_may_be(operator: User) -> None:
    headline, detail = answer(operator, "load-aware", [node("a"), node("b"), load(a=70, b=60), pod("x", cpu="1")], "x")
    assert headline == "Every node that it may use is too busy, by its measured load."
    assert detail.startswith(
        "Nearest is b: 60 % of its cpu is in use and would be 81 % with this pod, of 65 % allowed. "
        "The pod is tried again when the load changes"
    )
    assert "leaves" not in detail


def test_which_quota_on_the_way_up_is_short_and_why(operator: User) -> None:
    assert answer(operator, "quota-tree", OVER_MAX, "x") == (
        "web may use 3 cpu at most; it uses 3, and this pod asks for 2.",
        f"It is the max of ElasticQuota web. {TREE_AGAIN}",
    )


def test_of_what_is_shared_out_there_is_not_enough(operator: User) -> None:
    others = {**pod("y", cpu="6", node_name="a"), "metadata": {"name": "y", "namespace": "teams", "uid": "y"}}
    shared = [
        node("a", cpu="8"),
        quota("team", "1", "8", weight="1"),
        {**quota("ops", "6", "8"), "metadata": {"name": "ops", "namespace": "teams"}},
        quota("web", "0", "8", parent="team"),
        pod("p", cpu="1", node_name="a"),
        others,
        pod("x", cpu="2"),
    ]
    assert answer(operator, "quota-tree", shared, "x") == (
        "The share of team is 2 cpu now; it uses 1, and this pod asks for 2.",
        "It is guaranteed 1 cpu; what nobody is guaranteed goes by weight to all that ask for it. "
        f"web is below it in the tree of quotas. {TREE_AGAIN}",
    )


def test_which_reservation_holds_what_a_pod_asks_for(operator: User) -> None:
    objects = [node("a", cpu="8"), reservation("r", cpu="6"), pod("x", cpu="3")]
    assert answer(operator, "reservations", objects, "x") == (
        "What it asks for is held by reservations, on every node that it may use.",
        "Reservation r still holds 6 cpu on a. The pod is tried again when a Reservation ends or is used up, when pods "
        "go, or when nodes come.",
    )


def test_what_is_the_matter_with_the_reservation_that_a_pod_names(operator: User) -> None:
    asking = pod("x", cpu="3")
    asking["metadata"]["annotations"] = {"scheduling.koordinator.sh/reservation-affinity": '{"name": "r"}'}
    again = "The pod is tried again when a Reservation that it may use comes, or has more left."
    headline, detail = answer(operator, "reservations", [node("a"), asking], "x")
    assert headline == "It must use a reservation, and no node that it may use has one for it."
    assert detail.startswith(f"It names Reservation r, which does not exist. {again}")
