"""`manage.py cluster contexts|check|snapshot|follow|shadow|schedule`: real clusters, from the command line."""

from __future__ import annotations

import json
import signal
import sys
import time
from argparse import ArgumentTypeError
from collections.abc import Sequence
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final
from uuid import UUID

import msgspec
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from framework.configuration import load
from framework.extenders import Answer
from framework.objects.names import label_value_errors, qualified_name_errors
from framework.plugins.registry import built_in_registry
from framework.profiles import ProfileError
from framework.reading.documents import FileRefused
from framework.sentences import Words
from schedweb.accounts.scheduling import scheduling_allow
from schedweb.accounts.services import owner_get
from schedweb.api.errors import ApiError
from schedweb.calling import allowed, refused_extender
from schedweb.clusters.offered import offered
from schedweb.clusters.reading.access import Access
from schedweb.clusters.reading.kinds import kinds_of
from schedweb.clusters.reading.problems import ClusterProblem
from schedweb.clusters.reading.rights import (
    DEFAULT_SCHEDULER,
    Rights,
    ask,
    missing_yaml,
    refuse_who_lacks,
    rules_to_schedule,
)
from schedweb.clusters.scheduling.asking import AskedAgain
from schedweb.clusters.scheduling.driver import Driver
from schedweb.clusters.scheduling.recorded import Recorded
from schedweb.clusters.selectors import MODES, mode_body, moment
from schedweb.clusters.services import cluster_snapshot, context_offered, import_read_anyhow
from schedweb.clusters.writing.permission import permission
from schedweb.clusters.writing.sending import Limits
from schedweb.engine.asked import Asking
from schedweb.engine.own_nodes import kept_to, why_not_kept
from schedweb.extender_calls import call_all
from schedweb.processes.long_lived import settle_down
from schedweb.processes.structs import learn_structs
from schedweb.runs.following.services import LEAST_MEGABYTES, MOST_MEGABYTES, follow_begin, follow_read
from schedweb.runs.models import Run
from schedweb.runs.own_world.watched import OwnWorldWatched
from schedweb.runs.shadowing.watched import Watched, newest_version
from schedweb.sentences import translated
from schedweb.serving import origin_known
from schedweb.snapshots.models import Import
from schedweb.snapshots.services import SnapshotError, import_commit, import_discard
from schedweb.stored_command import StoredCommand

MISSING: Final = 1
"""Exit status of ``check`` when a rule that looking needs is missing."""
LOST: Final = 3
"""Exit status of ``schedule`` when somebody else may hold the Lease."""
INTERRUPTED: Final = 130
"""Exit status after Ctrl+C before there is anything to stop, as a shell has it."""
LOOK_SECONDS: Final = 1.0
"""Between two looks of ``shadow`` at what was judged."""


