"""Pods come to a real cluster that a run schedules, people approve and reject, and one thing after another breaks:
engine, workers, web, PostgreSQL, Redis, the API server and what lies between. Exit code 1: something was done twice,
not at all, or is not as it is told.

    python -m scripts.chaos.scheduling --pods 300 --faults 60 --seed 1

The cluster is the stand-in (scripts/chaos/real_cluster.py), which has a record of all that it was asked.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import sys
import tempfile
import threading
import time
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Final

from schedweb.clusters.reading.reflector import LONGEST_PAUSE, TOGETHER_SECONDS
from schedweb.clusters.writing.permission import VARIABLE
from scripts.chaos import proofs, scheduling_proofs
from scripts.chaos.__main__ import like
from scripts.chaos.api_faults import SchedulingFaults
from scripts.chaos.cluster import TOO_LONG, Cluster
from scripts.chaos.faults import mend_later
from scripts.chaos.people import Accepted, Person
from scripts.chaos.real_cluster import CONTEXT, OURS, RealCluster
from scripts.chaos.scheduling_proofs import Counted
from scripts.services import Services, missing_services, scratch_database, scratch_redis
from scripts.site import Site, Unfinished, eventually

CALM_SECONDS: Final = (0.2, 3.0)
"""Between two faults, at random."""
SETTLES_WITHIN: Final = 240.0
BOUND_WITHIN: Final = TOO_LONG + 2 * LONGEST_PAUSE + TOGETHER_SECONDS
"""After a fault is mended a watch may pause twice, as client-go's does (the server is there, its roles are not), and
pods wait for the lists of other kinds, which pause as well."""
CONFIGURATION: Final = f"""\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: {OURS}
  plugins: {{permit: {{enabled: [{{name: ManualApproval}}]}}}}
  pluginConfig:
  - name: ManualApproval
    args: {{podSelector: {{matchLabels: {{ask: person}}}}, timeoutSeconds: 900}}
"""


TOLD: Final = {
    "": ("state", "error", "parked", "worker", "counts"),
    "follow/": ("state", "since", "problem", "again_at", "behind", "kinds_done", "kinds_of", "refused"),
    "schedule/": ("state", "since", "problem", "holder", "lease", "lacks", "on_their_way"),
}
"""Addresses below the run's → fields."""


@dataclass
class Report:
    stops: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """Kind of fault → how long a pod that came with it waited for its node."""
    wrong: list[str] = field(default_factory=list)
    counted: Counted = field(default_factory=Counted)


class Stage:
    """Pods that come, and people at the inbox."""

    def __init__(self, cluster: Cluster, real: RealCluster, accepted: Accepted, chosen: argparse.Namespace) -> None:
        self.real, self.accepted = real, accepted
        site = cluster.person()
        name = site.get("/api/v1/me/")["username"]
        allowed = cluster.deployed.run("web", ["python", "manage.py", "cluster", "allow", name])
        assert allowed.returncode == 0, allowed.stdout + allowed.stderr
        self.run = begun(site, real)
        accepted.note_run(self.run)
        self.random = random.Random(chosen.seed + 100)
        self.persons = [Person(like(site), accepted, chosen.seed + number) for number in range(chosen.people)]
        self.manager = Person(like(site), accepted, chosen.seed + 1000)
        self.may_come = 0
        """So many pods of the plan may be there by now."""
        self.leaves = threading.Event()
        self.threads = [threading.Thread(target=self.work, args=(each,), daemon=True) for each in self.persons]
        self.threads.append(threading.Thread(target=self.let_pods_come, daemon=True))
        for thread in self.threads:
            thread.start()

    def work(self, person: Person) -> None:
        while not self.leaves.is_set():
            try:
                person.decide(self.run)
            except Exception as error:  # noqa: BLE001 - a person who falls over must be heard of
                self.accepted.unanswered.append(f"a person fell over: {type(error).__name__}: {error}")
            self.leaves.wait(person.random.uniform(0.1, 1.0))

    def let_pods_come(self) -> None:
        while not self.leaves.is_set():
            if len(self.real.made) < self.may_come and not self.real.make_next():
                return
            self.leaves.wait(self.random.uniform(0.02, 0.4))

    def says(self) -> str:
        """What the run tells people of its reading, its Lease and its rights, for who asks why a pod has no node."""
        told: dict[str, Any] = {}
        for part, fields in TOLD.items():
            answer = self.manager.insist("GET", f"/api/v1/runs/{self.run}/{part}")
            body = {} if answer is None or answer.status != 200 else answer.body
            told[part] = {name: body[name] for name in fields if name in body} or str(answer)
        return json.dumps(told)

    def end(self) -> None:
        self.leaves.set()
        for thread in self.threads:
            thread.join(120)
        self.manager.command(self.run, {"type": "stop"})


