"""What is used of ElasticQuotas, over the API: by namespace, and along a tree."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from framework.configuration.presets import preset
from framework.objects.catalogue import QUOTA_NAME, QUOTA_PARENT
from tests.schedweb.engine.worlds import DEFAULT, node, pod
from tests.schedweb.runs.conftest import Game, played_out
from tests.schedweb.runs.records.test_moments_api import made
from tests.schedweb.runs.test_api import check_shape, get

pytestmark = pytest.mark.django_db(transaction=True)


def quota(name: str, least: str, most: str | None, namespace: str = "shop", parent: str = "") -> dict[str, Any]:
    labels = {QUOTA_PARENT: parent} if parent else {}
    spec = {"min": {"cpu": least}, **({} if most is None else {"max": {"cpu": most}})}
    return {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "ElasticQuota",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": spec,
    }


def played(operator: User, configuration: str, *objects: dict[str, Any]) -> Game:
    pods = [pod("a", "1500m", **{QUOTA_NAME: "web"}), pod("b", "1", **{QUOTA_NAME: "jobs"}), pod("c", "9")]
    return played_out(operator, [node("n", "8"), *objects, *pods], configuration=configuration)


def text_of(id_: str) -> str:
    chosen = preset(id_)
    assert chosen is not None
    return chosen.text


def bars(game: Game, client: Client, key: str = "") -> tuple[str, dict[str, list[tuple[Any, ...]]]]:
    body = get(client, f"/api/v1/runs/{key or game.id}/objects/quotas/")
    check_shape("/api/v1/runs/{run}/objects/quotas/", body)

    def told(row: dict[str, Any]) -> tuple[Any, ...]:
        amounts = [None if row[name] is None else row[name]["text"] for name in ("used", "min", "max", "share")]
        return (row["depth"], row["name"], *amounts)

    return body["plugin"], {one["name"]: [told(row) for row in one["quotas"]] for one in body["resources"]}


def test_by_namespace(operator: User, client: Client) -> None:
    game = played(operator, text_of("quotas"), quota("shop", "2", "6"), quota("lab", "4", None, "lab"))
    plugin, found = bars(game, client)
    assert plugin == "CapacityScheduling"
    assert found["cpu"] == [(0, "lab", "0", "4", None, None), (0, "shop", "2500m", "2", "6", None)]
    body = get(client, f"/api/v1/runs/{game.id}/objects/quotas/")["resources"][0]
    assert (body["used"]["text"], body["min"]["text"]) == ("2500m", "6")
    beginning = made(client, game, 0)
    assert bars(game, client, beginning)[1]["cpu"][1] == (0, "shop", "0", "2", "6", None)


def test_along_a_tree(operator: User, client: Client) -> None:
    tree = [quota("all", "4", "6"), quota("web", "1", "2", parent="all"), quota("jobs", "1", None, parent="all")]
    game = played(
        operator, text_of("quota-tree"), *tree, quota("x", "1", "1", "x", "y"), quota("y", "1", "1", "y", "x")
    )
    plugin, found = bars(game, client)
    assert plugin == "ElasticQuotaTree"
    rows = {row[1]: row for row in found["cpu"]}
    assert [row[1] for row in found["cpu"][:3]] == ["all", "jobs", "web"]
    assert [rows[name][:5] for name in ("all", "jobs", "web")] == [
        (0, "all", "2500m", "4", "6"),
        (1, "jobs", "1", "1", None),
        (1, "web", "1500m", "1", "2"),
    ]
    assert rows["web"][5] == "1500m"
    # Each names the other as its parent: of the two one is taken for the root, whichever, and both are listed once.
    assert sorted(row[1] for row in found["cpu"]) == ["all", "jobs", "web", "x", "y"]


def test_without_a_plugin_that_holds_to_them(operator: User, client: Client) -> None:
    game = played(operator, DEFAULT, quota("shop", "2", "2"))
    assert bars(game, client) == ("", {"cpu": [(0, "shop", "2500m", "2", "2", None)]})


def test_of_a_run_without_quotas(operator: User, client: Client) -> None:
    assert bars(played(operator, text_of("quotas")), client) == ("CapacityScheduling", {})
