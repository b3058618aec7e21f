"""Rows that a version before packing stored in PostgreSQL are read after the upgrade."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg

from scripts.processes import ROOT, bare_environment
from scripts.services import Services

CARD = {"namespace": "shop", "name": "web-1", "workload": "web", "tail": "1"}
READ = """
import json
from schedweb.runs.models import Attempt, PodRecord
print(json.dumps([PodRecord.objects.get().card, PodRecord.objects.get().detail, Attempt.objects.get().ending]))
"""


ZERO = {"uuid": "gen_random_uuid()", "boolean": "false", "jsonb": "'{}'", "timestamp with time zone": "now()"}
TEXTS = ("text", "character varying", "bytea")


def insert(database: psycopg.Connection[Any], table: str, **given: str) -> None:
    """A row with these columns, as SQL has them, and nothing in all others."""
    needed = database.execute(
        "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = %s AND is_nullable = 'NO' "
        "AND is_identity = 'NO'",
        (table,),
    ).fetchall()
    row = {name: "''" if type_ in TEXTS else ZERO.get(type_, "0") for name, type_ in needed} | given
    columns = ", ".join(f'"{name}"' for name in row)
    database.execute(f"INSERT INTO {table} ({columns}) VALUES ({', '.join(row.values())})".encode())


def test_json_of_before_is_read(services: Services, tmp_path: Path) -> None:
    environment = bare_environment() | {
        "DATABASE_URL": services.database_url,
        "REDIS_URL": services.redis_url,
        "PLAYGROUND_DATA": str(tmp_path),
        "SECRET_KEY": "for this test",
    }

    def manage(*words: str) -> str:
        command = [sys.executable, "manage.py", *words]
        return subprocess.check_output(command, cwd=ROOT, env=environment, text=True, timeout=300)

    manage("migrate", "runs", "0021")
    with psycopg.connect(services.database_url) as database:
        # Without what the run is of.
        database.execute("SET session_replication_role = replica")
        run = f"'{uuid4()}'"
        insert(database, "runs_run", id=run)
        insert(database, "runs_podrecord", run_id=run, card=f"'{json.dumps(CARD)}'", detail="'{\"journey\": []}'")
        insert(database, "runs_attempt", run_id=run, ending="'{\"points\": []}'")
    manage("migrate", "runs")
    said = manage("shell", "--no-imports", "-c", READ).strip().splitlines()[-1]
    assert json.loads(said) == [CARD, {"journey": []}, {"points": []}]
