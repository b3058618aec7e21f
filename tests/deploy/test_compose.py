"""What docker-compose.yml describes, started: its commands, environment and health checks as local processes. Where
this machine allows it, on a read-only disk, as containers there and pods of deploy/kubernetes have it."""

from __future__ import annotations

import http.client
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from scripts.compose import read_compose
from scripts.deployment import Deployment, may_mount
from scripts.processes import ROOT, free_port
from scripts.services import Services
from scripts.site import Site, eventually
from tests.deploy.main_flow import play_the_main_flow

VARIABLES = {"POSTGRES_PASSWORD": "correct-horse", "SECRET_KEY": "battery-staple-battery-staple-battery-staple-battery"}

pytestmark = pytest.mark.services


@pytest.fixture
def deployment(services: Services, tmp_path: Path) -> Iterator[Deployment]:
    deployed = Deployment(read_compose(VARIABLES), services, tmp_path, read_only=may_mount())
    try:
        yield deployed
    finally:
        deployed.stop()


def migrate(deployment: Deployment) -> None:
    migrated = deployment.run_once("migrate")
    assert migrated.returncode == 0, migrated.stdout + migrated.stderr


def asked_as_a_kubelet_asks(name: str, ports: dict[str, int]) -> dict[str, int]:
    """The status that each probe of deploy/kubernetes gets that asks by HTTP."""
    manifests = yaml.safe_load_all((ROOT / "deploy" / "kubernetes" / "base" / f"{name}.yaml").read_text())
    [spec] = [each["spec"]["template"]["spec"] for each in manifests if each["kind"] == "Deployment"]
    [container] = spec["containers"]
    found: dict[str, int] = {}
    for kind in ("startupProbe", "livenessProbe", "readinessProbe"):
        if "httpGet" in container[kind]:
            probe = container[kind]["httpGet"]
            # A kubelet names the pod's address unless the probe has another name.
            headers = {"Host": "10.0.0.7"} | {each["name"]: each["value"] for each in probe.get("httpHeaders", [])}
            connection = http.client.HTTPConnection("127.0.0.1", ports[probe["port"]], timeout=30)
            connection.request("GET", probe["path"], headers=headers)
            found[kind] = connection.getresponse().status
            connection.close()
    return found


def wait_until_unhealthy(deployment: Deployment, name: str) -> None:
    eventually(f"{name} is unhealthy once it is stopped", lambda: None if deployment.is_healthy(name) else True)


@pytest.mark.parametrize("name", ["postgres", "redis"])
def test_the_service_s_health_check_passes_against_the_real_one(deployment: Deployment, name: str) -> None:
    health = deployment.services[name].health
    assert health is not None
    if shutil.which(health.command[0]) is None:
        pytest.skip(f"{health.command[0]} is not installed, so the health check of {name} was not run")
    assert deployment.is_healthy(name)


def test_the_main_flow_on_web_worker_redis_and_postgresql(deployment: Deployment) -> None:
    """After a migration, of which a second one has nothing left; whoever is not started yet or stopped is unhealthy."""
    migrate(deployment)
    again = deployment.run_once("migrate")
    assert (again.returncode, "No migrations to apply" in again.stdout) == (0, True)
    assert not deployment.is_healthy("web")
    assert not deployment.is_healthy("worker")
    assert deployment.run("web", ["test", "-w", "."]).returncode == int(deployment.read_only)
    metrics = free_port()
    for name in ("web", "worker"):
        deployment.start(name, more={"METRICS_PORT": str(metrics)})
    for name in ("web", "worker"):
        deployment.wait_until_healthy(name)

    ports = {"http": deployment.port, "metrics": metrics}
    probes = {"startupProbe": 200, "livenessProbe": 200, "readinessProbe": 200}
    assert asked_as_a_kubelet_asks("web", ports) == probes
    assert asked_as_a_kubelet_asks("worker", ports) == {"startupProbe": 200, "livenessProbe": 200}

    for path in ("/api/v1/snapshots/", "/api/v1/configurations/", "/api/v1/runs/"):
        assert Site(deployment.origin).ask("GET", path).status in (401, 403)

    printed = deployment.run("web", ["python", "manage.py", "login_link"])
    assert printed.returncode == 0, printed.stderr
    play_the_main_flow(Site(deployment.origin), printed.stdout, mode="distributed")

    for name in ("worker", "web"):
        deployment.running[name].stop()
        wait_until_unhealthy(deployment, name)
