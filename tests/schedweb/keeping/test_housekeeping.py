"""What workers do by themselves."""

from __future__ import annotations

import logging
import threading

import pytest
from django.test import Client
from pytest_django import Settings

from schedweb.keeping import housekeeping
from schedweb.keeping.deleted import remove_overdue
from schedweb.runs.models import Run
from tests.schedweb.keeping.test_deleted import address, overdue
from tests.schedweb.runs.conftest import Game, Start, eventually

pytestmark = pytest.mark.django_db(transaction=True)


def test_what_is_overdue_goes_by_itself_and_an_error_is_tried_again(
    game: Game,
    client: Client,
    settings: Settings,
    in_background: Start,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    settings.HOUSEKEEPING_FIRST_SECONDS = settings.HOUSEKEEPING_SECONDS = 0.05
    client.delete(address(game.id))
    tries: list[int] = []

    def failing_at_first() -> dict[str, int]:
        tries.append(1)
        if len(tries) == 1:
            raise RuntimeError("once")
        return removing()

    removing = remove_overdue
    monkeypatch.setattr(housekeeping, "remove_overdue", failing_at_first)
    stop = threading.Event()
    working = in_background(lambda: housekeeping.keep_house_until(stop))
    try:
        with caplog.at_level(logging.ERROR):
            eventually(lambda: len(tries) > 1)
        assert "housekeeping failed" in caplog.text
        assert Run.every.filter(pk=game.id).exists()
        overdue(game.run)
        eventually(lambda: not Run.every.filter(pk=game.id).exists())
    finally:
        stop.set()
        working.join(60)
    assert not working.is_alive()
