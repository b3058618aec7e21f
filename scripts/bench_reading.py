"""How long a real cluster takes to be listed and to be followed by a run, and how many changes a second are taken in.

The API server is the stand-in (``tests/apiserver``), a process beside ours on the same machine: 5,000 nodes and 30,000
pods that look like real ones, managedFields included. First the process that reads is measured by itself, then the
product (embedded mode, SQLite) from the click on *Follow* until its run is live with every pod.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any, Final

from scripts import bench_cluster
from scripts.bench_processes import Watched, proportional_mib
from scripts.processes import ROOT, Playground, bare_environment
from scripts.site import Site, eventually
from tests.apiserver import ApiServer

CONTEXT: Final = "bench"
WORKLOADS: Final = 500
TURN: Final = 0.05
FIELDS: Final = {"f:metadata": {"f:labels": {".": {}, "f:app": {}}}, "f:spec": {"f:containers": {"k:main": {".": {}}}}}


def managed(body: dict[str, Any]) -> dict[str, Any]:
    """With the bookkeeping of four writers, as long as that of a real pod: about 3 KB."""
    entry = {"apiVersion": "v1", "fieldsType": "FieldsV1", "operation": "Update", "time": bench_cluster.CREATED}
    fields = {f"f:part-{number}": FIELDS for number in range(5)}
    body["metadata"]["managedFields"] = [
        {**entry, "manager": manager, "fieldsV1": fields}
        for manager in ("kube-controller-manager", "kube-scheduler", "kubelet", "vpa-updater")
    ]
    return body


def cluster(nodes: int, pods: int) -> Iterator[dict[str, Any]]:
    for number in range(nodes):
        yield managed(bench_cluster.node(number))
    for number in range(pods):
        yield managed(bench_cluster.pod(number, nodes, WORKLOADS, placed=True))


def serve(asked: argparse.Namespace) -> None:
    """In its own process: a line of standard input ``SECONDS RATE`` has it change pods for so long."""
    with ApiServer() as server:
        server.load(cluster(asked.nodes, asked.pods))
        server.write_kubeconfig(asked.serve, context=CONTEXT)
        print("ready", flush=True)
        for line in sys.stdin:
            seconds, rate = map(float, line.split())
            print(json.dumps(churned(server, seconds, rate, asked.pods)), flush=True)


def churned(server: ApiServer, seconds: float, rate: float, pods: int) -> dict[str, float]:
    names: dict[str, list[str]] = {}
    for number in range(pods):
        name = bench_cluster.pod(number, 1, WORKLOADS, placed=False)["metadata"]
        names.setdefault(name["namespace"], []).append(name["name"])
    spaces, turns, each = list(names), round(seconds / TURN), round(rate * TURN)
    began = time.monotonic()
    for turn in range(turns):
        namespace = spaces[turn % len(spaces)]
        known = names[namespace]
        chosen = [known[(turn * each + number) % len(known)] for number in range(each)]
        server.change_many("pods", chosen, namespace, by=partial(relabel, str(turn)))
        time.sleep(max(0.0, began + (turn + 1) * TURN - time.monotonic()))
    return {"changes": turns * each, "seconds": time.monotonic() - began, "ended": time.time()}


def relabel(value: str, pod: dict[str, Any]) -> None:
    pod["metadata"]["labels"]["turn"] = value


class Reader:
    """The process that reads for a run that follows; what it tells of changes is read and thrown away."""

    def __init__(self, environment: dict[str, str]) -> None:
        command = [sys.executable, "-m", "schedweb.clusters.reading.child"]
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=1 << 20
        )
        self.state: dict[str, Any] = {}
        self.changes = 0
        self.last = 0.0
        """When the last change was told, seconds since 1970."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"task": "observe", "context": CONTEXT}).encode() + b"\n")
        self.process.stdin.flush()
        threading.Thread(target=self._read, args=(self.process.stdout,), daemon=True).start()

    def _read(self, lines: IO[bytes]) -> None:
        for line in lines:
            if line.startswith(b"{"):
                self.state = json.loads(line)
            elif line.startswith(b'["modified"'):
                self.changes += 1
                self.last = time.time()

    def is_live(self, pods: int) -> bool:
        kinds = self.state.get("kinds", [])
        return bool(kinds) and self.state["pods"] == pods and all(it["state"] in ("live", "absent") for it in kinds)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def peak_mib(pid: int) -> float:
    (line,) = (each for each in Path(f"/proc/{pid}/status").read_text().splitlines() if each.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def measure_reader(asked: argparse.Namespace, environment: dict[str, str], server: subprocess.Popen[str]) -> None:
    reader = Reader(environment)
    with Watched(reader.process.pid) as watched:
        eventually("everything is listed", lambda: reader.is_live(asked.pods) or None, seconds=120)
        taken, cpu = time.monotonic() - reader.began, watched.cpu_seconds()
        peak = peak_mib(reader.process.pid)
        print(f"listed: {taken:.1f} s until it said so, {cpu:.1f} CPU s, {peak:.0f} MiB at most, Python included")
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(f"{asked.seconds} {asked.rate}\n")
        server.stdin.flush()
        made = json.loads(server.stdout.readline())
        eventually("every change was told", lambda: reader.changes >= made["changes"] or None, seconds=120)
        used = watched.cpu_seconds() - cpu
    rate = made["changes"] / made["seconds"]
    print(
        f"changes: {made['changes']:.0f}, {rate:,.0f} a second for {made['seconds']:.1f} s; the last was told "
        f"{max(0.0, reader.last - made['ended']):.2f} s after it was made; {used:.1f} CPU s, "
        f"{peak_mib(reader.process.pid):.0f} MiB at most"
    )
    reader.end()


def measure_product(asked: argparse.Namespace, kubeconfig: Path, folder: Path) -> None:
    playground = Playground(folder, KUBECONFIG=str(kubeconfig))
    try:
        site = Site(playground.origin)
        site.open_link(playground.link)
        site.get(f"/api/v1/clusters/{CONTEXT}/")
        with Watched(playground.process.child.pid) as watched:
            root = playground.process.child.pid
            idle = held = proportional_mib(root)
            before, began = watched.cpu_seconds(), time.monotonic()
            path = f"/api/v1/clusters/{CONTEXT}/follow/"
            reading = site.post(path, {})["reading"]["id"]

            def begun() -> str | None:
                run = site.post(path, {"import_id": reading}).get("run")
                return None if run is None else str(run["id"])

            run = eventually("the run has begun", begun, seconds=300)
            read = time.monotonic() - began

            def is_live() -> bool | None:
                nonlocal held
                held = max(held, proportional_mib(root))
                state = site.get(f"/api/v1/runs/{run}/follow/")["state"]
                counts = site.get(f"/api/v1/runs/{run}/")["counts"]
                return (state == "live" and counts.get("bound") == asked.pods) or None

            eventually("the run is live with every pod", is_live, seconds=300)
            taken = time.monotonic() - began
            print(
                f"followed: {read:.1f} s until the run has begun, {taken:.1f} s until it is live with every pod, "
                f"{watched.cpu_seconds() - before:.1f} CPU s, {held:,.0f} MiB in all processes at most, "
                f"{idle:,.0f} before ({watched.peak_mib:,.0f} with shared pages counted for each)"
            )
    finally:
        playground.process.stop()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=30_000)
    parser.add_argument("--rate", type=float, default=5000.0, help="changes a second")
    parser.add_argument("--seconds", type=float, default=10.0, help="for so long")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.serve is not None:
        serve(asked)
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder, kubeconfig = Path(name), Path(name) / "config"
        command = [sys.executable, "-m", "scripts.bench_reading", "--serve", str(kubeconfig)]
        command += ["--nodes", str(asked.nodes), "--pods", str(asked.pods)]
        server = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            assert server.stdout.readline() == "ready\n"
            print(f"{asked.nodes:,} nodes, {asked.pods:,} pods")
            measure_reader(asked, bare_environment() | {"KUBECONFIG": str(kubeconfig)}, server)
            data = folder / "data"
            data.mkdir()
            measure_product(asked, kubeconfig, data)
        finally:
            server.kill()
            server.wait()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
