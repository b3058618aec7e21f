"""Every cause of `causes`, imported, played and read as a browser reads it; what it says is checked a second time."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.schedweb.runs.conftest import Game, played_out
from tests.schedweb.runs.pending.causes import Cause, causes
from tests.schedweb.runs.pending.causes.random_clusters import random_cluster
from tests.schedweb.runs.pending.second_reading import Cluster, untrue
from tests.schedweb.runs.pending.second_reading.cluster import quantity, words

CAUSES = list(causes())
SEEDS = (28, 52, 57, 95, 98, 118, 129, *range(8))
"""The first seven said something false once."""


def read(client: Client, game: Game) -> tuple[dict[str, Any], dict[str, str]]:
    """(the page of shop/it, namespace/name → node of all pods that have one)."""
    page = client.get(f"/api/v1/runs/{game.id}/pods/shop/it/").json()
    pods = client.get(f"/api/v1/runs/{game.id}/pods/?limit=200").json()["results"]
    return page, {f"{each['namespace']}/{each['name']}": each["node"] for each in pods if each.get("node")}


def filter_groups(client: Client, game: Game, page: dict[str, Any]) -> list[dict[str, Any]]:
    """Of the latest attempt of shop/it; none when it has none."""
    numbers = [each["number"] for each in page["attempt_list"]]
    if not numbers:
        return []
    latest = max(numbers)
    groups: list[dict[str, Any]] = client.get(f"/api/v1/runs/{game.id}/attempts/{latest}/filter/").json()["groups"]
    return groups


NEAREST = re.compile(
    r"free (?P<unit>\S+); the nearest, (?P<node>\S+), has (?P<free>[\d.,]+?(?: \wi)?)\.(?= |$)"
    r"|the nearest, (?P<lacking>\S+), lacks (?P<lacks>.+?)\.(?= |$)"
    r"|Of those without room (?P<full>\S+) is nearest, short of (?P<short>.+?)\.(?= |$)"
)


def named_as_in_the_table(said: str, groups: list[dict[str, Any]]) -> None:
    """The nearest node of a sentence is the table's first, or the first without room, and lacks there what it says."""
    for found in NEAREST.finditer(said):
        row = groups[0]["nodes"][0]
        if found["full"]:
            row = next(group for group in groups if group["plugin"] == "NodeResourcesFit")["nodes"][0]
        assert row["name"] == (found["node"] or found["lacking"] or found["full"]), said
        amounts = {each["name"]: each for each in row["resources"]}
        if found["node"]:
            unit = next(name for name in amounts if name == found["unit"] or ("GPU" in found["unit"] and "gpu" in name))
            assert whole(unit, found["free"]) == amounts[unit]["free"], said
        else:
            parts = [part.rpartition(" ") for part in words(found["lacks"] or found["short"])]
            told = {"pods" if unit in ("pod", "pods") else unit: figure for figure, _, unit in parts}
            short = {each["name"]: each["short"] for each in row["resources"] if each["short"]}
            assert {name: whole(name, figure) for name, figure in told.items()} == short, said


def whole(resource: str, figure: str) -> int:
    return round(quantity(figure) * (1000 if resource == "cpu" else 1))


def test_there_is_a_cause_for_every_refusal() -> None:
    names = [cause.name for cause in CAUSES]
    assert len(names) == len(set(names)) >= 90


@pytest.mark.parametrize("cause", CAUSES, ids=[cause.name for cause in CAUSES])
def test_the_first_sentence_of_a_cause(cause: Cause, operator: User, client: Client) -> None:
    game = played_out(operator, cause.objects, configuration=cause.configuration)
    page, places = read(client, game)
    answer = page["answer"]
    assert (answer["headline"], answer["detail"]) == (cause.headline, cause.detail)
    cluster = Cluster(cause.objects, places, cause.profile_wants)
    said = f"{answer['headline']} {answer['detail']}".strip()
    assert list(untrue(cluster, cause.objects[-1], said)) == []
    groups = filter_groups(client, game, page)
    for group in groups:
        if "has room for it" in group["nearest_note"]:
            assert cluster.roomy(cause.objects[-1], group["nodes"][0]["name"]), group
    named_as_in_the_table(said, groups)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_said_in_random_clusters_is_true(seed: int, operator: User, client: Client) -> None:
    objects = random_cluster(random.Random(seed))
    game = played_out(operator, objects)
    page, places = read(client, game)
    assert page["answer"]["kind"] == "pending"
    said = f"{page['answer']['headline']} {page['answer']['detail']}".strip()
    named_as_in_the_table(said, filter_groups(client, game, page))
    assert list(untrue(Cluster(objects, places), objects[-1], said)) == [], said
