"""Requests that are sent again with their Idempotency-Key are done once. tests/deploy sends several at once."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from schedweb.accounts.models import KeptAnswer
from schedweb.accounts.roles import Role
from schedweb.accounts.services import account_create
from schedweb.api import idempotency
from schedweb.configurations.models import Configuration, ConfigurationVersion
from schedweb.runs.models import JournalEntry, Run
from schedweb.snapshots import queue, services
from schedweb.snapshots.models import Import, Snapshot
from tests.schedweb.configurations.requests import TEXT
from tests.schedweb.engine.worlds import DEFAULT, START, node
from tests.schedweb.runs.test_api import schema
from tests.schedweb.snapshots.files import read_next

pytestmark = pytest.mark.django_db
CONFIGURATIONS = "/api/v1/configurations/"
NODE = b'{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}'


@pytest.fixture
def eda() -> User:
    return account_create(username="eda", role=Role.EDITOR, password=None)


@pytest.fixture
def editor(eda: User) -> Client:
    browser = Client()
    browser.force_login(eda)
    return browser


def post(client: Client, path: str, body: Any, key: str | None = "k-1", **how: Any) -> Any:
    headers = {} if key is None else {"Idempotency-Key": key}
    how = {"content_type": "application/json", **how}
    return client.post(path, body, headers=headers, **({} if how["content_type"] is None else how))


def test_a_key_is_one_configuration(editor: Client) -> None:
    body = {"name": "mine", "text": TEXT}
    first, again = post(editor, CONFIGURATIONS, body), post(editor, CONFIGURATIONS, dict(reversed(body.items())))
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert "Idempotency-Replayed" not in first
    assert again["Idempotency-Replayed"] == "true"
    assert Configuration.objects.count() == 1

    other = post(editor, CONFIGURATIONS, {**body, "name": "another"})
    assert (other.status_code, other.json()["error"]["code"]) == (422, "key_reused")
    assert "new key" in other.json()["error"]["message"]
    save = f"{CONFIGURATIONS}{first.json()['id']}/versions/"
    assert post(editor, save, body).status_code == 422, "another address is another request"

    changed = {"text": f"{TEXT}# more\n", "base_version": 1, "comment": ""}
    versions = [post(editor, save, changed, key="k-2") for _ in range(2)]
    assert [(each.status_code, each.json()["number"]) for each in versions] == [(201, 2), (201, 2)]
    assert ConfigurationVersion.objects.count() == 2


def test_keys_are_a_persons_own(editor: Client) -> None:
    assert post(editor, CONFIGURATIONS, {"name": "mine", "text": TEXT}).status_code == 201
    other = Client()
    other.force_login(account_create(username="otto", role=Role.EDITOR, password=None))
    assert post(other, CONFIGURATIONS, {"name": "his", "text": TEXT}).json()["name"] == "his"


def test_a_request_that_was_refused_may_be_mended_under_its_key(editor: Client) -> None:
    assert post(editor, CONFIGURATIONS, {"name": "mine", "text": "a: ["}).status_code == 422
    assert not KeptAnswer.objects.exists()
    assert post(editor, CONFIGURATIONS, {"name": "mine", "text": TEXT}).status_code == 201


def test_a_key_is_one_run_one_fork_and_one_command(editor: Client) -> None:
    snapshot = services.snapshot_from_manifests(
        name="small", description="", source=Snapshot.Source.IMPORT, objects=[node("a")], timeline=[], taken_at=START
    )
    version = ConfigurationVersion.objects.create(
        configuration=Configuration.objects.create(name="default", slug="d"), number=1, text=DEFAULT
    )
    body = {"snapshot": str(snapshot.pk), "configuration_version": str(version.pk)}
    runs = [post(editor, "/api/v1/runs/", body, key="run") for _ in range(2)]
    assert [each.status_code for each in runs] == [201, 201]
    assert (runs[0].json()["id"], Run.objects.count()) == (runs[1].json()["id"], 1)

    path = f"/api/v1/runs/{runs[0].json()['id']}/"
    forks = [post(editor, f"{path}forks/", {"position": 0}, key="fork") for _ in range(2)]
    assert [each.status_code for each in forks] == [201, 201], forks[0].content
    assert (forks[0].json()["id"], Run.objects.count()) == (forks[1].json()["id"], 2)

    told = [post(editor, f"{path}commands/", {"type": "play"}, key="play") for _ in range(2)]
    assert [each.status_code for each in told] == [202, 202]
    assert (told[0].json(), JournalEntry.objects.filter(run_id=runs[0].json()["id"]).count()) == (told[1].json(), 1)


def test_a_key_is_one_import_and_one_snapshot(editor: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "announce", read_next)

    def upload(content: bytes) -> Any:
        file = SimpleUploadedFile("cluster.json", content)
        return post(editor, "/api/v1/imports/", {"file": file}, key="up", content_type=None)

    first, again, other = upload(NODE), upload(NODE), upload(NODE.replace(b"n1", b"n2"))
    assert (first.status_code, again.json()["id"], other.status_code) == (201, first.json()["id"], 422)
    assert Import.objects.count() == 1
    commit = f"/api/v1/imports/{first.json()['id']}/commit/"
    made = [post(editor, commit, {"name": "mine"}, key="commit") for _ in range(2)]
    assert [each.status_code for each in made] == [201, 201], "the import is gone when it is asked again"
    assert (made[0].json(), Snapshot.objects.count()) == (made[1].json(), 1)


def test_who_asks_too_early_is_told_and_a_lost_request_is_done_again(
    editor: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idempotency, "PATIENCE_SECONDS", 0.0)
    body = {"name": "mine", "text": TEXT}
    assert post(editor, CONFIGURATIONS, body).status_code == 201
    Configuration.objects.all().delete()
    soon = timezone.now() + datetime.timedelta(minutes=1)
    KeptAnswer.objects.update(lease_expires=soon, status=0, body=b"")
    early = post(editor, CONFIGURATIONS, body)
    assert (early.status_code, early.json()["error"]["code"], early["Retry-After"]) == (409, "under_way", "1")
    KeptAnswer.objects.update(lease_expires=timezone.now() - datetime.timedelta(seconds=1))
    assert post(editor, CONFIGURATIONS, body).status_code == 201
    assert not KeptAnswer.objects.get().is_under_way
    assert Configuration.objects.count() == 1


def test_answers_are_kept_for_a_day_and_not_without_end(
    editor: Client, eda: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idempotency, "MOST_KEPT", 2)
    body = {"name": "mine", "text": TEXT}
    assert post(editor, CONFIGURATIONS, body).status_code == 201
    KeptAnswer.objects.update(created_at=timezone.now() - datetime.timedelta(hours=25))
    assert post(editor, CONFIGURATIONS, {**body, "name": "new"}).json()["name"] == "new"
    for number in range(5):
        assert post(editor, CONFIGURATIONS, {**body, "name": f"c{number}"}, key=f"n-{number}").status_code == 201
    assert KeptAnswer.objects.filter(user=eda).count() == 3, "the newest one and those before it"


@pytest.mark.parametrize("key", ["", "a b", "x" * 256, "ключ"])
def test_a_key_is_checked(editor: Client, key: str) -> None:
    answer = post(editor, CONFIGURATIONS, {"name": "mine", "text": TEXT}, key=key)
    assert (answer.status_code, answer.json()["error"]["path"]) == (400, "Idempotency-Key")
    assert not Configuration.objects.exists()


def test_the_description_says_who_takes_a_key() -> None:
    takes = {
        operation["operationId"]
        for methods in schema()["paths"].values()
        for operation in methods.values()
        if any((each["in"], each["name"]) == ("header", "Idempotency-Key") for each in operation.get("parameters", ()))
    }
    assert takes == {
        "clusters_follow",
        "clusters_schedule",
        "clusters_snapshot",
        "configurations_create",
        "configurations_save",
        "imports_commit",
        "imports_create",
        "imports_load",
        "runs_command",
        "runs_create",
        "runs_exact",
        "runs_fork",
        "runs_schedule_for_real",
        "snapshots_events_add",
    }
