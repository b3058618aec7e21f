"""What people do to runs is in the audit log; every operation of the API is in it or left out for a reason."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, get_args

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from schedweb.accounts.audit.recording import Action
from schedweb.accounts.models import AuditEntry
from schedweb.api.listing import endpoints
from schedweb.runs.models import JournalEntry, Run
from schedweb.runs.playing import commands
from schedweb.runs.playing.commands import command_append
from tests.schedweb.runs.conftest import Game

pytestmark = pytest.mark.django_db
JOURNAL = "what a run is told is in its journal, but for decisions and configurations"
ASKS = "changes nothing that others see"
MADE = "says itself who made it"
AUDITED: dict[str, str] = {
    "tokens_create": "token.create",
    "tokens_revoke": "token.revoke",
    "runs_tokens_create": "token.create",
    "sessions_end": "session.end",
    "sessions_end_others": "session.end",
    "password_change": "account.password",
    "accounts_create": "account.create",
    "accounts_change": "account.role",
    "accounts_login_link": "account.link",
    "clusters_connect": "cluster.connect",
    "clusters_disconnect": "cluster.disconnect",
    "clusters_follow": "cluster.follow",
    "clusters_schedule": "cluster.schedule",
    "clusters_snapshot": "cluster.snapshot",
    "imports_commit": "snapshot.import",
    "snapshots_delete": "snapshot.delete",
    "snapshots_events_add": "snapshot.events",
    "configurations_create": "configuration.create",
    "configurations_rename": "configuration.rename",
    "configurations_delete": "configuration.delete",
    "configurations_save": "configuration.change",
    "runs_delete": "run.delete",
    "runs_delete_many": "run.delete",
    "runs_keep": "run.keep",
    "runs_schedule_for_real": "cluster.schedule",
    "runs_share_link_create": "share.create",
    "runs_share_link_revoke": "share.revoke",
    "runs_command": "decision.approve",
    "deleted_restore": "run.restore",
    "deleted_remove": "run.remove",
}
NOT_AUDITED: dict[str, str] = {
    "clusters_ask": ASKS,
    "imports_create": ASKS,
    "imports_discard": ASKS,
    "imports_load": ASKS,
    "imports_load_discard": ASKS,
    "configurations_check": ASKS,
    "configurations_convert": ASKS,
    "runs_analysis_ask": ASKS,
    "runs_analysis_cancel": ASKS,
    "runs_shadow_alert": "only when the page of the run says so",
    "runs_star": MADE,
    "runs_unstar": MADE,
    "runs_create": MADE,
    "runs_fork": MADE,
    "runs_exact": MADE,
}


def test_every_operation_that_changes_something_is_accounted_for() -> None:
    """A new one fails here until it says which entry it makes, or why none."""
    writes = {
        operation["name"] for each in endpoints() for operation in each["methods"] if operation["method"] != "GET"
    }
    assert writes == AUDITED.keys() | NOT_AUDITED.keys()
    assert set(AUDITED.values()) <= set(get_args(Action))


@pytest.fixture
def browser(operator: User) -> Client:
    client = Client(REMOTE_ADDR="192.0.2.7")
    client.force_login(operator)
    return client


def post(browser: Client, path: str, status: int, **body: Any) -> Any:
    answer = browser.post(path, body, content_type="application/json")
    assert answer.status_code == status, answer.content
    return answer.json()


def newest() -> AuditEntry:
    found = AuditEntry.objects.first()
    assert found is not None
    assert (found.username, found.via, found.address) == ("mira", "session", "192.0.2.7")
    return found


def test_decisions(played: Game, browser: Client) -> None:
    commands = f"/api/v1/runs/{played.id}/commands/"
    pod = {"namespace": "default", "name": "asks-2"}
    body = {"type": "decide", "decision": "reject", "pods": [pod], "reason": "the password is hunter2"}
    receipt = post(browser, commands, 202, **body)
    told = newest()
    assert (told.action, told.result, told.target_id) == ("decision.reject", "done", str(played.id))
    assert told.details == {"command": receipt["id"], "pods": ["default/asks-2"], "count": 1}
    post(browser, commands, 202, **{**body, "decision": "approve"})
    assert newest().action == "decision.approve"
    before = AuditEntry.objects.count()
    post(browser, commands, 202, type="pause")
    post(browser, commands, 400, **{**body, "reason": ""})
    assert AuditEntry.objects.count() == before


def test_the_same_decision_twice_is_one_entry(played: Game, browser: Client) -> None:
    pod = {"namespace": "default", "name": "asks-2"}
    body = {"type": "decide", "decision": "approve", "pods": [pod], "client_id": "0c8ab6c8-6a3c-4e53-9d5c-0d5a4f6b1c11"}
    for _ in range(2):
        post(browser, f"/api/v1/runs/{played.id}/commands/", 202, **body)
    assert AuditEntry.objects.filter(action="decision.approve", username="mira").count() == 1


class Killed(BaseException):
    """The process, before it sends a statement."""


def decisions_and_entries(game: Game) -> tuple[int, int]:
    decided = JournalEntry.objects.filter(run=game.run, type="decide").count()
    return decided, AuditEntry.objects.filter(action__startswith="decision.").count()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("sent", range(3))
def test_who_is_killed_leaves_both_the_decision_and_its_entry_or_neither(
    played: Game, operator: User, sent: int
) -> None:
    pods = [{"namespace": "default", "name": "asks-2"}]
    body = {"type": "decide", "decision": "approve", "pods": pods}
    left, before = sent, decisions_and_entries(played)

    def count(execute: Any, sql: str, *rest: Any) -> Any:
        nonlocal left
        if sql.startswith(("INSERT", "WITH", "UPDATE", "DELETE")):
            if left == 0:
                raise Killed
            left -= 1
        return execute(sql, *rest)

    with suppress(Killed), connection.execute_wrapper(count):
        command_append(run_id=played.run.pk, user=operator, body=body)
    stored, noted = (now - then for now, then in zip(decisions_and_entries(played), before, strict=True))
    assert (stored, noted) in ((0, 0), (1, 1))
    assert stored == 0 or sent > 0


def test_what_is_withdrawn_is_noted_as_refused(played: Game, operator: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run was stopped while the decision was checked."""
    pods = [{"namespace": "default", "name": "asks-2"}]
    monkeypatch.setattr(commands, "refuse_by_state", lambda run, command: None)
    Run.objects.filter(pk=played.run.pk).update(state=Run.State.STOPPED)
    before = decisions_and_entries(played)
    command_append(run_id=played.run.pk, user=operator, body={"type": "decide", "decision": "approve", "pods": pods})
    assert decisions_and_entries(played) == (before[0], before[1] + 2)
    assert [entry.result for entry in AuditEntry.objects.all()[:2]] == ["refused", "done"]


def test_share_links_and_deletions(game: Game, browser: Client) -> None:
    links = f"/api/v1/runs/{game.id}/share-links/"
    made = post(browser, links, 201, name="for the review")
    told = newest()
    assert (told.action, told.target, told.target_id) == ("share.create", "for the review", made["id"])
    assert made["path"].rpartition("/")[2] not in str(told.details)
    for _ in range(2):
        assert browser.delete(f"{links}{made['id']}/").status_code == 204
    assert (newest().action, AuditEntry.objects.filter(action="share.revoke").count()) == ("share.revoke", 1)
    number = browser.get(f"/api/v1/runs/{game.id}/").json()["number"]
    assert browser.delete(f"/api/v1/runs/{game.id}/").status_code == 204
    assert (newest().action, newest().target) == ("run.delete", number)
