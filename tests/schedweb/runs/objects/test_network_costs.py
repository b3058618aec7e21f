"""The costs of a NetworkTopology as tables, and who talks to whom in an AppGroup, beside their YAML."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from schedweb.runs.objects.network_costs import MOST_PLACES, costs_of, dependencies_of
from schedweb.snapshots.samples.shared import shared_cluster
from tests.schedweb.engine.worlds import DEFAULT
from tests.schedweb.runs.conftest import prepared
from tests.schedweb.runs.test_api import check_shape, get


def network(*origins: tuple[str, dict[str, int]]) -> dict[str, Any]:
    listed = [
        {"origin": name, "costList": [{"destination": to, "networkCost": cost} for to, cost in costs.items()]}
        for name, costs in origins
    ]
    topology = {"topologyKey": "topology.kubernetes.io/zone", "originList": listed}
    return {
        "apiVersion": "networktopology.diktyo.x-k8s.io/v1alpha1",
        "kind": "NetworkTopology",
        "metadata": {"name": "costs", "namespace": "shop"},
        "spec": {"weights": [{"name": "UserDefined", "topologyList": [topology]}]},
    }


@pytest.mark.django_db(transaction=True)
def test_the_sample_has_both(operator: User, client: Client) -> None:
    cluster = shared_cluster()
    game = prepared(operator, list(cluster.objects), configuration=DEFAULT)
    game.command("step", what="point")
    game.play()

    def shown(kind: str, name: str) -> dict[str, Any]:
        body = get(client, f"/api/v1/runs/{game.id}/objects/yaml/?kind={kind}&namespace=shop&name={name}")
        check_shape("/api/v1/runs/{run}/objects/yaml/", body)
        found: dict[str, Any] = body
        return found

    topology = shown("NetworkTopology", "nt-default")
    [table] = topology["costs"]
    zones = ["eu-1a", "eu-1b", "eu-1c"]
    assert (table["topology_key"], table["destinations"]) == ("topology.kubernetes.io/zone", zones)
    assert [row["origin"] for row in table["rows"]] == zones
    assert [row["costs"] for row in table["rows"]] == [[None, 4, 12], [4, None, 9], [12, 9, None]]
    assert (table["more"], topology["dependencies"]) == (0, [])
    group = shown("AppGroup", "checkout")
    assert group["dependencies"] == [{"workload": "basket", "on": "pricing", "max_cost": 5, "min_bandwidth": "100Mi"}]
    assert group["costs"] == []


def test_a_place_that_is_only_a_destination_has_a_row_and_the_last_of_two_costs_counts() -> None:
    [table] = costs_of(network(("a", {"b": 1}), ("a", {"b": 7, "c": 2})))
    assert table["destinations"] == ["a", "b", "c"]
    assert [row["costs"] for row in table["rows"]] == [[None, 7, 2], [None, None, None], [None, None, None]]


def test_very_many_places_are_cut() -> None:
    [table] = costs_of(network(*((f"z{number:03}", {"z000": number}) for number in range(MOST_PLACES + 3))))
    assert (len(table["rows"]), len(table["rows"][0]["costs"]), table["more"]) == (MOST_PLACES, MOST_PLACES, 3)


def test_other_objects_have_neither() -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}
    assert (costs_of(pod), dependencies_of(pod)) == ([], [])
