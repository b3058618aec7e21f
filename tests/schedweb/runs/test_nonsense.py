"""Nonsense in every part of every address and body is refused with a sentence, or finds nothing; no failure of ours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from drf_spectacular.generators import SchemaGenerator

from schedweb.accounts.roles import Role
from schedweb.accounts.services import account_create
from tests.schedweb.runs.conftest import Game

pytestmark = pytest.mark.django_db(transaction=True)

ZERO, HALF = "\0", "\ud800"
IN_QUERIES = (ZERO, "9" * 30, str(2**63), "-1", "x" * 5000, "[", "%", "{x}", "0")
IN_PATHS = ("%00", "9" * 30, "%ed%a0%80", "x" * 3000)
POSITIONS = ("0", "1", "999999999999999")
IN_BODIES: tuple[Any, ...] = (
    ZERO, HALF, HALF + "a: b", 10**30, -1, 1.5, None, True, [], {}, [None], [1], [{}], [[HALF]], {"a": HALF}, {ZERO: 1},
    "x" * 5000,
)  # fmt: skip
BODIES = (b"", b"[]", b"null", b"1", b'{"a":', b"\xff", b'{"a":NaN}', b"[" * 100_000)
POD = 'apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\nspec: {containers: [{name: c, image: ""}]}'
MANIFESTS = (
    POD % '"\\ud800"',
    POD % '"a\\0b"',
    POD % 'a, labels: {x: "\\ud800"}',
    POD % "a, uid: 1",
    POD % "a, creationTimestamp: 2020-01-01",
    '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "\\ud800"}}',
    "&a [*a]",
    "? {a: b}\n: c",
    "!!python/object:os.system x",
    "kind: Pod\napiVersion: v1\nmetadata: 3",
    "kind: Pod\napiVersion: v1\nmetadata: {name: a}\nspec: {priority: 99999999999999999999999}",
    "kind: Pod\napiVersion: v1\nmetadata: {name: a}\nspec: {overhead: {cpu: .nan, memory: 1e999}}",
)
COMMANDS: dict[str, dict[str, Any]] = {
    "play": {"speed": "max"},
    "set_seed": {"seed": 1},
    "pod_add": {"manifest": ""},
    "pod_delete": {"namespace": "shop", "name": "large"},
    "node_cordon": {"name": "a"},
    "change": {"verb": "add", "manifest": {}},
    "set_configuration": {"version": "x"},
    "breakpoint_set": {"id": "x", "on": "status", "value": "bound", "filter": "", "node": ""},
    "decide": {"decision": "reject", "pods": [{"namespace": "shop", "name": "asks-2"}], "reason": "x", "plugin": ""},
}


class Site:
    """Asks as an editor, and remembers what went wrong."""

    def __init__(self, game: Game) -> None:
        self.browser = Client(raise_request_exception=False)
        self.browser.force_login(account_create(username="eddy", role=Role.EDITOR, password=None))
        self.failed: list[str] = []
        run = game.run
        self.known = {
            "run": str(run.pk),
            "other": str(run.pk),
            "namespace": "shop",
            "name": "large",
            "number": "1",
            "snapshot_id": str(run.snapshot_id),
            "configuration_id": str(run.configuration_version.configuration_id),
        }

    def address(self, path: str, **parts: str) -> str:
        for name, value in {**self.known, **parts}.items():
            path = path.replace(f"{{{name}}}", value)
        while "{" in path:
            path = f"{path[: path.index('{')]}00000000-0000-4000-8000-000000000000{path[path.index('}') + 1 :]}"
        return path

    def get(self, address: str) -> None:
        self._note(f"GET {address}", self.browser.get(address).status_code)

    def send(self, method: str, address: str, body: Any) -> None:
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        answer = self.browser.generic(method.upper(), address, text, content_type="application/json")
        self._note(f"{method} {address} {text[:120]!r}", answer.status_code)

    def _note(self, asked: str, status: int) -> None:
        if status >= 500:
            self.failed.append(f"{status} {asked}")


@pytest.fixture
def site(played: Game) -> Site:
    return Site(played)


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(path, method, its description), and of a body the names of its fields under `fields`."""
    schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]  # untyped
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            named = schema["components"]["schemas"].get(body.get("$ref", "").rpartition("/")[2], body)
            yield path, method, {**operation, "fields": list(named.get("properties", {}))}


def test_in_addresses(site: Site) -> None:
    for path, method, operation in operations():
        if method != "get":
            continue
        asked: dict[str, list[dict[str, Any]]] = {"query": [], "path": []}
        for parameter in operation.get("parameters", []):
            asked[parameter["in"]].append(parameter)
        required = {each["name"]: "x" for each in asked["query"] if each.get("required")}
        for each in asked["query"]:
            for value in IN_QUERIES:
                site.get(f"{site.address(path)}?{urlencode({**required, each['name']: value})}")
        for each in asked["path"]:
            for value in IN_PATHS:
                site.get(site.address(path, **{each["name"]: value}))
        if "{run}" in path:
            for position in POSITIONS:
                site.get(site.address(path, run=f"{site.known['run']}@{position}"))
    assert site.failed == []


def test_in_bodies(site: Site) -> None:
    for path, method, operation in operations():
        if method in ("get", "delete"):
            continue
        at = site.address(path)
        for body in (*BODIES, *({name: value} for name in operation["fields"] for value in IN_BODIES)):
            site.send(method, at, body)
    assert site.failed == []


def test_in_commands_and_forks(site: Site) -> None:
    commands, forks = (site.address(f"/api/v1/runs/{{run}}/{name}/") for name in ("commands", "forks"))
    for type_, content in COMMANDS.items():
        for name in content:
            for value in (*IN_BODIES, *MANIFESTS):
                command = {"type": type_, **content, name: value}
                site.send("post", commands, command)
                site.send("post", forks, {"changes": [command]})
    assert site.failed == []


def test_in_manifests_and_configurations(site: Site) -> None:
    analyses = site.address("/api/v1/runs/{run}/analyses/")
    for text in MANIFESTS:
        for name in ("capacity_pods", "capacity_nodes"):
            site.send("post", analyses, {"name": name, "arguments": {"manifest": text}})
        site.send("post", "/api/v1/imports/", {"text": text})
        for format_ in (None, "yaml", "json"):
            site.send("post", "/api/v1/configurations/check/", {"text": text, "edits": [], "format": format_})
    assert site.failed == []


def test_what_no_database_holds_is_refused_with_a_sentence(site: Site) -> None:
    at = site.address("/api/v1/runs/{run}/commands/")
    zero, half = "a zero byte is no character", "half of a surrogate pair is no character"
    for body, why in (({"name": ZERO}, zero), ({"reason": HALF}, half), ({HALF: 1}, half), ([[ZERO]], zero)):
        for encoding in ("utf-8", "utf-16"):
            text = json.dumps(body).encode(encoding)
            refused = site.browser.generic("POST", at, text, content_type=f"application/json; charset={encoding}")
            assert (refused.status_code, refused.json()["error"]["message"]) == (400, f"JSON parse error - {why}.")
    for address in (site.address("/api/v1/runs/{run}/pods/?q=%00"), site.address("/api/v1/runs/{run}/nodes/%00/")):
        refused = site.browser.get(address)
        assert (refused.status_code, refused.json()["error"]["message"]) == (400, "An address holds no zero byte.")
    whole = {"type": "decide", "decision": "reject", "reason": "😀", "pods": [{"namespace": "shop", "name": "asks-2"}]}
    assert site.browser.post(at, json.dumps(whole), content_type="application/json").status_code == 202
