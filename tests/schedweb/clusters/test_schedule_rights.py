"""A run that schedules is begun only where the credentials may do what it needs; else nothing at all is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from django.test import Client

from schedweb.clusters.reading.access import Access
from schedweb.clusters.reading.kinds import kinds_of
from schedweb.clusters.reading.rights import DEFAULT_SCHEDULER, Mode, ask, missing_yaml
from schedweb.clusters.services import import_read_anyhow
from schedweb.clusters.writing.permission import VARIABLE
from schedweb.configurations.models import Configuration, ConfigurationVersion
from schedweb.runs.models import Run
from schedweb.snapshots.models import Import
from tests.apiserver import ApiServer
from tests.apiserver.access import READER
from tests.apiserver.manifests import pod
from tests.apiserver.recordings import SCHEDULER
from tests.schedweb.clusters import followed
from tests.schedweb.clusters.conftest import CONTEXT, until
from tests.schedweb.clusters.scheduled import URL, Begin, begin_answered, begun, state
from tests.schedweb.clusters.scheduling.conftest import OURS, node_of, ours
from tests.schedweb.clusters.scheduling.test_command import start_command

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_watching")]
REVIEWS = "selfsubjectaccessreviews"
ITS_LEASE = "get, update leases.coordination.k8s.io kube-scheduler -n kube-system"
OUR_LEASE = "get, create, update leases.coordination.k8s.io scheduling-playground -n kube-system"


def refused(operator: Client, version: str, **terms: Any) -> dict[str, Any]:
    answer = begin_answered(operator, version, **terms)
    assert answer.status_code == 409, answer.content
    assert not Run.objects.exists()
    told: dict[str, Any] = answer.json()["error"]
    return told


def sent(server: ApiServer) -> list[str]:
    """What was tried to be written, carried out or not."""
    return [each.resource for each in server.requests if each.method != "GET" and each.resource != REVIEWS]


def grant(server: ApiServer, mode: Mode) -> None:
    """What the check says is missing, and nothing more."""
    access = Access(CONTEXT)
    role, _ = yaml.safe_load_all(missing_yaml(ask(access, kinds_of(access)), mode, CONTEXT))
    server.grant(SCHEDULER, role["rules"])


@pytest.fixture
def reader(server: ApiServer) -> ApiServer:
    """May look at everything, and write nothing."""
    server.revoke(SCHEDULER)
    server.grant(SCHEDULER, READER)
    return server


@pytest.fixture
def default(version: str) -> str:
    """Of a configuration that schedules for default-scheduler."""
    made = Configuration.objects.create(name="theirs", slug="theirs")
    text = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    return str(ConfigurationVersion.objects.create(configuration=made, number=1, text=text).pk)


def test_who_may_only_read_begins_nothing_and_sends_no_write(reader: ApiServer, operator: Client, version: str) -> None:
    reader.add(ours("p1"))
    told = refused(operator, version)
    for rule in ("create pods/binding;", "patch pods/status;", "delete pods;", OUR_LEASE):
        assert rule in told["message"]
    told = refused(operator, version, dry_run=True)
    assert "create pods/binding;" in told["message"]
    assert "leases" not in told["message"], "a dry run takes none"
    assert not sent(reader)
    assert not list(reader.requests.select(verb="list", resource="pods")), "nor is it read in vain"


def test_who_may_bind_but_not_evict_begins(reader: ApiServer, operator: Client, version: str, workers: Begin) -> None:
    reader.add(ours("p1"))
    bind = {"apiGroups": [""], "resources": ["pods/binding"], "verbs": ["create"]}
    reader.grant(SCHEDULER, [bind])
    assert OUR_LEASE in refused(operator, version)["message"]
    assert not sent(reader)
    worker = workers(begun(operator, version, dry_run=True))
    until(lambda: "pods/binding" in sent(reader))
    worker.end()


def test_rights_in_a_namespace_suffice_for_a_run_that_keeps_to_it(
    reader: ApiServer, operator: Client, version: str
) -> None:
    bind = {"apiGroups": [""], "resources": ["pods/binding"], "verbs": ["create"]}
    reader.grant(SCHEDULER, [bind], namespace="default")
    assert "create pods/binding;" in refused(operator, version, dry_run=True)["message"]
    both = refused(operator, version, dry_run=True, namespaces=["default", "shop"])["message"]
    assert "create pods/binding -n shop" in both
    assert "create pods/binding -n default" not in both
    begun(operator, version, dry_run=True, namespaces=["default"])


def test_a_reading_that_did_not_ask_begins_no_scheduling(reader: ApiServer, operator: Client, version: str) -> None:
    began = operator.post(followed.URL, {}, content_type="application/json")
    row = Import.objects.get(pk=began.json()["reading"]["id"])
    import_read_anyhow(import_id=row.pk)
    row.refresh_from_db()
    assert row.state == Import.State.READY
    asked = {"typed": CONTEXT, "configuration_version": version, "scheduler_names": [OURS], "import_id": str(row.pk)}
    answer = operator.post(URL, asked, content_type="application/json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "not_asked")
    assert not Run.objects.exists()


def test_default_scheduler_is_scheduled_with_the_lease_that_the_check_names(
    server: ApiServer, operator: Client, default: str, workers: Begin
) -> None:
    server.add(pod("p1", "default"))
    terms: dict[str, Any] = {"scheduler_names": [DEFAULT_SCHEDULER]}
    told = refused(operator, default, **terms)
    # Creating Leases cannot be granted by their name, so that is granted already.
    assert ITS_LEASE in told["message"]
    assert "pods/binding" not in told["message"]
    assert not sent(server)
    grant(server, "default_scheduler")
    run = begun(operator, default, **terms)
    worker = workers(run)
    until(lambda: node_of(server, "p1"))
    until(lambda: state(operator, run)["state"] == "scheduling")
    assert server.get("Lease", "kube-scheduler", "kube-system")["spec"]["holderIdentity"]
    assert not list(server.requests.select(resource="leases", name="scheduling-playground"))
    worker.end()
    assert server.get("Lease", "kube-scheduler", "kube-system")["spec"]["holderIdentity"] == ""


@pytest.mark.parametrize("options", [(), ("--dry-run",)])
def test_the_command_is_refused_as_well(reader: ApiServer, tmp_path: Path, options: tuple[str, ...]) -> None:
    reader.add(ours("p1"))
    process = start_command(tmp_path, "--i-mean", CONTEXT, *options, may=CONTEXT)
    _, complaint = process.communicate(timeout=120)
    assert process.returncode == 2
    assert "create pods/binding;" in complaint
    assert not sent(reader)
    assert VARIABLE not in complaint
