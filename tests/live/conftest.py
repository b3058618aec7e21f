"""One installation of the product for all scenarios of a session; a cluster per test: the stand-in, or a real one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from schedweb.clusters.writing.permission import VARIABLE
from scripts.processes import ROOT, Playground
from scripts.site import Site, eventually
from tests.apiserver import ApiServer
from tests.first_start import FirstStart
from tests.live.clusters import Account, Cluster, Real, StandIn
from tests.live.desk import CONTEXT, Desk

KUBECONFIG = "TEST_KUBECONFIG"
AUDIT_LOG = "TEST_AUDIT_LOG"
HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One worker plays them all: a cluster has one Lease, which only one run holds."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("live"))


@pytest.fixture(params=["stand-in", "real"])
def cluster(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Cluster]:
    made: Cluster
    if request.param == "stand-in":
        server: ApiServer = request.getfixturevalue("api_server")
        made = StandIn(server, tmp_path)
    else:
        named = os.environ.get(KUBECONFIG)
        if not named:
            pytest.skip(f"{KUBECONFIG} names no kubeconfig of a real API server (make test-live)")
        log = os.environ.get(AUDIT_LOG)
        made = Real(Path(named), Path(log) if log else None)
    with made.entered():
        yield made


@pytest.fixture(scope="session")
def contexts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kubeconfig of the installation: each test writes its own into it."""
    return tmp_path_factory.mktemp("contexts") / "config"


@pytest.fixture(scope="session")
def installation(
    contexts: Path, tmp_path_factory: pytest.TempPathFactory, first_start: FirstStart
) -> Iterator[Playground]:
    folder = first_start.into(tmp_path_factory.mktemp("live"))
    started = Playground(folder, KUBECONFIG=str(contexts), **{VARIABLE: CONTEXT})
    try:
        yield started
    finally:
        started.process.stop()


@pytest.fixture(scope="session")
def site(installation: Playground) -> Site:
    visitor = Site(installation.origin)
    visitor.open_link(installation.link)
    return visitor


Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def command(installation: Playground) -> Command:
    """``command("check", CONTEXT)``: `manage.py cluster …` of the installation, to its end."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "manage.py", "cluster", *arguments],
            cwd=ROOT,
            env=installation.environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run


def roles_in(printed: str, mode: str) -> str:
    """What `check` prints to be applied."""
    return printed.partition(f"# What {mode} lacks:\n")[2].partition("\n# What ")[0]


@pytest.fixture(scope="session")
def enough() -> dict[str, str]:
    """By mode, what `check` printed to be applied and what was enough then. The stand-in would only be asked the same
    again, by two processes for each test."""
    return {}


@pytest.fixture
def reader(cluster: Cluster, contexts: Path, command: Command, enough: dict[str, str]) -> Account:
    """Whose rights are what `check` says that looking needs, and nothing more; the installation uses them."""
    account = cluster.account("reader")
    contexts.write_text(yaml.safe_dump(cluster.kubeconfig_for(account, CONTEXT)), encoding="utf-8")
    if "look" in enough and not cluster.is_real:
        cluster.grant(account, enough["look"])
        return account
    checked = command("check", CONTEXT)
    assert checked.returncode == 1, checked.stderr
    assert f'"{account.user}"' in checked.stdout or account.user.rpartition(":")[2] in checked.stdout
    roles = roles_in(checked.stdout, "look")
    cluster.grant(account, roles)

    def is_enough() -> str | None:
        again = command("check", CONTEXT)
        return again.stdout if again.returncode == 0 else None

    # An authorizer learns of roles a moment after they are stored.
    eventually("the roles are enough to look", is_enough)
    enough["look"] = roles
    return account


@pytest.fixture
def scheduler(cluster: Cluster, reader: Account, command: Command, enough: dict[str, str]) -> Account:
    """May schedule as well."""
    if "schedule" in enough and not cluster.is_real:
        cluster.grant(reader, enough["schedule"])
        return reader
    roles = roles_in(command("check", CONTEXT).stdout, "schedule")
    cluster.grant(reader, roles)
    lacks = "# What schedule"
    eventually("the roles are enough to schedule", lambda: lacks not in command("check", CONTEXT).stdout or None)
    enough["schedule"] = roles
    return reader


@pytest.fixture
def desk(site: Site, cluster: Cluster) -> Iterator[Desk]:
    made = Desk(site, cluster)
    yield made
    made.stop_all()


def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> None:
    """Nothing of the installation is lost that would say why a scenario failed."""
    if call.excinfo is not None and isinstance(item, pytest.Function) and HERE in item.path.parents:
        found = item.funcargs.get("installation")
        if isinstance(found, Playground):
            item.add_report_section(call.when, "the installation said", found.process.output()[-5000:])
