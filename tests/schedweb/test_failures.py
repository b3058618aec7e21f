"""Whatever goes wrong below /api/ is answered as JSON in one shape; what the server's disk or database does is said."""

from __future__ import annotations

import errno
import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.db import OperationalError, connection, connections
from django.test import Client

from schedweb.accounts import services as accounts
from schedweb.accounts.roles import Role
from schedweb.api.failures import noted_failure, storage_failure
from schedweb.api.room import WATCH
from schedweb.snapshots import selectors
from tests.schedweb.engine.worlds import ASKING

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser() -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(accounts.account_create(username="eda", role=Role.EDITOR, password=None))
    return client


def error_in(answer: Any, status: int) -> dict[str, Any]:
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/json"), answer.content[:500]
    found: dict[str, Any] = json.loads(answer.content)["error"]
    assert found["code"]
    assert found["message"].strip()
    return found


def test_what_no_view_answers(browser: Client) -> None:
    error_in(browser.get("/api/v1/runs/%0Aa/"), 404)
    error_in(browser.get("/api/nothing\n"), 404)
    error_in(Client(enforce_csrf_checks=True).post("/api/v1/nothing/", {}), 404)
    error_in(browser.get("/api/v1/runs/", headers={"Host": "elsewhere.example"}), 400)
    page = browser.get("/static/nothing.js")
    assert (page.status_code, page["Content-Type"]) == (404, "text/plain; charset=utf-8")


def test_what_cannot_be_read_or_answered(browser: Client) -> None:
    error_in(browser.put("/api/v1/runs/", b"{}", content_type="application/json"), 405)
    error_in(browser.get("/api/v1/runs/", headers={"Accept": "text/html"}), 406)
    error_in(browser.post("/api/v1/runs/", b"<x/>", content_type="application/xml"), 415)
    error_in(browser.post("/api/v1/runs/", b'{"snapshot": ', content_type="application/json"), 400)
    error_in(browser.post("/api/v1/imports/", b"--x\r\n", content_type="multipart/form-data"), 400)
    error_in(browser.post("/api/v1/imports/", b"no parts", content_type="multipart/form-data; boundary=x"), 400)


def test_a_mistake_of_ours_is_json_with_the_id_of_the_log(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise RuntimeError("the secret of the server")

    monkeypatch.setattr(selectors, "snapshot_list", broken)
    answer = browser.get("/api/v1/snapshots/")
    found = error_in(answer, 500)
    assert answer["X-Request-Id"] in found["message"]
    assert "secret" not in found["message"]


@contextmanager
def without_a_database() -> Iterator[None]:
    def gone(*args: object) -> None:
        raise OperationalError("the connection was closed")

    with connection.execute_wrapper(gone):
        yield


def test_without_a_database_it_says_when_to_come_again(browser: Client) -> None:
    with without_a_database():
        answers = [browser.get("/api/v1/runs/"), browser.get("/api/docs/"), browser.get("/healthz")]
    assert error_in(answers[0], 503)["code"] == "unavailable"
    assert error_in(answers[1], 503)["code"] == "unavailable"
    assert (answers[2].status_code, answers[2]["Content-Type"]) == (503, "text/plain; charset=utf-8")
    assert all(int(each["Retry-After"]) > 0 for each in answers)


@contextmanager
def no_room() -> Iterator[None]:
    """SQLite's file stays as large as it is, without the free pages that other tests may have left in it."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")
        cursor.execute("PRAGMA max_page_count")
        ((before,),) = cursor.fetchall()
        cursor.execute("PRAGMA max_page_count = 1")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"PRAGMA max_page_count = {before}")


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="it bounds SQLite's file")
def test_a_full_disk_is_a_sentence_and_what_is_stored_is_shown(browser: Client) -> None:
    wanted = {"name": "large", "text": f"{ASKING}\n# {'x' * 100_000}\n"}
    with no_room():
        answer = browser.post("/api/v1/configurations/", wanted, content_type="application/json")
        assert browser.get("/api/v1/configurations/").status_code == 200
    found = error_in(answer, 503)
    assert (found["code"], "full" in found["message"]) == ("storage_full", True)
    assert answer["Retry-After"]
    assert browser.post("/api/v1/configurations/", wanted, content_type="application/json").status_code == 201


def test_an_upload_for_which_there_is_no_room_leaves_nothing(
    browser: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(settings, "UPLOAD_DIR", tmp_path / "uploads")

    def fills(source: str, target: Path) -> None:
        target.write_bytes(Path(source).read_bytes()[:10])
        raise OSError(errno.ENOSPC, "No space left on device", str(target))

    monkeypatch.setattr(shutil, "move", fills)
    with TemporaryUploadedFile("a.json", "application/json", 2, None) as file:
        file.write(b"{}")
        file.seek(0)
        answer = browser.post("/api/v1/imports/", {"file": file})
    assert error_in(answer, 503)["code"] == "storage_full"
    assert not [each for each in (tmp_path / "uploads").iterdir() if each.is_file()]


def test_what_is_about_storage_is_known_by_its_code() -> None:
    assert storage_failure(OSError(errno.EACCES, "Permission denied", "/data/uploads/a")) is not None
    assert storage_failure(OSError(errno.EPERM, "not yours to signal")) is None
    assert storage_failure(ValueError("full")) is None
    wrapped = OperationalError("attempt to write a readonly database")
    wrapped.__cause__ = sqlite3.OperationalError("attempt to write a readonly database")
    assert storage_failure(wrapped) is not None


def test_beside_postgresql_a_full_disk_for_uploads_is_none_of_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    full = OSError(errno.ENOSPC, "No space left on device", "/data/uploads/a")
    heard: list[str] = []
    monkeypatch.setattr(WATCH, "note_refusal", heard.append)
    for vendor, told in (("postgresql", []), ("sqlite", ["storage_full"])):
        heard.clear()
        with monkeypatch.context() as patched:
            patched.setattr(connections["default"], "vendor", vendor)
            assert noted_failure(full) is not None
        assert heard == told
