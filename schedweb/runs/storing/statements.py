"""Statements that are made for every batch of a run and every write to a cluster, hundreds of times a second: the ORM
takes longer to make one than the database to carry it out.

Run.objects leaves out what was deleted, and so do these.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Final, cast

from django.db import connection
from django.db.models.sql.subqueries import UpdateQuery

from schedweb.runs.models import ClusterWrite, Followed, JournalEntry, Run
from schedweb.runs.storing.lease import Lease, expiry, mine
from schedweb.runs.storing.upserts import identifier, inserted, table_of

_RUN, _ENTRY = table_of(Run), table_of(JournalEntry)
_MINE: Final = f"{_RUN}.id = %s AND {_RUN}.epoch = %s AND {_RUN}.deleted_at IS NULL"
_IS_MINE: Final = f"SELECT 1 FROM {_RUN} WHERE {_MINE}"
_USE: Final = f"UPDATE {_RUN} SET used_at = %s WHERE {_MINE}"
_STOP: Final = f"SELECT 1 FROM {_ENTRY} WHERE {_ENTRY}.run_id = {_RUN}.id AND {_ENTRY}.type = 'stop'"
_MAY_WRITE: Final = f"{_IS_MINE} AND NOT EXISTS ({_STOP})"
_WAITS: Final = f"SELECT 1 FROM {_ENTRY} WHERE run_id = %s AND status = '{JournalEntry.Status.PENDING.value}' LIMIT 1"
_ANSWERED: Final = f"""UPDATE {table_of(ClusterWrite)} SET outcome = %s, answered_at = %s
WHERE run_id = %s AND number = %s AND outcome IS NULL"""
_COUNTED: Final = f"""UPDATE {table_of(Followed)} SET writes_done = writes_done + %s,
writes_refused = writes_refused + %s WHERE run_id = %s"""
_CHANGED: Final = f"UPDATE {table_of(Followed)} SET changes = changes + %s, changed_at = %s WHERE run_id = %s"


class RunRow:
    """The row of a run that is held."""

    def __init__(self, lease: Lease) -> None:
        self._held = Run.objects.filter(mine(lease))
        self._fields = {field.name: field for field in Run._meta.concrete_fields}
        self._made: dict[tuple[tuple[str, bool], ...], tuple[str, list[Any]]] = {}
        """Statements by (field, whether it is NULL), with the values behind those of the fields."""

    def update(self, **values: Any) -> bool:
        """And holds it for as long as a lease lasts. False: it is somebody else's."""
        key = tuple((name, value is None) for name, value in values.items())
        statement, rest = self._made.get(key) or self._made.setdefault(key, self._statement(values))
        given = [self._stored(name, value) for name, value in values.items() if value is not None]
        with connection.cursor() as cursor:
            cursor.execute(statement, [*given, *rest])
            return bool(cursor.rowcount)

    def _statement(self, values: Mapping[str, Any]) -> tuple[str, list[Any]]:
        query = cast("Any", self._held.query.chain(UpdateQuery))
        query.add_update_values({**values, "lease_expires": expiry()})
        statement, parameters = query.get_compiler(connection=connection).as_sql()
        given = sum(value is not None for value in values.values())
        return statement, list(parameters[given:])

    def _stored(self, name: str, value: Any) -> Any:
        return self._fields[name].get_db_prep_save(value, connection)


def _mine(lease: Lease) -> list[Any]:
    return [identifier(Run, lease.run), lease.epoch]


def _finds(statement: str, values: list[Any]) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchone() is not None


def is_mine(lease: Lease) -> bool:
    return _finds(_IS_MINE, _mine(lease))


def may_write(lease: Lease) -> bool:
    """Whether the lease is ours and nobody said Stop: asked right before a write is sent."""
    return _finds(_MAY_WRITE, _mine(lease))


def is_awaited_by_commands(run: Any) -> bool:
    """Whether commands of the run wait to be offered."""
    return _finds(_WAITS, [identifier(Run, run)])


def use(lease: Lease, now: datetime.datetime) -> bool:
    """Notes that the run was used. False: it is somebody else's."""
    with connection.cursor() as cursor:
        cursor.execute(_USE, [now, *_mine(lease)])
        return bool(cursor.rowcount)


def answer(run: Any, answers: list[tuple[int, str]], now: datetime.datetime) -> None:
    """Stores outcomes, JSON by their writes' numbers, where there are none."""
    with connection.cursor() as cursor:
        for number, outcome in answers:
            cursor.execute(_ANSWERED, [outcome, now, identifier(Run, run), number])


def count_writes(run: Any, done: int, refused: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_COUNTED, [done, refused, identifier(Run, run)])


def count_changes(run: Any, changes: int, now: datetime.datetime) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_CHANGED, [changes, now, identifier(Run, run)])


def append(entry: JournalEntry) -> None:
    """With the number after the newest, which it is given. Raises IntegrityError where another command took that."""
    columns, places, values = inserted(entry, "number")
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {_ENTRY} ({columns}, number) "
            f"SELECT {places}, COALESCE(MAX(number), 0) + 1 FROM {_ENTRY} WHERE run_id = %s RETURNING number",
            [*values, identifier(Run, entry.run_id)],
        )
        ((entry.number,),) = cursor.fetchall()
