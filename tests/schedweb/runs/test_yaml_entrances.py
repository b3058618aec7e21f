"""Aliases have one budget, whichever way a YAML text comes in."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.test.client import MULTIPART_CONTENT

from schedweb.accounts.roles import Role
from schedweb.accounts.services import account_create
from schedweb.runs.models import Analysis, JournalEntry, Run
from schedweb.snapshots import services
from schedweb.snapshots.models import Import
from scripts.processes import ROOT
from tests.schedweb.runs.conftest import Game

pytestmark = pytest.mark.django_db(transaction=True)
REFUSED = "aliases expand it to more than 10 times its size"
LONG = "x" * 20_000
BOMBS = {
    "a text, a thousand times": f"a: &a {LONG}\nb: [{', '.join(['*a'] * 1000)}]\n",
    "lists of lists": "a0: &a0 ["
    + ", ".join([LONG[:500]] * 10)
    + "]\n"
    + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 4)),
}
OBJECT = "apiVersion: v1\nkind: Pod\nmetadata: {name: x, namespace: shop}\n"
CONFIGURATION = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


@pytest.fixture
def client() -> Client:
    """Of an editor, who may go in everywhere."""
    browser = Client()
    browser.force_login(account_create(username="edits", role=Role.EDITOR, password=None))
    return browser


Entrance = Callable[[Client, Game, str, Path], str]


def posted(client: Client, path: str, body: object) -> str:
    answer = client.post(path, body, content_type="application/json")
    assert answer.status_code in (200, 400, 409, 422), answer.content
    return answer.content.decode()


def upload(client: Client, game: Game, bomb: str, folder: Path) -> str:
    return read(client, {"file": SimpleUploadedFile("bomb.yaml", (OBJECT + bomb).encode())}, MULTIPART_CONTENT)


def paste(client: Client, game: Game, bomb: str, folder: Path) -> str:
    return read(client, {"text": OBJECT + bomb}, "application/json")


def read(client: Client, body: dict[str, Any], kind: str) -> str:
    """Of an import."""
    answer = client.post("/api/v1/imports/", body, content_type=kind)
    assert answer.status_code == 201, answer.content
    services.import_read(import_id=answer.json()["id"])
    found = client.get(f"/api/v1/imports/{answer.json()['id']}/").json()
    assert found["state"] == Import.State.FAILED
    return str(found["error"])


def events(client: Client, game: Game, bomb: str, folder: Path) -> str:
    return posted(client, f"/api/v1/snapshots/{game.run.snapshot_id}/events/", {"text": OBJECT + bomb})


def pod_added(client: Client, game: Game, bomb: str, folder: Path) -> str:
    return posted(client, f"/api/v1/runs/{game.id}/commands/", {"type": "pod_add", "manifest": OBJECT + bomb})


def node_added(client: Client, game: Game, bomb: str, folder: Path) -> str:
    return posted(client, f"/api/v1/runs/{game.id}/commands/", {"type": "node_add", "manifest": OBJECT + bomb})


def on_a_fork(client: Client, game: Game, bomb: str, folder: Path) -> str:
    changes = [{"type": "pod_add", "manifest": OBJECT + bomb}]
    return posted(client, f"/api/v1/runs/{game.id}/forks/", {"position": 0, "changes": changes})


def room_for_pods(client: Client, game: Game, bomb: str, folder: Path) -> str:
    asked = {"name": "capacity_pods", "arguments": {"manifest": OBJECT + bomb}}
    return posted(client, f"/api/v1/runs/{game.id}/analyses/", asked)


def room_on_nodes(client: Client, game: Game, bomb: str, folder: Path) -> str:
    asked = {"name": "capacity_nodes", "arguments": {"manifest": OBJECT + bomb}}
    return posted(client, f"/api/v1/runs/{game.id}/analyses/", asked)


def configuration_checked(client: Client, game: Game, bomb: str, folder: Path) -> str:
    return posted(client, "/api/v1/configurations/check/", {"text": CONFIGURATION + bomb})


def configuration_saved(client: Client, game: Game, bomb: str, folder: Path) -> str:
    return posted(client, "/api/v1/configurations/", {"name": "bomb", "text": CONFIGURATION + bomb})


def command_line(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "framework", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode not in (0, -9), done
    return done.stdout + done.stderr


def written(folder: Path, text: str) -> str:
    path = folder / "bomb.yaml"
    path.write_text(text)
    return str(path)


def simulated(client: Client, game: Game, bomb: str, folder: Path) -> str:
    return command_line("simulate", "-f", written(folder, OBJECT + bomb))


def simulated_with_configuration(client: Client, game: Game, bomb: str, folder: Path) -> str:
    (folder / "node.yaml").write_text("apiVersion: v1\nkind: Node\nmetadata: {name: n}\n")
    return command_line("simulate", "-f", str(folder / "node.yaml"), "--config", written(folder, CONFIGURATION + bomb))


def counted(client: Client, game: Game, bomb: str, folder: Path) -> str:
    (folder / "node.yaml").write_text("apiVersion: v1\nkind: Node\nmetadata: {name: n}\n")
    return command_line("capacity", "-f", str(folder / "node.yaml"), "--pod", written(folder, OBJECT + bomb))


ENTRANCES: list[Entrance] = [
    upload,
    paste,
    events,
    pod_added,
    node_added,
    on_a_fork,
    room_for_pods,
    room_on_nodes,
    configuration_checked,
    configuration_saved,
    simulated,
    simulated_with_configuration,
    counted,
]


@pytest.mark.parametrize("entrance", ENTRANCES, ids=lambda entrance: entrance.__name__)
def test_every_entrance_refuses_what_expands_too_far(
    entrance: Entrance, client: Client, game: Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("schedweb.snapshots.queue.announce", lambda: None)
    before = JournalEntry.objects.count(), Analysis.objects.count(), Run.objects.count()
    for name, bomb in BOMBS.items():
        assert REFUSED in entrance(client, game, bomb, tmp_path), name
    assert (JournalEntry.objects.count(), Analysis.objects.count(), Run.objects.count()) == before


TWICE = {
    "yaml": OBJECT + "spec: {schedulerName: a, schedulerName: b, containers: [{name: c, image: i}]}\n",
    "json": json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "x", "namespace": "shop"},
            "spec": {"schedulerName": "a"},
        },
        indent=1,
    ).replace('"schedulerName": "a"', '"schedulerName": "a",\n  "schedulerName": "b"'),
}
OF_OBJECTS = [each for each in ENTRANCES if "configuration" not in each.__name__]


@pytest.mark.parametrize("entrance", OF_OBJECTS, ids=lambda entrance: entrance.__name__)
def test_every_entrance_of_objects_tells_of_a_key_that_stands_twice(
    entrance: Entrance, client: Client, game: Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("schedweb.snapshots.queue.announce", lambda: None)
    monkeypatch.setattr(sys.modules[__name__], "OBJECT", "")
    before = JournalEntry.objects.count(), Analysis.objects.count(), Run.objects.count()
    for form, text in TWICE.items():
        said = entrance(client, game, text, tmp_path)
        assert "already set in map" in said, (form, said)
        assert "schedulerName" in said
        assert f"line {4 if form == 'yaml' else 10}" in said
    assert (JournalEntry.objects.count(), Analysis.objects.count(), Run.objects.count()) == before


READERS = {"framework/reading/yaml_documents.py", "framework/configuration/source.py"}
"""Where YAML is parsed; both weigh aliases. What only writes, or names errors, makes no values."""
PARSES = ("load", "safe_load", "load_all", "safe_load_all", "parse", "compose", "compose_all")


def test_nobody_else_parses_yaml() -> None:
    found = set()
    for path in (*(ROOT / "framework").rglob("*.py"), *(ROOT / "schedweb").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            parses = isinstance(node, ast.Attribute) and node.attr in PARSES
            if parses and "yaml" in ast.unparse(node).lower():
                found.add(str(path.relative_to(ROOT)))
            bases = [ast.unparse(base) for base in node.bases] if isinstance(node, ast.ClassDef) else []
            if any("yaml." in base.lower() and not base.endswith("Dumper") for base in bases):
                found.add(str(path.relative_to(ROOT)))
    assert found == READERS
