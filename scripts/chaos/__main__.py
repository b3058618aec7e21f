"""Breaks one thing after another while people work, then proves that nothing was lost. Exit code 1: something was."""

from __future__ import annotations

import argparse
import itertools
import json
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Final

from scripts.chaos import proofs
from scripts.chaos.cluster import TOO_LONG, Cluster, faketime
from scripts.chaos.faults import Faults, mend_later
from scripts.chaos.people import NODES, Accepted, Person, manifest
from scripts.services import Services, missing_services, scratch_database, scratch_redis
from scripts.site import Site, Unfinished, eventually

LOOK_SECONDS: Final = 0.1
RESTING: Final = ("paused", "waiting_for_person", "finished", "stopped")
PARKED: Final = "SELECT id::text FROM runs_run WHERE state = 'parked'"
PODS: Final = 2500
ASKING: Final = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins: {multiPoint: {enabled: [{name: ManualApproval}]}}
  pluginConfig:
  - name: ManualApproval
    args: {podSelector: {matchLabels: {ask: person}}, timeoutSeconds: 600}
"""


def cluster_text() -> str:
    amounts = {"cpu": "64", "memory": "64Gi", "pods": "500"}
    nodes = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"node-{number}", "labels": {"kubernetes.io/hostname": f"node-{number}"}},
            "status": {"capacity": amounts, "allocatable": amounts},
        }
        for number in range(NODES)
    ]
    pods = [manifest(f"pod-{number}", ask=number % 10 == 0) for number in range(PODS)]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": [*nodes, *pods]})


class Watch(threading.Thread):
    """Looks at the runs that should play, ten times a second: when each of them got further."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(name="watch", daemon=True)
        self.cluster = cluster
        self.runs: list[str] = []
        self.moves: dict[str, list[float]] = defaultdict(list)
        self.states: dict[str, tuple[int, str, str]] = {}
        """(position, state, the lease's owner)."""
        self.ended = threading.Event()

    def run(self) -> None:
        while not self.ended.wait(LOOK_SECONDS):
            if not (runs := list(self.runs)):
                continue
            rows = self.cluster.rows(
                "SELECT id::text, position, state, lease_owner FROM runs_run WHERE id = ANY(%s::uuid[])", runs
            )
            now = time.monotonic()
            for run, position, state, owner in rows:
                before = self.states.get(run)
                self.states[run] = (position, state, owner)
                # A run that waits for a person stands still because it should.
                if before is None or position > before[0] or state in RESTING:
                    self.moves[run].append(now)

    def has_moved(self, since: float) -> bool:
        """Every one of them; also a run that was begun just now has been played."""
        return all(self.states.get(run, (0, "", ""))[0] > 0 for run in list(self.runs)) and all(
            self.moves[run] and self.moves[run][-1] > since for run in list(self.runs)
        )

    def longest_stop(self, since: float) -> float:
        """Seconds for which any of them stood still, of those that ended after `since`."""
        longest = 0.0
        for run in list(self.runs):
            times = self.moves[run]
            gaps = [after - before for before, after in itertools.pairwise(times) if after > since]
            longest = max([longest, *gaps])
        return longest


@dataclass
class Report:
    stops: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """Kind of fault → for how long the slowest run stood still."""
    wrong: list[str] = field(default_factory=list)
    faults: int = 0
    accepted: int = 0
    """Commands."""
    replayed: int = 0
    """Runs whose replay has the same digest."""


