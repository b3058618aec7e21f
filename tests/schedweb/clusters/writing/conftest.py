"""A cluster that may be written to, and a Writer whose every word is kept."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from framework.objects import Pod
from framework.objects.decode import decode_manifest
from schedweb.clusters.writing.access import WritingAccess
from schedweb.clusters.writing.permission import Permission
from schedweb.clusters.writing.sending import Limits, Writer
from schedweb.writes.writes import Outcome, Write
from tests.apiserver import ApiServer
from tests.apiserver.manifests import node, pod
from tests.apiserver.recordings import SCHEDULER, rules_of_scheduler

CONTEXT = "prod"


def granted(server: ApiServer) -> None:
    for namespace, rules in rules_of_scheduler():
        server.grant(SCHEDULER, rules, namespace=namespace)


class Told:
    """What a Writer told, by the number of the write."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.steps: list[tuple[int, Write | Outcome]] = []

    def __call__(self, number: int, what: Write | Outcome) -> None:
        with self.lock:
            self.steps.append((number, what))

    def outcomes(self) -> list[Outcome]:
        return [what for _, what in self.steps if isinstance(what, Outcome)]


MakeWriter = Callable[..., Writer]


@pytest.fixture
def writable(api_server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ApiServer:
    api_server.add(node("n1"), node("n2"), pod("p1"), pod("p2"))
    granted(api_server)
    token = api_server.user(SCHEDULER, groups=["system:authenticated"])
    path = api_server.write_kubeconfig(tmp_path / "config", token=token, context=CONTEXT)
    monkeypatch.setenv("KUBECONFIG", str(path))
    api_server.requests.clear()
    return api_server


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def make_writer(writable: ApiServer, told: Told) -> MakeWriter:
    def made(
        is_held: Callable[[], bool] = lambda: True, limits: Limits | None = None, patience: float = 60.0
    ) -> Writer:
        access = WritingAccess(Permission(CONTEXT))
        return Writer(access, is_held=is_held, record=told, limits=limits or Limits(), patience=patience)

    return made


def pod_at(server: ApiServer, name: str = "p1") -> Pod:
    """As a reflector would have it."""
    found = decode_manifest(server.get("Pod", name, "default"))
    assert isinstance(found, Pod)
    return found
