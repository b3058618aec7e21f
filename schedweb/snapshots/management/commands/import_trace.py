"""`manage.py import_trace nodes.csv pods.csv [--no-departures]`: a trace as a snapshot with a timeline."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from framework.objects.timestamps import parse_timestamp
from schedweb.accounts.audit.recording import record
from schedweb.sentences import noted
from schedweb.snapshots import services
from schedweb.snapshots.models import Snapshot
from schedweb.snapshots.trace import NAMESPACE, TraceError, read_trace
from schedweb.stored_command import StoredCommand

WITH_DEPARTURES = noted("A trace played over time, with departures.")
WITHOUT_DEPARTURES = noted("A trace played over time, without departures.")
#: The trace has no calendar, only seconds.
START = "2026-01-01T00:00:00Z"


class Command(StoredCommand):
    help = "Imports a trace in the form of Alibaba's openb: a list of nodes and a list of pods with times."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("nodes", type=Path)
        parser.add_argument("pods", type=Path)
        parser.add_argument("--no-departures", action="store_true", help="pods stay for ever")
        parser.add_argument("--name", default="", help="the snapshot's name (default: from the file and the mode)")

    def handle(self, *args: Any, **options: Any) -> None:
        departures = not options["no_departures"]
        try:
            trace = read_trace(options["nodes"], options["pods"], departures=departures)
        except (TraceError, OSError) as error:
            raise CommandError(str(error)) from None
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "uid": NAMESPACE}}
        ending = "with departures" if departures else "without departures"
        with transaction.atomic():
            snapshot = services.snapshot_from_manifests(
                name=options["name"] or f"{options['pods'].stem} {ending}",
                description=WITH_DEPARTURES if departures else WITHOUT_DEPARTURES,
                source=Snapshot.Source.TRACE,
                objects=chain([namespace], trace.nodes),
                timeline=trace.timeline,
                taken_at=parse_timestamp(START),
            )
            named = {"target": snapshot.name, "target_id": snapshot.pk}
            record("snapshot.import", **named, file=options["pods"].name, counts=snapshot.counts)
        counts = snapshot.counts
        self.stdout.write(
            f"{snapshot.pk} {snapshot.name}: {counts['nodes']} nodes, {counts['arrivals']} pods arrive, "
            f"{counts['departures']} leave"
        )