def begun(site: Site, real: RealCluster) -> str:
    """The run of whoever clicks *Schedule*: the product says which rights it needs, and gets them."""
    site.post(f"/api/v1/clusters/{CONTEXT}/connect/", {})
    rights = eventually("its rights are known", lambda: site.get(f"/api/v1/clusters/{CONTEXT}/")["rights"])
    real.allow(next(each["yaml"] for each in rights["modes"] if each["mode"] == "schedule"))
    made = site.post("/api/v1/configurations/", {"name": OURS, "text": CONFIGURATION})
    asked = {"typed": CONTEXT, "configuration_version": made["latest"]["id"], "scheduler_names": [OURS]}
    address = f"/api/v1/clusters/{CONTEXT}/schedule/"
    reading = site.post(address, asked)["reading"]["id"]
    run: str = eventually(
        "the cluster is read", lambda: (site.post(address, {**asked, "import_id": reading})["run"] or {}).get("id")
    )
    return run


def break_things(cluster: Cluster, stage: Stage, report: Report, chosen: argparse.Namespace) -> None:
    chance, real = random.Random(chosen.seed), stage.real
    faults = SchedulingFaults(cluster, chance, real)
    deadline = time.monotonic() + chosen.minutes * 60
    for number in range(1, chosen.faults + 1):
        if time.monotonic() > deadline:
            print(f"the time is up after {number - 1} faults", flush=True)
            break
        stage.may_come = chosen.pods * number // chosen.faults + number
        time.sleep(chance.uniform(*CALM_SECONDS))
        kind = chosen.in_turn[(number - 1) % len(chosen.in_turn)] if chosen.in_turn else faults.choose()
        owner = cluster.rows("SELECT lease_owner FROM runs_run WHERE id = %s", stage.run)[0][0]
        host = (cluster.holder_of(owner) if chance.random() < 0.8 else None) or chance.choice(cluster.workers)
        began = time.monotonic()
        done = faults.kinds[kind][1](host)
        timer = mend_later(done)
        name = real.probe(number)
        timer.join()
        for each in cluster.hosts:
            assert each.process is not None
            if not each.process.is_running():
                report.wrong.append(f"{each.label} ended by itself after {kind} ({done.text})")
                cluster.boot(each)
            with suppress(Unfinished):
                cluster.wait_until_up(each)
        with suppress(Unfinished):
            eventually(f"{name} is bound", partial(real.witness.at.get, name), seconds=BOUND_WITHIN)
        waited = real.witness.at.get(name, time.monotonic()) - began
        if name not in real.witness.at:
            report.wrong.append(f"{kind} ({done.text}): {name} was not bound within {waited:.0f} s")
            report.wrong.append(f"the run said then: {stage.says()}")
        report.stops[kind].append(waited)
        print(f"{number:5} {kind:32} {done.text:36} a pod that came then waited {waited:5.1f} s", flush=True)