class Stage:
    """Two runs that play and one that is stepped; a run that is through is stopped and another begun."""

    def __init__(self, cluster: Cluster, watch: Watch, accepted: Accepted, seed: int, people: int) -> None:
        self.cluster = cluster
        self.watch = watch
        self.accepted = accepted
        site = cluster.person()
        self.site = site
        snapshot = site.import_snapshot(cluster_text(), "chaos")["id"]
        version = site.post("/api/v1/configurations/", {"name": "asks", "text": ASKING})["latest"]["id"]
        self.wanted = {"snapshot": snapshot, "configuration_version": version, "approvals": "hold"}
        self.persons = [Person(like(site), accepted, seed + number) for number in range(people)]
        self.manager = Person(like(site), accepted, seed + 1000)
        self.playing: list[str] = []
        self.stepped = ""
        self.leaves = threading.Event()
        self.threads = [
            threading.Thread(target=self.work, args=(person, number), name=f"person-{number}", daemon=True)
            for number, person in enumerate(self.persons)
        ]

    def begin(self) -> None:
        self.renew()
        for thread in self.threads:
            thread.start()

    def renew(self) -> None:
        kept = []
        for run in self.playing:
            _, state, _ = self.watch.states.get(run, (0, "created", ""))
            if state in RESTING:
                self.manager.command(run, {"type": "stop"})
            else:
                kept.append(run)
        while len(kept) < 2:
            kept.append(self.another("10"))
        if not self.stepped:
            self.stepped = self.another("one")
            self.manager.command(self.stepped, {"type": "pause"})
        self.playing = kept
        self.watch.runs = list(kept)

    def another(self, speed: str) -> str:
        run = self.manager.start_run(self.wanted, speed)
        assert run is not None, "no run can be begun"
        return run

    def work(self, person: Person, number: int) -> None:
        while not self.leaves.is_set():
            try:
                roll = person.random.random()
                if roll < 0.1 and number == 0:
                    person.import_something()
                elif roll < 0.6:
                    person.act(person.random.choice(self.playing))
                else:
                    person.step(self.stepped)
            except Exception as error:  # noqa: BLE001 - a person who falls over must be heard of
                self.accepted.unanswered.append(f"a person fell over: {type(error).__name__}: {error}")
            self.leaves.wait(person.random.uniform(0.1, 0.6))

    def end(self) -> None:
        self.leaves.set()
        for thread in self.threads:
            thread.join(120)
        self.watch.runs = []
        for run in self.accepted.runs:
            self.manager.command(run, {"type": "stop"})


def like(site: Site) -> Site:
    """The same session in another browser."""
    other = Site(site.origin)
    other.csrf_token = site.csrf_token
    for cookie in site.jar:
        other.jar.set_cookie(cookie)
    return other


def break_things(cluster: Cluster, stage: Stage, report: Report, chosen: argparse.Namespace) -> None:
    chance = random.Random(chosen.seed)
    faults = Faults(cluster, chance)
    watch = stage.watch
    deadline = time.monotonic() + chosen.minutes * 60
    for number in range(1, chosen.faults + 1):
        if time.monotonic() > deadline:
            print(f"the time is up after {number - 1} faults", flush=True)
            return
        stage.renew()
        calm(watch, report, "before a fault")
        kind = chosen.in_turn[(number - 1) % len(chosen.in_turn)] if chosen.in_turn else faults.choose()
        owner = next((watch.states[run][2] for run in watch.runs if run in watch.states), "")
        holder = cluster.holder_of(owner) if chance.random() < 0.8 else None
        host = holder or chance.choice(cluster.workers)
        began = time.monotonic()
        done = faults.kinds[kind][1](host)
        timer = mend_later(done)
        timer.join()
        for each in cluster.hosts:
            assert each.process is not None
            if not each.process.is_running():
                report.wrong.append(f"{each.label} ended by itself after {kind} ({done.text})")
                cluster.boot(each)
            with suppress(Unfinished):
                cluster.wait_until_up(each)
        calm(watch, report, f"{kind}: {done.text}")
        stop = watch.longest_stop(began)
        report.stops[kind].append(stop)
        if chosen.longest_stop is not None and stop > chosen.longest_stop:
            report.wrong.append(f"{kind}: {done.text}: a run stood still for {stop:.1f} s")
        report.faults += 1
        print(f"{number:5} {kind:32} {done.text:44} stood still for {stop:5.1f} s", flush=True)


def calm(watch: Watch, report: Report, after: str) -> None:
    since = time.monotonic()
    try:
        eventually("the runs play", lambda: True if watch.has_moved(since) else None, seconds=TOO_LONG)
    except Unfinished:
        report.wrong.append(f"{after}: a run did not play on within {TOO_LONG:.0f} s: {watch.states}")


