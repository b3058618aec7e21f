"""The command asks its rights again while it schedules: without the right to bind nothing is tried, and it goes on."""

from __future__ import annotations

import pytest

from framework.sentences import Words
from schedweb.clusters.reading.access import Access
from schedweb.clusters.reading.rights import rules_to_schedule
from schedweb.clusters.scheduling import asking
from schedweb.clusters.scheduling.asking import AskedAgain
from tests.apiserver import ApiServer
from tests.apiserver.manifests import node
from tests.schedweb.clusters.conftest import until
from tests.schedweb.clusters.scheduling.conftest import BINDINGS, CONTEXT, OURS, Played, node_of, ours
from tests.schedweb.clusters.test_rights_taken import give, take


def test_a_right_that_is_taken_is_said_and_nothing_is_tried_without_it(
    server: ApiServer, played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "EVERY_SECONDS", 0.1)
    monkeypatch.setattr(asking, "SOON_SECONDS", 0.1)
    said: list[Words] = []
    asked = AskedAgain(Access(CONTEXT), rules_to_schedule([OURS], [], dry_run=False), said.append)
    server.add(node("n1"), ours("before"))
    played.start(may_bind=asked.may_bind)
    asked.start()
    try:
        until(lambda: node_of(server, "before"))
        before = take(server, "pods/binding")
        until(lambda: said)
        assert str(said[0]) == "The credentials lack create pods/binding. Nothing is decided until they may."
        tried = len(server.requests.select(**BINDINGS))
        server.add(ours("meanwhile"))
        take(server, "events")
        until(lambda: len(said) > 1)
        assert "events" in str(said[1])
        assert len(server.requests.select(**BINDINGS)) == tried
        assert node_of(server, "meanwhile") == ""
        give(server, before)
        until(lambda: node_of(server, "meanwhile"))
        assert str(said[-1]) == "The credentials may do all that scheduling needs again."
    finally:
        asked.stop()


def test_what_is_not_needed_to_bind_stops_nothing(server: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "EVERY_SECONDS", 0.1)
    said: list[Words] = []
    asked = AskedAgain(Access(CONTEXT), rules_to_schedule([OURS], [], dry_run=False), said.append)
    asked.start()
    try:
        take(server, "events")
        until(lambda: said)
        assert str(said[0]).endswith("What needs it fails, the rest goes on.")
        assert asked.may_bind()
    finally:
        asked.stop()