def settle(cluster: Cluster, stage: Stage, report: Report, chosen: argparse.Namespace) -> None:
    """All pods are there, people decide what waits, and the run says what the cluster says."""
    stage.may_come = len(stage.real.plan) + chosen.faults + 1  # one more than there are: who brings them sees the end
    seen: list[str] = []

    def look() -> bool | None:
        if stage.threads[-1].is_alive():
            return None
        seen[:] = scheduling_proofs.unquiet(cluster, stage.real, stage.run)
        return None if seen else True

    began = time.monotonic()
    try:
        eventually("all is settled", look, seconds=SETTLES_WITHIN)
    except Unfinished as late:
        report.wrong += [str(late), *seen[:20]]
    print(f"settled after {time.monotonic() - began:.0f} s", flush=True)


def play(services: Services, folder: Path, chosen: argparse.Namespace) -> Report:
    report, accepted = Report(), Accepted()
    cluster = Cluster(services, folder, workers=chosen.workers)
    try:
        for host in cluster.hosts:
            host.environment |= {"PLAYGROUND_CONTEXTS": CONTEXT, VARIABLE: CONTEXT}
        with RealCluster(folder, cluster.workers, pods=chosen.pods, seed=chosen.seed) as real:
            cluster.start()
            stage = Stage(cluster, real, accepted, chosen)
            try:
                break_things(cluster, stage, report, chosen)
                cluster.open_all()
                settle(cluster, stage, report, chosen)
            finally:
                cluster.open_all()
                stage.end()
            with suppress(Unfinished):
                eventually(
                    "the run is stopped",
                    lambda: None if proofs.unsettled(cluster, [stage.run]) else True,
                    seconds=2 * TOO_LONG,
                )
            report.counted = scheduling_proofs.prove(cluster, real, accepted, stage.run)
            report.wrong += [*report.counted.wrong, *accepted.unanswered, *cluster.ended]
            if chosen.keep_logs:
                for log in folder.glob("*.log"):
                    (chosen.keep_logs / log.name).write_bytes(log.read_bytes())
    finally:
        cluster.stop()
    tell(report, accepted)
    return report


def tell(report: Report, accepted: Accepted) -> None:
    print("\n| fault | times | a pod that came then waited, median s | worst s |\n|---|---|---|---|")
    for kind, stops in sorted(report.stops.items()):
        print(f"| {kind} | {len(stops)} | {median(stops):.1f} | {max(stops):.1f} |")
    every = [each for stops in report.stops.values() for each in stops]
    if every:
        print(f"| all | {len(every)} | {median(every):.1f} | {max(every):.1f} |")
    seen = report.counted
    print(
        f"\n{seen.bound} pods bound, {seen.pending} pending; {seen.approved} approvals ({seen.decided_again} of them "
        f"of a pod that could not be bound by an earlier one) and {seen.rejected} rejections; {seen.evicted} pods "
        f"evicted, {seen.volumes} volumes; {seen.writes} writes, {seen.late} of them delayed on their way; "
        f"{accepted.count} commands accepted, {accepted.again} requests sent again."
    )
    print("; ".join(f"{purpose} {result or 'without an answer'}: {times}" for purpose, result, times in seen.outcomes))
    for each in report.wrong:
        print(f"WRONG: {each}")


def arguments(given: list[str] | None = None) -> Any:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pods", type=int, default=300, help="beside one that comes with each fault")
    parser.add_argument("--faults", type=int, default=60)
    parser.add_argument("--minutes", type=float, default=30, help="the most, until the faults end")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--people", type=int, default=2)
    parser.add_argument(
        "--in-turn", nargs="*", default=[], metavar="KIND", help="else at random, the likely more often"
    )
    parser.add_argument("--keep-logs", type=Path, help="a folder")
    return parser.parse_args(given)


def main() -> int:
    chosen = arguments()
    # Whoever ends it wants no services and databases left behind.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))
    if missing := missing_services():
        print(missing)
        return 2
    with scratch_database() as database, scratch_redis() as redis, tempfile.TemporaryDirectory() as folder:
        report = play(Services(database, redis), Path(folder), chosen)
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