def prove(cluster: Cluster, accepted: Accepted, report: Report) -> None:
    runs = accepted.runs
    with suppress(Unfinished):
        eventually(
            "all runs are at rest", lambda: None if proofs.unsettled(cluster, runs) else True, seconds=2 * TOO_LONG
        )
    for row in proofs.unsettled(cluster, runs):
        report.wrong.append(f"not at rest: {row}")
    lost, doubled, pending = proofs.commands_lost_or_doubled(cluster, accepted)
    twice = proofs.bound_twice(cluster, runs)
    found = proofs.replays(cluster, runs)
    differ = [f"{run}: replay: {why}" for run, why in found.items() if why]
    missing = [f"{run}: the run is gone" for run in runs if run not in found]
    parked = [f"{run}: the run is parked" for (run,) in cluster.rows(PARKED)]
    report.wrong += [*lost, *doubled, *pending, *twice, *differ, *missing, *parked]
    report.wrong += [*accepted.unanswered, *cluster.ended]
    report.accepted, report.replayed = accepted.count, len(found) - len(differ)
    print(
        f"\n{report.faults} faults, {len(runs)} runs, {report.accepted:,} commands accepted, {accepted.refused} "
        f"refused with a sentence, {accepted.again} requests sent again, {accepted.moments} looks back, "
        f"{accepted.imports} imports; the slowest answer took {accepted.slowest:.1f} s."
    )
    print(
        f"{len(lost)} commands lost, {len(doubled)} doubled, {len(pending)} left undone; {len(twice)} pods bound "
        f"twice; {report.replayed} of {len(runs)} digests equal to an undisturbed replay."
    )


def tell(report: Report) -> None:
    print("\n| fault | times | stood still, median s | worst s |\n|---|---|---|---|")
    for kind, stops in sorted(report.stops.items()):
        print(f"| {kind} | {len(stops)} | {median(stops):.1f} | {max(stops):.1f} |")
    every = [each for stops in report.stops.values() for each in stops]
    if every:
        print(f"| all | {len(every)} | {median(every):.1f} | {max(every):.1f} |")
    for each in report.wrong:
        print(f"WRONG: {each}")


def play(real: Services, folder: Path, chosen: argparse.Namespace) -> Report:
    report, accepted = Report(), Accepted()
    cluster = Cluster(real, folder, workers=chosen.workers, clocks=chosen.clocks)
    try:
        cluster.start()
        if not cluster.has_small_disk:
            print("No tmpfs can be mounted here, so no disk is filled.")
        watch = Watch(cluster)
        watch.start()
        stage = Stage(cluster, watch, accepted, chosen.seed, chosen.people)
        stage.begin()
        try:
            break_things(cluster, stage, report, chosen)
        finally:
            cluster.open_all()
            stage.end()
            watch.ended.set()
        prove(cluster, accepted, report)
        tell(report)
        if chosen.keep_logs:
            keep(chosen.keep_logs, folder, real if report.wrong else None)
    finally:
        cluster.stop()
    return report


def keep(where: Path, folder: Path, real: Services | None) -> None:
    """The logs, and the database if there is something in it to be looked for."""
    for log in folder.glob("*.log"):
        (where / log.name).write_bytes(log.read_bytes())
    if real is not None:
        dump = ["pg_dump", "--format=custom", f"--dbname={real.database_url}", f"--file={where / 'database.dump'}"]
        subprocess.run(dump, check=True)


def arguments(given: list[str] | None = None) -> Any:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=30, help="the most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--people", type=int, default=2)
    parser.add_argument(
        "--in-turn", nargs="*", default=[], metavar="KIND", help="else at random, the likely more often"
    )
    parser.add_argument(
        "--clocks",
        action="store_true",
        help="clocks jump, too (libfaketime); whoever looks at one waits for a lock then",
    )
    parser.add_argument(
        "--longest-stop",
        type=float,
        metavar="SECONDS",
        help="a run that stood still for longer is wrong; not looked at otherwise: a busy machine is no fault",
    )
    parser.add_argument(
        "--keep-logs", type=Path, metavar="FOLDER", help="also keeps the database there if something was wrong"
    )
    return parser.parse_args(given)


def main() -> int:
    chosen = arguments()
    # Whoever ends it wants no services and databases left behind.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))
    if missing := missing_services():
        print(missing)
        return 2
    if chosen.clocks and faketime() is None:
        print("Clocks are changed by libfaketime, which is not installed (Debian's package of that name).")
        return 2
    if chosen.keep_logs:
        chosen.keep_logs.mkdir(parents=True, exist_ok=True)
    with scratch_database() as database, scratch_redis() as redis, tempfile.TemporaryDirectory() as folder:
        report = play(Services(database, redis), Path(folder), chosen)
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
