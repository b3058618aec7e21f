"""Many rows in one statement: insert, or update where the key exists. The ORM's way costs ten times as much.

Texts that are JSON already stay texts. What differs between SQLite and PostgreSQL is how a value is passed, and that
PostgreSQL gets whole statements: psycopg's executemany is a pipeline, and who stands still in the middle of one keeps
its locks for good, because a session counts as idle only between statements that were answered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from django.db import connection, models

MOST_ROWS: Final = 500
"""In a statement: each is answered soon, so that a connection on which nothing is heard is known to be dead."""


def upsert(
    model: type[models.Model],
    columns: Sequence[str],
    key: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    keep: Sequence[str] = (),
    fixed: Sequence[str] = (),
) -> None:
    """`columns`: names of fields. Of `keep` an old value stays where the new one is NULL, of `fixed` always."""
    if not rows:
        return
    names = {column: column_of(model, column) for column in columns}
    quote = connection.ops.quote_name
    table = table_of(model)
    targets = ", ".join(quote(names[column]) for column in columns)
    values = f"({', '.join(['%s'] * len(columns))})"
    conflict = ", ".join(quote(names[column]) for column in key)
    changes = []
    for column in columns:
        if column in key or column in fixed:
            continue
        name = quote(names[column])
        new = f"COALESCE(excluded.{name}, {table}.{name})" if column in keep else f"excluded.{name}"
        changes.append(f"{name} = {new}")
    action = f"DO UPDATE SET {', '.join(changes)}" if changes else "DO NOTHING"
    before, after = f"INSERT INTO {table} ({targets}) VALUES ", f" ON CONFLICT ({conflict}) {action}"
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.executemany(before + values + after, rows)
            return
        for part in parts_of(rows, [columns.index(column) for column in key]):
            cursor.execute(before + ", ".join([values] * len(part)) + after, [value for row in part for value in row])


def parts_of(rows: Sequence[Sequence[Any]], key: Sequence[int]) -> Iterator[list[Sequence[Any]]]:
    """In their order, no key twice in a part: a statement may change a row once. ``key``: which columns it is."""
    part: list[Sequence[Any]] = []
    seen: set[tuple[Any, ...]] = set()
    for row in rows:
        identity = tuple(row[index] for index in key)
        if identity in seen or len(part) == MOST_ROWS:
            yield part
            part, seen = [], set()
        part.append(row)
        seen.add(identity)
    if part:
        yield part


def table_of(model: type[models.Model]) -> str:
    """Quoted, as statements name it."""
    return connection.ops.quote_name(model._meta.db_table)


def column_of(model: type[models.Model], name: str) -> str:
    field = model._meta.get_field(name)
    assert isinstance(field, models.Field)
    assert field.column is not None
    return field.column


def inserted(row: models.Model, without: str) -> tuple[str, str, list[Any]]:
    """(columns, placeholders, values) of an INSERT of all fields but one."""
    fields = [field for field in row._meta.concrete_fields if field.name != without]
    columns = ", ".join(connection.ops.quote_name(str(field.column)) for field in fields)
    values = [field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields]
    return columns, ", ".join(["%s"] * len(fields)), values


def identifier(model: type[models.Model], value: Any) -> Any:
    """A primary key as the database takes it: UUIDs are text in SQLite."""
    return model._meta.pk.get_db_prep_value(value, connection)
