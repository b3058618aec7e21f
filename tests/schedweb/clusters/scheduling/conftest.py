"""Drivers at a stand-in whose user may do what looking and scheduling need, by the code's own list."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from framework.configuration import load, load_value
from framework.plugins.registry import built_in_registry
from schedweb.clusters.reading.kinds import Resource
from schedweb.clusters.scheduling.driver import AskExtenders, Driver
from schedweb.clusters.writing.permission import Permission
from schedweb.clusters.writing.sending import Limits
from schedweb.writes.writes import Outcome, Write
from tests.apiserver import ApiServer
from tests.apiserver.access import READER
from tests.apiserver.manifests import pod
from tests.apiserver.players import Kubelets
from tests.apiserver.recordings import SCHEDULER

CONTEXT = "prod"
OURS = "ours"
ROOT = Path(__file__).parents[4]
NODES = Resource("v1", "nodes", "Node")
BINDINGS: Any = {"resource": "pods/binding"}


class Played:
    """Drivers that run in threads, and everything that they recorded."""

    def __init__(self) -> None:
        self.running: list[tuple[Driver, threading.Thread]] = []
        self.steps: list[Write | Outcome] = []
        self.ended: list[str] = []

    def start(self, *, name: str = OURS, configuration: Any = None, **limits: Any) -> Driver:
        driver = driver_of(name, configuration, record=lambda number, what: self.steps.append(what), **limits)

        def run() -> None:
            self.ended.append(driver.run())

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        self.running.append((driver, thread))
        return driver

    def stop(self) -> None:
        for driver, thread in self.running:
            driver.stop()
            thread.join(60)
            assert not thread.is_alive()


def driver_of(
    name: str = OURS,
    configuration: Any = None,
    record: Callable[[int, Write | Outcome], None] = lambda number, what: None,
    may_bind: Callable[[], bool] = lambda: True,
    ask: AskExtenders = lambda asked: [],
    **limits: Any,
) -> Driver:
    """``configuration``: a text, or what was read of one."""
    registry = built_in_registry()
    config = configuration or {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": name}],
    }
    loaded = load(config, registry) if isinstance(config, str) else load_value(config, registry)
    effective = loaded.effective
    assert effective is not None
    return Driver(
        Permission(CONTEXT),
        effective,
        registry,
        scheduler_names=[name],
        limits=Limits(**limits),
        record=record,
        seed=1,
        ask=ask,
        may_bind=may_bind,
    )


@pytest.fixture
def server(
    api_server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rules_to_schedule: list[dict[str, Any]]
) -> ApiServer:
    """Its user may do what ``manage.py cluster check`` says that scheduling needs, and nothing more."""
    api_server.grant(SCHEDULER, READER)
    token = api_server.user(SCHEDULER, groups=["system:authenticated"])
    monkeypatch.setenv(
        "KUBECONFIG", str(api_server.write_kubeconfig(tmp_path / "config", token=token, context=CONTEXT))
    )
    api_server.grant(SCHEDULER, rules_to_schedule)
    api_server.play(Kubelets(stop_after=None))
    api_server.requests.clear()
    return api_server


@pytest.fixture
def played(server: ApiServer) -> Iterator[Played]:
    found = Played()
    yield found
    found.stop()


def ours(name: str, **changes: Any) -> Any:
    return pod(name, scheduler=OURS, **changes)


def node_of(server: ApiServer, name: str) -> str:
    found = server.find("Pod", name, "default")
    return "" if found is None else str(found["spec"].get("nodeName", ""))


def condition(server: ApiServer, name: str) -> Any:
    found = server.get("Pod", name, "default")["status"].get("conditions", [])
    return next((each for each in found if each["type"] == "PodScheduled"), {})


def reasons(server: ApiServer, name: str) -> list[str]:
    return [each["reason"] for each in server.all("Event") if each["involvedObject"]["name"] == name]