class Command(StoredCommand):
    help = (
        "Lists the clusters of the kubeconfig, says what may be done there, takes snapshots, and begins runs that "
        "follow one. Writes to one only as its scheduler (schedule), where whoever starts the server allowed it."
    )

    def execute(self, *args: Any, **options: Any) -> str | None:
        if options["action"] == "schedule":
            # Nothing is stored by it, so it runs where there is no database.
            return BaseCommand.execute(self, *args, **options)
        return super().execute(*args, **options)

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        contexts = actions.add_parser("contexts", help="the contexts that are offered, with their addresses")
        check = actions.add_parser("check", help="reaches the cluster, and asks what the credentials may do there")
        snapshot = actions.add_parser("snapshot", help="stores what an import of all its objects would")
        follow = actions.add_parser("follow", help="begins a run that follows it, and prints where it is seen")
        shadow = actions.add_parser(
            "shadow", help="follows it, and says where a configuration would decide otherwise than its scheduler"
        )
        schedule = actions.add_parser(
            "schedule", help="is a scheduler of the cluster until it is stopped (docs/live-clusters.md)"
        )
        schedule.add_argument("context")
        schedule.add_argument("--i-mean", required=True, metavar="CLUSTERNAME", help="the context's name once more")
        schedule.add_argument("--configuration", required=True, metavar="FILE", help="a KubeSchedulerConfiguration")
        schedule.add_argument("--scheduler-name", action="append", required=True, metavar="NAME")
        schedule.add_argument("--dry-run", action="store_true", help="every write with dryRun=All: nothing changes")
        schedule.add_argument("--namespace", action="append", default=[], help="only pods of these namespaces")
        schedule.add_argument(
            "--node-label", action="append", default=[], metavar="KEY=VALUE", help="only onto nodes with this label"
        )
        schedule.add_argument("--max-bindings-per-minute", type=int, default=0, metavar="N")
        schedule.add_argument("--record", metavar="FILE", help="every write and its outcome, as lines of JSON")
        for each in (contexts, check, snapshot, follow, shadow):
            each.add_argument("--json", action="store_true", help="one JSON object")
        for each in (check, snapshot, follow, shadow):
            each.add_argument("context")
        snapshot.add_argument("--name", default="", help="of the snapshot (default: context and time)")
        snapshot.add_argument("--exclude-namespace", action="append", default=[], metavar="NAMESPACE")
        snapshot.add_argument("--label-selector", default="", help="only pods that match")

        for name, words in (
            ("allow", "gives an account the right"),
            ("disallow", "takes the right away from an account"),
        ):
            actions.add_parser(name, help=f"{words} to begin runs that schedule a cluster").add_argument("username")
        for each in (follow, shadow):
            each.add_argument("--user", default="", help="whose run it is (default: the owner)")
            each.add_argument(
                "--megabytes",
                type=_megabytes,
                default=0,
                help=f"how much of the run is kept; then its oldest part goes (default: {settings.FOLLOW_MEGABYTES})",
            )
        shadow.add_argument(
            "--configuration", required=True, metavar="NAME", help="a stored configuration (its newest version)"
        )
        shadow.add_argument(
            "--on-its-own",
            action="store_true",
            help="the same arrivals in a world of its own, where differences add up (default: step by step)",
        )
        shadow.add_argument(
            "--minutes", type=float, default=0, help="after which it ends, and the run with it (default: Ctrl+C)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            match options["action"]:
                case "contexts":
                    self.say_contexts(options)
                case "check":
                    self.say_rights(options)
                case "snapshot":
                    self.take_snapshot(options)
                case "follow":
                    self.follow(options)
                case "shadow":
                    self.shadow(options)
                case "schedule":
                    self.schedule(options)
                case "allow" | "disallow":
                    scheduling_allow(_user(options["username"]), may=options["action"] == "allow")
        except (ApiError, ClusterProblem, FileRefused, ProfileError, SnapshotError, OSError) as error:
            raise CommandError(str(error), returncode=2) from None
        except KeyboardInterrupt:
            raise CommandError("Interrupted.", returncode=INTERRUPTED) from None

    def say_contexts(self, options: dict[str, Any]) -> None:
        found = offered()
        if found.problem:
            raise CommandError(translated(found.problem), returncode=2)
        if options["json"]:
            self._json({"contexts": [each._asdict() for each in found.contexts]})
            return
        self._table([("CONTEXT", "SERVER"), *((each.name, each.server or "-") for each in found.contexts)])

    def say_rights(self, options: dict[str, Any]) -> None:
        name = context_offered(options["context"]).name
        access = Access(name)
        version, _ = access.version()
        rights = ask(access, kinds_of(access))
        modes = [mode_body(name, rights, mode) for mode in MODES]
        if options["json"]:
            asked = moment(rights.asked_at)
            about = {"context": name, "server": access.server, "version": version, "user": rights.who}
            self._json({**about, "asked_at": asked and asked.isoformat(), "modes": modes})
        else:
            self.stdout.write(f"{name}: {access.server}, {version}")
            if access.is_insecure:
                self.stderr.write("Its certificate is not looked at (insecure-skip-tls-verify).")
            for mode in modes:
                self._say_mode(mode)
            self._say_yaml(rights, name)
        if rights.missing("look"):
            sys.exit(MISSING)

    def _say_mode(self, mode: dict[str, Any]) -> None:
        self.stdout.write(f"\n{mode['mode']}: {mode['granted']} of {mode['of']} rules")
        rows = [("RESOURCE", "VERBS", "MISSING")]
        for rule in mode["rules"]:
            resource = f"{rule['resource']}.{rule['group']}" if rule["group"] else rule["resource"]
            about = f"{resource} {rule['name']}".strip()
            rows.append((about, ",".join(rule["verbs"]), ",".join(rule["missing"]) or "-"))
        self._table(rows)

    def _say_yaml(self, rights: Rights, name: str) -> None:
        for mode in MODES:
            if text := missing_yaml(rights, mode, name):
                self.stdout.write(f"\n# What {mode} lacks:\n{text}".rstrip())

    def take_snapshot(self, options: dict[str, Any]) -> None:
        row = cluster_snapshot(name=options["context"], user=None)
        began = time.monotonic()
        import_read_anyhow(import_id=row.pk)
        row = Import.objects.get(pk=row.pk)
        try:
            if row.state != Import.State.READY:
                raise CommandError(translated(row.error), returncode=2)
            snapshot = import_commit(
                row=row,
                user=None,
                name=options["name"],
                exclude_namespaces=options["exclude_namespace"],
                label_selector=options["label_selector"],
                leave_out_problems=True,
            )
        finally:
            import_discard(row=row)
        warnings = [translated(each) for each in (*row.warnings, *(each["words"] for each in row.problems))]
        if options["json"]:
            about = {"id": str(snapshot.pk), "name": snapshot.name, "digest": snapshot.digest}
            self._json({**about, "counts": snapshot.counts, "warnings": warnings})
            return
        for each in warnings:
            self.stderr.write(each)
        counts = snapshot.counts
        self.stdout.write(
            f"{snapshot.pk} {snapshot.name}: {counts['nodes']:,} nodes, {counts['pods']:,} pods, {counts['pending']:,} "
            f"pending, read in {time.monotonic() - began:.1f} s"
        )

    def begin(
        self,
        options: dict[str, Any],
        *,
        configuration: UUID | None = None,
        minutes: float = 0,
        shadow: bool = False,
        own_world: bool = False,
    ) -> Run:
        user = _user(options["user"]) if options["user"] else owner_get()
        row = follow_read(
            name=options["context"],
            user=user,
            configuration_version=configuration,
            shadow=shadow,
            own_world=own_world,
        )
        import_read_anyhow(import_id=row.pk)
        row = Import.objects.get(pk=row.pk)
        try:
            return follow_begin(
                row=row,
                user=user,
                configuration_version=configuration,
                megabytes=options["megabytes"],
                minutes=minutes,
                shadow=shadow,
                own_world=own_world,
            )
        finally:
            import_discard(row=row)

    def shadow(self, options: dict[str, Any]) -> None:
        own_world = options["on_its_own"]
        version = newest_version(options["configuration"])
        minutes = options["minutes"]
        run = self.begin(options, configuration=version, minutes=minutes, shadow=True, own_world=own_world)
        watched = OwnWorldWatched(run) if own_world else Watched(run)
        origin, known = origin_known()
        if not options["json"]:
            self._line(f"{origin}/runs/{watched.run.pk}/shadow")
        if not known:
            self.stderr.write(f"No server of {settings.DATA_DIR} runs here now; {origin} is HOST and PORT.")
        ended = Event()
        stops = (signal.SIGINT, signal.SIGTERM)
        before = [signal.signal(each, lambda *_: ended.set()) for each in stops]
        until = time.monotonic() + 60 * minutes if minutes else None
        while watched.goes_on() and not ended.is_set() and (until is None or time.monotonic() < until):
            ended.wait(LOOK_SECONDS)
            for line in watched.news():
                if not options["json"]:
                    self._line(line)
        for each, handler in zip(stops, before, strict=True):
            signal.signal(each, handler)
        watched.stop()
        if options["json"]:
            self._json({"id": str(watched.run.pk), "number": str(watched.run), "shadow": watched.summary()})
        else:
            self.stdout.write(watched.words())

    def follow(self, options: dict[str, Any]) -> None:
        run = self.begin(options)
        origin, known = origin_known()
        if options["json"]:
            self._json({"id": str(run.pk), "number": str(run), "address": f"{origin}/runs/{run.pk}"})
        else:
            self.stdout.write(f"{origin}/runs/{run.pk}")
        if not known:
            self.stderr.write(f"No server of {settings.DATA_DIR} runs here now; {origin} is HOST and PORT.")

    def schedule(self, options: dict[str, Any]) -> None:
        learn_structs()
        permitted = permission(context_offered(options["context"]).name, options["i_mean"])
        registry = built_in_registry()
        loaded = load(Path(options["configuration"]).read_text(), registry)
        if loaded.effective is None:
            raise CommandError(f"{options['configuration']}: {loaded.config_error}", returncode=2)
        if options["max_bindings_per_minute"] < 0:
            raise CommandError("--max-bindings-per-minute is 0 (no limit) or more", returncode=2)
        labels = dict(_label(text) for text in options["node_label"])
        if (why := why_not_kept(loaded.effective, labels)) is not None:
            raise CommandError(translated(why), returncode=2)
        if refused := refused_extender(loaded.effective):
            raise CommandError(translated(refused), returncode=2)
        policy = allowed()
        limits = Limits(frozenset(options["namespace"]), options["max_bindings_per_minute"], options["dry_run"])
        rules = rules_to_schedule(options["scheduler_name"], options["namespace"], dry_run=options["dry_run"])
        access = Access(permitted.context)
        refuse_who_lacks(access, rules)
        asked = AskedAgain(access, rules, self._warn)
        with Recorded(options["record"], self._line) as record:

            def answers(requests: Sequence[Asking]) -> list[Answer]:
                called = call_all(requests, policy)
                for each in called:
                    record.heard(each.asking.request, each.answer, each.microseconds)
                return [each.answer for each in called]

            driver = Driver(
                permitted,
                kept_to(loaded.effective, labels),
                registry,
                scheduler_names=options["scheduler_name"],
                limits=limits,
                record=record,
                seed=time.time_ns() % 2**31,
                ask=answers,
                complain=self._complain,
                may_bind=asked.may_bind,
                listed=settle_down,
            )
            for each in (signal.SIGINT, signal.SIGTERM):
                # In a thread: what is interrupted may hold the lock that stopping takes.
                signal.signal(each, lambda *_: Thread(target=driver.stop).start())
            names = ", ".join(options["scheduler_name"])
            self._line(f"{permitted.context}: schedules for {names}; Ctrl+C stops before the next write")
            if driver.component != DEFAULT_SCHEDULER:
                self.stderr.write("Pods that another scheduler places on the same nodes meanwhile may overfill them.")
            asked.start()
            ended = driver.run()
            asked.stop()
            if ended == "lease_lost":
                raise CommandError("The Lease was lost; nothing is written any more.", returncode=LOST)

    def _complain(self, why: Words) -> None:
        if why:
            self.stderr.write(f"The Lease cannot be taken, and nothing is written without it. {translated(why)}")

    def _warn(self, what: Words) -> None:
        self.stderr.write(translated(what))
        self.stderr.flush()

    def _line(self, text: str) -> None:
        """At once, also into a pipe."""
        self.stdout.write(text)
        self.stdout.flush()

    def _json(self, what: Any) -> None:
        self.stdout.write(json.dumps(msgspec.to_builtins(what), indent=2, ensure_ascii=False))

    def _table(self, rows: Sequence[tuple[str, ...]]) -> None:
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            self.stdout.write("  ".join(cells).rstrip())


def _label(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or qualified_name_errors(key) or label_value_errors(value):
        raise CommandError(f"--node-label {text} is not KEY=VALUE of a label", returncode=2)
    return key, value


def _megabytes(text: str) -> int:
    """Raises ArgumentTypeError."""
    number = int(text) if text.isdecimal() else 0
    if not LEAST_MEGABYTES <= number <= MOST_MEGABYTES:
        raise ArgumentTypeError(f"{text}: a whole number from {LEAST_MEGABYTES} to {MOST_MEGABYTES} is wanted")
    return number


def _user(name: str) -> User:
    found = User.objects.filter(username=name).first()
    if found is None:
        raise CommandError(f"There is no account named {name}.", returncode=2)
    return found
