"""Objects of the catalogue are edited in a run, as text: by whom, what is refused and where, and what it changes."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client

from framework.configuration.presets import preset
from schedweb.runs.models import JournalEntry, Run
from schedweb.sentences import translated
from tests.schedweb.engine.worlds import node, pod
from tests.schedweb.runs.conftest import Game, played_out
from tests.schedweb.runs.records.test_moments_api import made
from tests.schedweb.runs.test_api import check_shape, get
from tests.schedweb.saying import LETTERS

pytestmark = pytest.mark.django_db(transaction=True)
QUOTA: dict[str, Any] = {
    "apiVersion": "scheduling.x-k8s.io/v1alpha1",
    "kind": "ElasticQuota",
    "metadata": {"name": "shop", "namespace": "shop"},
    "spec": {"min": {"cpu": "2"}, "max": {"cpu": "2"}},
}
NAMED = {"kind": "ElasticQuota", "namespace": "shop", "name": "shop"}


@pytest.fixture
def game(operator: User) -> Game:
    """One of two pods is over the quota of its namespace."""
    chosen = preset("quotas")
    assert chosen is not None
    pods = [pod("first", "1500m"), pod("second", "1500m")]
    return played_out(operator, [node("a", "8"), QUOTA, *pods], configuration=chosen.text)


def shown(game: Game, client: Client, run: str = "") -> dict[str, Any]:
    found: dict[str, Any] = get(
        client, f"/api/v1/runs/{run or game.id}/objects/yaml/?kind=ElasticQuota&namespace=shop&name=shop"
    )
    return found


def put(game: Game, client: Client, text: str, status: int = 202, **more: Any) -> Any:
    """With `resource_version` where it is to be refused if the object has changed."""
    body = {"type": "change", "verb": "replace", "manifest": text, **NAMED, "client_id": str(uuid4()), **more}
    answer = client.post(f"/api/v1/runs/{game.id}/commands/", body, content_type="application/json")
    assert answer.status_code == status, answer.content
    return answer.json()


def done(game: Game, receipt: dict[str, Any]) -> JournalEntry:
    game.command("play", speed="max")
    game.play()
    return JournalEntry.objects.get(pk=receipt["id"])


def test_a_quota_that_is_raised_lets_the_pod_in(game: Game, client: Client) -> None:
    assert game.places() == {"first": "bound", "second": "unschedulable"}
    body = shown(game, client)
    check_shape("/api/v1/runs/{run}/objects/yaml/", body)
    assert body["editable"] is True
    receipt = put(game, client, body["yaml"].replace("cpu: '2'", "cpu: '4'"))
    assert receipt["warnings"] == []
    assert done(game, receipt).status == "applied"
    assert game.places() == {"first": "bound", "second": "bound"}
    after = shown(game, client)["yaml"]
    assert after.count("cpu: '4'") == 2


def test_one_that_has_changed_since_it_was_read_is_not_written_over(game: Game, client: Client) -> None:
    for first, second in (("2", "3"), ("3", "4")):
        read = shown(game, client)
        version, mine = read["version"], read["yaml"].replace(f"cpu: '{first}'", f"cpu: '{second}'")
        assert (version == "") == (first == "2")
        assert done(game, put(game, client, mine, resource_version=version)).status == "applied"
        late = done(game, put(game, client, read["yaml"], resource_version=version))
        assert late.status == "refused"
        assert "ElasticQuota shop/shop has changed since it was read" in str(translated(late.text))
        assert shown(game, client)["yaml"].count(f"cpu: '{second}'") == 2
    # Without the version it is written over, as an API server does.
    assert done(game, put(game, client, read["yaml"])).status == "applied"
    assert shown(game, client)["yaml"].count("cpu: '3'") == 2


def test_what_is_wrong_is_told_with_its_line_and_nothing_is_stored(game: Game, client: Client) -> None:
    read = shown(game, client)["yaml"]
    before = JournalEntry.objects.count()
    error = put(game, client, read.replace("cpu: '2'", "cpu: two"), 422)["error"]
    lines = [number for number, line in enumerate(read.splitlines(), 1) if "cpu: '2'" in line]
    assert (error["code"], error["path"], error["line"]) == ("invalid_manifest", "manifest", lines[0])
    assert [(each["path"], each["line"]) for each in error["problems"]] == [
        ("spec.min[cpu]", lines[0]),
        ("spec.max[cpu]", lines[1]),
    ]
    assert "quantities must match" in error["problems"][0]["message"]
    assert put(game, client, "a: [1\nb: }", 422)["error"]["line"] == 2
    assert JournalEntry.objects.count() == before
    assert shown(game, client)["yaml"] == read


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("kind: ElasticQuota", "kind: PodGroup", "kind"),
        ("name: shop", "name: other", "metadata.name"),
        ("namespace: shop", "namespace: other", "metadata.namespace"),
    ],
)
def test_another_object_is_not_changed_by_mistake(game: Game, client: Client, old: str, new: str, path: str) -> None:
    read = shown(game, client)["yaml"]
    [problem] = put(game, client, read.replace(f" {old}", f" {new}").replace(f"\n{old}\n", f"\n{new}\n"), 422)["error"][
        "problems"
    ]
    assert problem["path"] == path
    assert new in read.replace(old, new).splitlines()[problem["line"] - 1]


def test_unknown_fields_are_told_and_decide_nothing(game: Game, client: Client) -> None:
    receipt = put(game, client, shown(game, client)["yaml"].replace("spec:", "spec:\n  mix: {cpu: 1}"))
    assert ["mix" in warning for warning in receipt["warnings"]] == [True]


def test_who_looks_only_does_not_edit(game: Game, client: Client, viewer: User) -> None:
    looks = Client()
    looks.force_login(viewer)
    put(game, looks, shown(game, client)["yaml"], 403)


def test_only_what_the_catalogue_has_is_offered_and_only_where_it_would_be_taken(game: Game, client: Client) -> None:
    assert shown(game, client, made(client, game, game.run.position))["editable"] is False
    Run.objects.filter(pk=game.id).update(follows="prod")
    assert shown(game, client)["editable"] is False
    assert put(game, client, shown(game, client)["yaml"], 409)["error"]["code"] == "follows"
    Run.objects.filter(pk=game.id).update(follows="", state=Run.State.STOPPED)
    assert shown(game, client)["editable"] is False


def test_a_priority_class_is_no_object_of_the_catalogue(operator: User, client: Client) -> None:
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 5}
    game = played_out(operator, [node("a"), high])
    assert get(client, f"/api/v1/runs/{game.id}/objects/yaml/?kind=PriorityClass&name=high")["editable"] is False


@pytest.mark.parametrize("language", LETTERS)
def test_refusals_are_in_the_readers_language(game: Game, client: Client, language: str) -> None:
    read = shown(game, client)["yaml"].replace("  name: shop", "  name: other")
    body = json.dumps({"type": "change", "verb": "replace", "manifest": read, **NAMED})
    answer = client.post(
        f"/api/v1/runs/{game.id}/commands/",
        body,
        content_type="application/json",
        headers={"accept-language": language},
    )
    assert LETTERS[language].search(answer.json()["error"]["message"])
