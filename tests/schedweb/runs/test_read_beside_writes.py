"""Reading while somebody writes: a batch is stored, or the run goes, between two statements of one answer."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from itertools import count
from typing import Any, Final

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client

from schedweb.runs.deleting.services import run_delete
from schedweb.runs.models import Run
from tests.schedweb.runs.conftest import Game
from tests.schedweb.runs.test_api import READS, RUN

pytestmark = pytest.mark.django_db(transaction=True)

PATHS: Final = sorted(
    {path for path, _ in READS}
    | {
        f"{RUN}/{rest}"
        for rest in (
            "timeline/",
            "timing/",
            "objects/?kind=Pod",
            "objects/quotas/",
            "preemptions/",
            "attempts/1/difference/9/",
            "attempts/1/log/?v=10",
            "attempts/1/score-matrix/",
            "comparison/{run}/",
            "comparison/{run}/pods/?kind=same",
            "comparison/{run}/export/?as=csv",
            "metrics/",
            "metrics/resources/",
            "events/",
            "events/file/?as=json",
            "annotations/?as=json",
        )
    }
)
BEGUN: Final[dict[str, Any]] = {
    name: getattr(Run(), name)
    for name in (
        "position", "attempts", "seq", "points", "digest", "counts", "columns", "cycle", "node_count", "pod_count",
        "resources", "breakpoints", "state",
    )
}  # fmt: skip
"""A run that nobody has played."""


@contextmanager
def between(at: Callable[[str], bool], act: Callable[[], Any]) -> Any:
    """Acts once, before the first statement that is asked for."""
    done = False

    def seen(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        nonlocal done
        if not done and at(sql):
            done = True
            act()
        return execute(sql, *rest)

    with connection.execute_wrapper(seen):
        yield lambda: done


def nth(place: int) -> Callable[[str], bool]:
    numbers = count()
    return lambda _: next(numbers) == place


def test_the_first_batch_is_stored_in_between(played: Game, client: Client) -> None:
    """The run's row is the one from before, and every other row is there."""
    row = Run.objects.filter(pk=played.run.pk)
    now = row.values(*BEGUN).get()
    for path in PATHS:
        seen = False

        def after_the_run(sql: str) -> bool:
            nonlocal seen
            before, seen = seen, seen or '"runs_run"' in sql
            return before

        row.update(**BEGUN)
        with between(after_the_run, lambda: row.update(**now)):
            answer = client.get(path.format(run=played.id))
        row.update(**now)
        # Who finds nothing asks again: by its row the run has not begun.
        assert answer.status_code in (200, 202, 404), (path, answer.content)


def test_the_run_is_deleted_in_between(played: Game, client: Client, operator: User) -> None:
    """Before the first statement, the second, and so on, of every answer about it."""
    for path in (path for path in PATHS if "{run}" in path):
        for place in count():
            with transaction.atomic():
                with between(nth(place), lambda: run_delete(run=played.run.pk, user=operator)) as done:
                    answer = client.get(path.format(run=played.id))
                transaction.set_rollback(True)
            assert answer.status_code in (200, 404), (path, place, answer.content)
            if not done():
                break
