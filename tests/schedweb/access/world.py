"""One of everything that an address can name, and the callers of the matrix."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from schedweb.accounts import services
from schedweb.accounts.models import BearerToken
from schedweb.accounts.roles import Role
from schedweb.clusters.models import Connection
from schedweb.configurations.models import Configuration
from schedweb.configurations.services import configuration_create
from schedweb.runs.models import Analysis, Followed, Run
from schedweb.runs.playing.services import run_create
from schedweb.runs.sharing.services import share_link_create
from schedweb.runs.wire.messages import Message
from schedweb.runs.wire.publisher import PUBLISHER
from schedweb.snapshots.models import Import, Snapshot
from schedweb.snapshots.services import import_create, import_read, snapshot_from_manifests
from schedweb.worker.analyst import analyse
from tests.schedweb.engine.crowded import VICTIMS
from tests.schedweb.engine.worlds import ASKING, START, Manifest, node, pod
from tests.schedweb.runs.conftest import Game, prepared

CLUSTER: list[Manifest] = [*VICTIMS, pod("asks", "100m", ask="person")]
WEIGHTS = {"NodeResourcesFit": 0, "NodeResourcesBalancedAllocation": 5}


@dataclass
class World:
    maker: User
    """An operator, who made the runs."""
    editor: User
    run: Run
    """Played; it waits for a person."""
    other: Run
    """New, of the same snapshot."""
    third: Run
    """As the other."""
    snapshot: Snapshot
    """No run uses it."""
    configuration: Configuration
    """Nor this."""
    import_: Import
    """Read, and not committed."""
    files: dict[Path, bytes]
    """Of the import. What is undone in the database after a request is not undone on disk."""
    analysis: Analysis
    link: str
    """Of a share link to the run."""
    shared: list[str]
    """Where share links lead: of the run, of the other, of a third one."""
    published: list[Message]
    """What browsers were told while the run was played and asked about."""


@contextmanager
def listening(published: list[Message]) -> Iterator[None]:
    def note(group: str, message: Message) -> None:
        published.append(message)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PUBLISHER, "publish", note)
        yield


def build() -> World:
    published: list[Message] = []
    with listening(published):
        return _build(published)


def _build(published: list[Message]) -> World:
    maker = services.account_create(username="mira", role=Role.OPERATOR, password=None)
    editor = services.account_create(username="eda", role=Role.EDITOR, password=None)
    game = prepared(maker, CLUSTER, configuration=ASKING)
    game.command("play", speed="max")
    game.play()
    snapshot, version = game.run.snapshot_id, game.run.configuration_version_id
    other, third = (
        run_create(user=maker, snapshot=snapshot, configuration_version=version, seed=seed) for seed in (1, 2)
    )
    Run.objects.exclude(pk=game.run.pk).update(wanted=False)
    unused = snapshot_from_manifests(
        name="unused", description="", source=Snapshot.Source.IMPORT, objects=CLUSTER, timeline=[], taken_at=START
    )
    alone = configuration_create(user=editor, name="unused", text=ASKING).configuration
    Connection.objects.create(context="prod", wanted=True)
    # As if it had followed that cluster: who may see how it was read is asked, not what it takes.
    Followed.objects.create(run=game.run, most_bytes=1, shadow=True)
    Run.objects.filter(pk=game.run.pk).update(scheduling={"instance": "playground-1"})
    upload = json.dumps({"apiVersion": "v1", "kind": "List", "items": [node("n")]}).encode()
    read = import_create(user=editor, filename="n.json", upload=upload)
    import_read(import_id=read.pk)
    files = {each: each.read_bytes() for each in read.upload.parent.glob(f"{read.pk}*")}
    links = [share_link_create(run=run, user=maker, name="review") for run in (game.run, other, third)]
    return World(
        maker=maker,
        editor=editor,
        run=game.run,
        other=other,
        third=third,
        snapshot=unused,
        configuration=alone,
        import_=Import.objects.get(pk=read.pk),
        files=files,
        analysis=asked(game, editor),
        link=str(links[0][0].pk),
        shared=[f"/share/{token}" for _, token in links],
        published=published,
    )


def asked(game: Game, user: User) -> Analysis:
    browser = Client()
    browser.force_login(user)
    question = {"name": "other_weights", "arguments": {"profile": "default-scheduler", "weights": WEIGHTS}}
    answer = browser.post(f"/api/v1/runs/{game.id}/analyses/", question, content_type="application/json")
    assert answer.status_code == 202, answer.content
    assert analyse(Analysis.objects.get(pk=answer.json()["id"]).pk)
    return Analysis.objects.get(pk=answer.json()["id"])


@dataclass
class Caller:
    """One way to come. Whoever has several of them (an account that is disabled) may do the same with each."""

    way: str
    browser: Client
    user: User | None = None
    headers: dict[str, str] = field(default_factory=dict)


def logged_in(user: User, way: str = "session") -> Caller:
    browser = Client()
    browser.force_login(user)
    return Caller(way, browser, user)


def with_token(user: User, way: str = "token", role: Role | None = None, run: Run | None = None) -> Caller:
    only, number = (None, "") if run is None else (run.pk, str(run))
    _, token = services.bearer_token_create(user=user, name=way, role=role, run=only, run_number=number)
    return Caller(way, Client(), user, {"Authorization": f"Bearer {token}"})


def account(name: str, role: Role) -> User:
    return services.account_create(username=name, role=role, password=None)


def no_role(world: World) -> list[Caller]:
    user = User.objects.create_user("nora")
    return [logged_in(user), with_token(user)]


def disabled(world: World) -> list[Caller]:
    """An account that was disabled without anything else being done to it, and one that was disabled in order."""
    found: list[Caller] = []
    for name, in_order in (("dora", False), ("dina", True)):
        user = account(name, Role.EDITOR)
        found += [logged_in(user, f"session of {name}"), with_token(user, f"token of {name}")]
        if in_order:
            services.account_disable(user=user)
        else:
            User.objects.filter(pk=user.pk).update(is_active=False)
    return found


def expired(world: World) -> list[Caller]:
    caller = with_token(world.editor, "expired token")
    BearerToken.objects.filter(name="expired token").update(expires_at=timezone.now() - datetime.timedelta(seconds=1))
    return [caller]


def visitor(paths: list[str]) -> list[Caller]:
    browser = Client()
    for path in paths:
        assert browser.get(path).status_code == 302
    return [Caller("share link", browser)]


CALLERS: dict[str, Callable[[World], list[Caller]]] = {
    "nobody": lambda world: [Caller("no session", Client()), *expired(world)],
    "disabled": disabled,
    "no role": no_role,
    "visitor": lambda world: visitor(world.shared[:2]),
    "visitor elsewhere": lambda world: visitor(world.shared[2:]),
    "viewer": lambda world: [logged_in(account("vera", Role.VIEWER))],
    "operator": lambda world: [logged_in(account("otto", Role.OPERATOR))],
    "maker": lambda world: [logged_in(world.maker)],
    "editor": lambda world: [logged_in(world.editor)],
    "admin": lambda world: [logged_in(account("ada", Role.ADMIN))],
    "viewer token": lambda world: [with_token(world.editor, "viewer token", Role.VIEWER)],
    "operator token": lambda world: [with_token(world.editor, "operator token", Role.OPERATOR)],
    "editor token": lambda world: [with_token(world.editor, "editor token", Role.EDITOR)],
    "admin token": lambda world: [with_token(account("alma", Role.ADMIN), "admin token", Role.ADMIN)],
    "token without role": lambda world: [with_token(world.editor, "token without role")],
    "viewer run token": lambda world: [with_token(world.editor, "viewer run token", Role.VIEWER, world.run)],
    "operator run token": lambda world: [with_token(world.editor, "operator run token", Role.OPERATOR, world.run)],
    "editor run token": lambda world: [with_token(world.editor, "editor run token", Role.EDITOR, world.run)],
    "admin run token": lambda world: [
        with_token(account("alba", Role.ADMIN), "admin run token", Role.ADMIN, world.run),
    ],
    "run token without role": lambda world: [with_token(world.editor, "run token without role", run=world.run)],
    "run token elsewhere": lambda world: [with_token(world.editor, "run token elsewhere", Role.EDITOR, world.third)],
}


def everybody(world: World) -> dict[str, list[Caller]]:
    return {name: make(world) for name, make in CALLERS.items()}
