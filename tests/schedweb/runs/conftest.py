"""Runs that were really played: supervisor and engine process in the test, the database of the test."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connections
from django.test import Client
from pytest_django import Settings

from schedweb.accounts.roles import Role
from schedweb.accounts.services import account_create
from schedweb.configurations.models import Configuration, ConfigurationVersion
from schedweb.engine.payload import TimelineEntry
from schedweb.runs.models import JournalEntry, Run
from schedweb.runs.playing.commands import command_append
from schedweb.runs.playing.services import run_create
from schedweb.snapshots.models import Snapshot
from schedweb.snapshots.services import snapshot_from_manifests
from schedweb.worker.playing import play_run
from tests.schedweb.engine.worlds import ASKING, DEFAULT, START, Manifest, node, pod

CLUSTER: list[Manifest] = [
    node("a", "4", **{"topology.kubernetes.io/zone": "west"}),
    node("b", "4", **{"topology.kubernetes.io/zone": "east"}),
    *(pod(f"web-{index}", "500m", app="web") for index in range(6)),
    pod("asks-1", "250m", ask="person"),
    pod("asks-2", "250m", ask="person"),
    pod("large", "16"),
]


@pytest.fixture(autouse=True)
def _short_waits(settings: Settings) -> None:
    """Nothing in these tests waits for a time to pass, so a supervisor may give an idle run back at once."""
    settings.ENGINE_PARK_SECONDS = 0.0
    settings.ENGINE_POLL_SECONDS = 0.02
    settings.ENGINE_RENEW_SECONDS = 1000.0


@pytest.fixture
def operator(transactional_db: None) -> User:
    return account_create(username="mira", role=Role.OPERATOR, password=None)


@pytest.fixture
def viewer(transactional_db: None) -> User:
    return account_create(username="vera", role=Role.VIEWER, password=None)


@pytest.fixture
def client(operator: User) -> Client:
    browser = Client()
    browser.force_login(operator)
    return browser


@pytest.fixture
def snapshot(transactional_db: None) -> Snapshot:
    return snapshot_from_manifests(
        name="small", description="", source=Snapshot.Source.IMPORT, objects=CLUSTER, timeline=[], taken_at=START
    )


@pytest.fixture
def version(transactional_db: None) -> ConfigurationVersion:
    configuration = Configuration.objects.create(name="asks a person", slug="asks")
    return ConfigurationVersion.objects.create(configuration=configuration, number=1, text=ASKING)


class Game:
    """A run with a supervisor that plays whatever was commanded, until there is nothing to do."""

    def __init__(self, run: Run, user: User) -> None:
        self.run = run
        self.user = user

    @property
    def id(self) -> UUID:
        return self.run.pk

    def command(self, type_: str, **content: Any) -> JournalEntry:
        return command_append(
            run_id=self.id, user=self.user, body={"type": type_, "client_id": str(uuid4()), **content}
        )

    def decide(self, decision: str, *names: str, **content: Any) -> JournalEntry:
        named = [{"namespace": "shop", "name": name} for name in names]
        return self.command("decide", decision=decision, pods=named, **content)

    def play(self) -> None:
        """In this thread: returns when the supervisor gives the run back."""
        assert play_run(self.id)
        self.run.refresh_from_db()

    def places(self) -> dict[str, str]:
        return dict(self.run.pod_records.values_list("name", "column"))


def played_out(
    user: User,
    objects: list[Manifest],
    timeline: Sequence[TimelineEntry] = (),
    *,
    name: str = "some",
    configuration: str = DEFAULT,
) -> Game:
    """A run of these manifests, by default with kube-scheduler's own configuration, played until nothing is left."""
    game = prepared(user, objects, timeline, name=name, configuration=configuration)
    game.command("play", speed="max")
    game.play()
    return game


def prepared(
    user: User,
    objects: list[Manifest],
    timeline: Sequence[TimelineEntry] = (),
    *,
    name: str = "some",
    configuration: str = DEFAULT,
) -> Game:
    """The run before anybody plays it."""
    made = snapshot_from_manifests(
        name=name,
        description="",
        source=Snapshot.Source.IMPORT,
        objects=objects,
        timeline=list(timeline),
        taken_at=START,
    )
    plain = Configuration.objects.create(name="plain", slug="plain")
    version = ConfigurationVersion.objects.create(configuration=plain, number=1, text=configuration)
    run = run_create(user=user, snapshot=made.pk, configuration_version=version.pk, seed=7, speed="max")
    return Game(run, user)


@pytest.fixture
def game(operator: User, snapshot: Snapshot, version: ConfigurationVersion) -> Game:
    run = run_create(user=operator, snapshot=snapshot.pk, configuration_version=version.pk, seed=7, speed="max")
    return Game(run, operator)


@pytest.fixture
def played(game: Game) -> Game:
    """Played until it waits for a person; one was approved, so there is a decision too."""
    game.command("play", speed="max")
    game.play()
    game.decide("approve", "asks-1", reason="fine")
    game.play()
    return game


Start = Callable[[Callable[[], object]], threading.Thread]


@pytest.fixture
def in_background() -> Iterator[Start]:
    """Starts something in a thread that closes its database connections and is waited for."""
    threads: list[threading.Thread] = []

    def start(work: Callable[[], object]) -> threading.Thread:
        def closing() -> None:
            try:
                work()
            finally:
                connections.close_all()

        threads.append(threading.Thread(target=closing))
        threads[-1].start()
        return threads[-1]

    yield start
    for thread in threads:
        thread.join(60)


def eventually(look: Callable[[], Any], seconds: float = 60) -> Any:
    deadline = time.monotonic() + seconds
    while not (seen := look()):
        assert time.monotonic() < deadline, "it never came about"
        time.sleep(0.05)
    return seen
