"""What the page of a pod says when its PodGroup of scheduling.k8s.io was tried and did not run."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.advice.refusals import of_gang
from tests.schedweb.engine.crowded import ZONE
from tests.schedweb.engine.test_pod_groups import GROUPS, gang
from tests.schedweb.engine.worlds import Manifest, node, pod
from tests.schedweb.runs.conftest import prepared
from tests.schedweb.runs.test_api import get

NEEDS = "Its pod group shop/g needs 3 pods at once"


def answers(
    user: User, client: Client, objects: list[Manifest], *names: str, configuration: str = GROUPS
) -> dict[str, tuple[str, str]]:
    """After the first cycle of the group; it would be tried for ever."""
    game = prepared(user, objects, configuration=configuration)
    game.command("step", what="cycle")
    game.play()
    pages = {name: get(client, f"/api/v1/runs/{game.id}/pods/shop/{name}/") for name in names}
    return {name: (page["answer"]["headline"], page["answer"]["detail"]) for name, page in pages.items()}


def test_who_found_a_node_is_told_who_did_not_and_why(operator: User, client: Client) -> None:
    said = answers(operator, client, [node("n1", "2"), gang(3), *map(of_gang, "abc")], "a", "b", "c")
    headline = f"{NEEDS}; 2 of them found a node, shop/c found none."
    assert said["a"] == (headline, "It found n1, and did not keep it. Of shop/c: No node has room for it.")
    assert said["b"] == said["a"]
    assert said["c"][0] == f"{NEEDS}; 2 of them found a node, and beside these there is none for this one."
    assert said["c"][1].startswith("No node has room for it.")


def test_one_that_is_too_large_is_named(operator: User, client: Client) -> None:
    objects = [node("n1", "2"), gang(3), of_gang("a"), of_gang("b"), of_gang("c", "64")]
    said = answers(operator, client, objects, "a", "c")
    assert said["a"][1].endswith("Of shop/c: No node is that large: it asks for 64 cpu, the largest, n1, has 2 cpu.")
    assert said["c"][1].startswith("No node is that large: ")


def test_where_none_finds_a_node_each_is_told_why(operator: User, client: Client) -> None:
    said = answers(operator, client, [node("n1", "2"), gang(3), *(of_gang(name, "5") for name in "abc")], "a")
    assert said["a"][0] == "No node is that large: it asks for 5 cpu, the largest, n1, has 2 cpu."
    assert said["a"][1].endswith(f"{NEEDS}, and none of them found a node.")


def test_who_could_not_be_tried_is_named(operator: User, client: Client) -> None:
    objects = [node("n1"), gang(3), of_gang("a"), of_gang("b", "1", "later", "more"), of_gang("c")]
    said = answers(operator, client, objects, "a", "c")
    assert said["a"] == (
        f"{NEEDS}; 2 of them found a node, shop/b could not be tried.",
        "It found n1, and did not keep it. shop/b has the scheduling gates later and more.",
    )
    assert said["c"] == said["a"]


def test_members_that_have_a_node_already_count(operator: User, client: Client) -> None:
    there = of_gang("a")
    there["spec"]["nodeName"] = "n1"
    said = answers(operator, client, [node("n1", "2"), gang(3), there, of_gang("b"), of_gang("c")], "b", "c")
    assert said["b"][0] == f"{NEEDS}; 2 of them found a node, shop/c found none."
    assert said["c"][0].startswith(f"{NEEDS}; 2 of them found a node, and beside these")


def test_a_group_for_which_pods_are_evicted_waits_for_them(operator: User, client: Client) -> None:
    members = [of_gang(name) for name in "abc"]
    for each in members:
        each["spec"]["priority"] = 10
    low = pod("low", "3", node_name="n1")
    said = answers(operator, client, [node("n1", "3"), gang(3), low, *members], "a")
    assert said["a"] == ("Its pod group shop/g waits for pods that are evicted for it to leave.", "")


def test_a_group_that_finds_room_in_no_placement(operator: User, client: Client) -> None:
    group = gang(3)
    group["spec"]["schedulingConstraints"] = {"topology": [{"key": ZONE}]}
    nodes = [node(name, "2", **{ZONE: name}) for name in ("n1", "n2")]
    placing = GROUPS.replace("=true\n", "=true,TopologyAwareWorkloadScheduling=true\n", 1)
    said = answers(operator, client, [*nodes, group, *map(of_gang, "abc")], "a", configuration=placing)
    assert said["a"] == (f"{NEEDS} in one placement; in none of 2 so many find a node.", "")


@pytest.mark.parametrize(
    ("language", "words"), [("uk", "Його групі shop/g потрібно"), ("zh-CN", "其 Pod 组 shop/g 同时需要 3 个 Pod")]
)
def test_in_other_languages(operator: User, client: Client, language: str, words: str) -> None:
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = language
    said: Any = answers(operator, client, [node("n1", "2"), gang(3), *map(of_gang, "abc")], "a", "c")
    for headline, _ in said.values():
        assert re.search(words, headline)
        assert "needs" not in headline


def test_pods_without_a_group_are_told_of_none(operator: User, client: Client) -> None:
    said = answers(operator, client, [node("n1", "2"), pod("a", "5")], "a")
    assert "pod group" not in " ".join(said["a"])
