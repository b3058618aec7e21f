"""A cluster with a few nodes and pods behind a stand-in API server, and a kubeconfig that leads to it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.contrib.auth.models import Group, User
from django.db import connections
from django.test import Client
from pytest_django import Settings

from schedweb.accounts import services as accounts
from schedweb.accounts.roles import Role
from schedweb.accounts.scheduling import GROUP
from schedweb.clusters.reading.access import Access
from schedweb.clusters.reading.kinds import kinds_of
from schedweb.clusters.reading.rights import ask, missing_yaml
from schedweb.clusters.writing.permission import VARIABLE
from schedweb.configurations.models import Configuration, ConfigurationVersion
from schedweb.runs.models import Run
from schedweb.snapshots import queue
from schedweb.worker import playing, watching
from tests.apiserver import ApiServer
from tests.apiserver.access import READER
from tests.apiserver.manifests import node, pod
from tests.apiserver.players import Kubelets
from tests.apiserver.recordings import SCHEDULER
from tests.schedweb.engine.worlds import DEFAULT

CONTEXT = "prod"
SECRET = "hunter2-of-the-application"
WAIT_SECONDS = 60.0
WITH_APPROVALS = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: ours
  plugins:
    permit: {enabled: [{name: ManualApproval}]}
  pluginConfig:
  - name: ManualApproval
    args: {podSelector: {matchLabels: {approval: needed}}, timeoutSeconds: 800}
"""


def until(is_so: Callable[[], Any]) -> None:
    """Waits until it is so, whatever the machine is busy with."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not is_so():
        assert time.monotonic() < deadline, "it did not become so"
        time.sleep(0.02)


def replicas(count: int) -> list[dict[str, Any]]:
    """Pods of one workload, with what must not be kept of them."""
    env = [{"name": "PASSWORD", "value": SECRET}]
    return [
        pod(
            f"web-{number}",
            "shop",
            on="" if number % 10 == 0 else f"n{number % 3}",
            metadata={
                "annotations": {"vault.example.com/token": SECRET},
                "ownerReferences": [
                    {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "rs-web", "controller": True}
                ],
            },
            spec={"containers": [{"name": "main", "image": "web:1", "env": env}]},
        )
        for number in range(count)
    ]


@pytest.fixture
def cluster(api_server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    api_server.add(*(node(f"n{number}") for number in range(3)), *replicas(25))
    api_server.add(pod("over", "shop", on="n1", status={"phase": "Succeeded"}))
    token = api_server.user("reader", READER)
    path = api_server.write_kubeconfig(tmp_path / "config", token=token, context=CONTEXT)
    monkeypatch.setenv("KUBECONFIG", str(path))
    api_server.requests.clear()
    yield api_server
    sent = {(each.method, each.resource) for each in api_server.requests if each.method != "GET"}
    assert sent <= {("POST", "selfsubjectaccessreviews")}, "a cluster that is looked at is never written to"


class Worker:
    """Plays a run in a thread, until it is told to end, in order or as one that dies."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._thread = threading.Thread(target=self._play, daemon=True)
        self._thread.start()
        until(lambda: run.pk in playing.RUNNING)

    def _play(self) -> None:
        try:
            playing.play_run(self.run.pk)
        finally:
            connections.close_all()

    @property
    def supervisor(self) -> Any:
        return playing.RUNNING[self.run.pk]

    def end(self) -> None:
        found = playing.RUNNING.get(self.run.pk)
        if found is not None:
            found.shut_down()
        self.join()

    def join(self) -> None:
        self._thread.join(WAIT_SECONDS)
        assert not self._thread.is_alive()

    def lose_the_lease(self, meanwhile: Callable[[], object] = lambda: None) -> None:
        """As one that stood still for too long: it writes nothing more, and says goodbye to nobody. ``meanwhile``: what
        lets go of it, where it waits for an answer."""
        epoch = self.supervisor.lease.epoch + 1
        Run.objects.filter(pk=self.run.pk).update(lease_expires=None, lease_owner="", epoch=epoch)
        self.supervisor.lose()
        meanwhile()
        self.join()


@pytest.fixture
def quick_watching(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    monkeypatch.setattr(queue, "announce", lambda *args: None)
    monkeypatch.setattr(watching, "FIRST_PAUSE", 0.1)
    monkeypatch.setattr(watching, "STORE_SECONDS", 0.1)
    settings.ENGINE_POLL_SECONDS = 0.2


@pytest.fixture
def olga(transactional_db: None) -> User:
    known = Configuration.objects.create(name="kube-scheduler", slug="default", builtin=True)
    ConfigurationVersion.objects.create(configuration=known, number=1, text=DEFAULT)
    return accounts.account_create(username="olga", role=Role.OPERATOR, password=None)


@pytest.fixture
def operator(client: Client, olga: User) -> Client:
    client.force_login(olga)
    return client


@pytest.fixture
def workers() -> Iterator[Callable[[Run], Worker]]:
    made: list[Worker] = []

    def begin(run: Run) -> Worker:
        made.append(Worker(run))
        return made[-1]

    yield begin
    for each in made:
        each.end()


@pytest.fixture(scope="session")
def rules_to_schedule(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What ``manage.py cluster check`` says that a reader lacks. A stand-in of every test would be asked the same."""
    with ApiServer() as asked, pytest.MonkeyPatch.context() as patch:
        asked.grant(SCHEDULER, READER)
        token = asked.user(SCHEDULER, groups=["system:authenticated"])
        path = tmp_path_factory.mktemp("asked") / "config"
        patch.setenv("KUBECONFIG", str(asked.write_kubeconfig(path, token=token, context=CONTEXT)))
        access = Access(CONTEXT)
        role, _ = yaml.safe_load_all(missing_yaml(ask(access, kinds_of(access)), "schedule", CONTEXT))
    rules: list[dict[str, Any]] = role["rules"]
    return rules


@pytest.fixture
def server(
    api_server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rules_to_schedule: list[dict[str, Any]]
) -> ApiServer:
    """One that may be scheduled: its user may do what ``manage.py cluster check`` says that this needs, no more."""
    api_server.grant(SCHEDULER, READER)
    token = api_server.user(SCHEDULER, groups=["system:authenticated"])
    path = api_server.write_kubeconfig(tmp_path / "config", token=token, context=CONTEXT)
    monkeypatch.setenv("KUBECONFIG", str(path))
    monkeypatch.setenv(VARIABLE, CONTEXT)
    api_server.grant(SCHEDULER, rules_to_schedule)
    api_server.play(Kubelets(stop_after=None))
    api_server.add(node("n1"), node("n2"))
    api_server.requests.clear()
    return api_server


@pytest.fixture
def version(olga: User) -> str:
    """Of a configuration with approvals; Olga may schedule the cluster with it."""
    olga.groups.add(Group.objects.create(name=GROUP))
    made = Configuration.objects.create(name="ours", slug="ours")
    return str(ConfigurationVersion.objects.create(configuration=made, number=1, text=WITH_APPROVALS).pk)
