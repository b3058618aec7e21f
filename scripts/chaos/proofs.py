"""What must be true afterwards: nothing accepted is lost or there twice, no pod is bound twice, and every run is what
its journal says when it is played again from its start, undisturbed.

`python -m scripts.chaos.proofs RUN …` replays runs, with the environment of the service `worker`.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from typing import Any

import msgspec

from scripts.chaos.cluster import Cluster
from scripts.chaos.people import Accepted


def replayed(runs: list[str]) -> dict[str, str]:
    """Run → "" or what is wrong. Every run from its very beginning, without any checkpoint, in this process."""
    import django  # noqa: PLC0415 - only the process that replays knows Django, and its environment comes first

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "schedweb.settings")
    django.setup()

    from schedweb.engine.child import prepare  # noqa: PLC0415
    from schedweb.runs.models import Run  # noqa: PLC0415
    from schedweb.runs.storing.stored import begin_of, journal_since  # noqa: PLC0415

    found = {}
    for run in Run.objects.filter(pk__in=runs).select_related("snapshot", "first_configuration_version"):
        begin = msgspec.structs.replace(begin_of(run), checkpoint=None, journal=journal_since(run, 0), is_stored=True)
        try:
            played = prepare(begin).player
        except Exception as error:  # noqa: BLE001 - whatever it is, this run is not what its journal says
            found[str(run.pk)] = f"{type(error).__name__}: {error}"
            continue
        wrong = played.position != run.position or played.digest != run.digest
        found[str(run.pk)] = f"{played.position} {played.digest}" if wrong else ""
    return found


def replays(cluster: Cluster, runs: list[str]) -> dict[str, str]:
    done = cluster.deployed.run("worker", [sys.executable, "-m", "scripts.chaos.proofs", *runs])
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


def commands_lost_or_doubled(cluster: Cluster, accepted: Accepted) -> tuple[list[str], list[str], list[str]]:
    """(Lost, doubled, still pending), with words."""
    lost, doubled, pending = [], [], []
    for run, commands in accepted.commands.items():
        rows = cluster.rows(
            "SELECT client_id::text, status, type FROM runs_journalentry WHERE run_id = %s AND type <> 'clock'", run
        )
        times = Counter(client_id for client_id, *_ in rows)
        statuses = {client_id: status for client_id, status, _ in rows}
        for client_id, body in commands.items():
            what = f"{run} {client_id} {body['type']}"
            if times[client_id] == 0:
                lost.append(what)
            elif times[client_id] > 1:
                doubled.append(what)
            elif statuses[client_id] == "pending":
                pending.append(what)
        added = Counter(
            json.loads(body["manifest"])["metadata"]["name"]
            for client_id, body in commands.items()
            if body["type"] == "pod_add" and statuses.get(client_id) == "applied"
        )
        there = Counter(name for (name,) in cluster.rows("SELECT name FROM runs_podrecord WHERE run_id = %s", run))
        lost += [f"{run}: the pod {name} was added and is not there" for name in added if not there[name]]
        doubled += [f"{run}: the pod {name} is there {there[name]} times" for name in added if there[name] > 1]
    return lost, doubled, pending


def bound_twice(cluster: Cluster, runs: list[str]) -> list[str]:
    """Attempts are numbered without gaps, and a pod is bound once only."""
    wrong = []
    for run in runs:
        rows = cluster.rows("SELECT number, pod_uid, result FROM runs_attempt WHERE run_id = %s ORDER BY number", run)
        if [number for number, *_ in rows] != list(range(1, len(rows) + 1)):
            wrong.append(f"{run}: attempts are missing, or there twice")
        bound = Counter(uid for _, uid, result in rows if result == "bound")
        wrong += [f"{run}: {uid} was bound {count} times" for uid, count in bound.items() if count > 1]
    return wrong


def unsettled(cluster: Cluster, runs: list[str]) -> list[tuple[Any, ...]]:
    """Runs that are not at rest: somebody holds them, or commands wait."""
    return cluster.rows(
        "SELECT id::text, state, position, lease_owner, "
        "(SELECT count(*) FROM runs_journalentry WHERE run_id = runs_run.id AND status = 'pending') FROM runs_run "
        "WHERE id = ANY(%s::uuid[]) AND ((lease_owner <> '' AND lease_expires > now()) OR EXISTS "
        "(SELECT 1 FROM runs_journalentry WHERE run_id = runs_run.id AND status = 'pending'))",
        runs,
    )


if __name__ == "__main__":
    print(json.dumps(replayed(sys.argv[1:])))
