"""Many rows in one statement: insert, or update where the key exists. The ORM's way costs ten times as much.

Texts that are JSON already stay texts; what differs between SQLite and PostgreSQL is only how a value is passed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import connection, models


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
    table = quote(model._meta.db_table)
    targets = ", ".join(quote(names[column]) for column in columns)
    values = ", ".join(["%s"] * len(columns))
    conflict = ", ".join(quote(names[column]) for column in key)
    changes = []
    for column in columns:
        if column in key or column in fixed:
            continue
        name = quote(names[column])
        new = f"COALESCE(excluded.{name}, {table}.{name})" if column in keep else f"excluded.{name}"
        changes.append(f"{name} = {new}")
    action = f"DO UPDATE SET {', '.join(changes)}" if changes else "DO NOTHING"
    statement = f"INSERT INTO {table} ({targets}) VALUES ({values}) ON CONFLICT ({conflict}) {action}"
    with connection.cursor() as cursor:
        cursor.executemany(statement, rows)


def column_of(model: type[models.Model], name: str) -> str:
    field = model._meta.get_field(name)
    assert isinstance(field, models.Field)
    assert field.column is not None
    return field.column


def identifier(model: type[models.Model], value: Any) -> Any:
    """A primary key as the database takes it: UUIDs are text in SQLite."""
    return model._meta.pk.get_db_prep_value(value, connection)
