"""How long a large cluster takes from one JSON file to a run that can be stepped, and how much memory.

The file looks like ``kubectl get nodes,pods -A -o json``: 5,000 nodes and 150,000 placed pods of 500 workloads. It goes
the way that it goes from a browser: uploaded over HTTP to a playground of its own (embedded mode, SQLite), read,
committed, and a run made of it. CPU seconds and memory are those of all of the playground's processes together.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scripts.bench_cluster import MIB, configured, upload, write_cluster
from scripts.bench_processes import Watched
from scripts.processes import Playground
from scripts.site import Site, eventually


class Stages:
    """Prints a line of the table per stage."""

    def __init__(self, watched: Watched) -> None:
        self.watched = watched
        self.began = self.last = time.perf_counter()
        self.cpu = watched.cpu_seconds()
        print("| stage | wall s | CPU s | peak MiB so far |")
        print("|---|---|---|---|")

    def done(self, name: str) -> None:
        now, cpu = time.perf_counter(), self.watched.cpu_seconds()
        print(f"| {name} | {now - self.last:.1f} | {cpu - self.cpu:.1f} | {self.watched.peak_mib:,.0f} |", flush=True)
        self.last, self.cpu = now, cpu

    @property
    def seconds(self) -> float:
        return self.last - self.began


def looked(site: Site, path: str, is_there: Callable[[Any], bool]) -> Callable[[], Any]:
    def look() -> Any:
        body = site.get(path)
        return body if is_there(body) else None

    return look


def measure(site: Site, watched: Watched, file: Path, pods: int) -> None:
    configuration = configured(site, "Default")
    stages = Stages(watched)
    started = upload(site, file)
    stages.done("upload")
    path = f"/api/v1/imports/{started}/"
    preview = eventually("the file is read", looked(site, path, lambda body: body["state"] != "reading"), seconds=300)
    assert preview["state"] == "ready", preview["error"]
    stages.done("read: redacted, checked, counted")
    snapshot = site.post(f"{path}commit/", {"name": "large"})["id"]
    stages.done("commit")
    body = {"snapshot": snapshot, "configuration_version": configuration, "seed": 1, "paused": True}
    run = site.post("/api/v1/runs/", body)["id"]
    path = f"/api/v1/runs/{run}/"
    site.run_until(run, "the run is ready", lambda seen: seen["counts"].get("bound") == pods)
    stages.done("run: engine, first batch stored")
    print(f"from the file to a ready run: {stages.seconds:.1f} s")
    site.command(run, {"type": "step", "what": "cycle"})
    bound = f"{path}pods/?column=bound&limit=1"
    eventually("every pod has its row", looked(site, bound, lambda body: body["count"] == pods), seconds=300)
    stages.done("afterwards: rows of all placed pods")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=150_000)
    parser.add_argument("--workloads", type=int, default=500)
    parser.add_argument("--file", type=Path, help="keeps the cluster there (default: a temporary file)")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        file = chosen.file or Path(temporary) / "cluster.json"
        if not file.exists():
            write_cluster(file, chosen.nodes, chosen.pods, chosen.workloads)
        print(f"{chosen.nodes:,} nodes, {chosen.pods:,} pods, {file.stat().st_size / MIB:,.0f} MiB of JSON\n")
        folder = Path(temporary) / "playground"
        folder.mkdir()
        playground = Playground(folder)
        try:
            site = Site(playground.origin)
            site.open_link(playground.link)
            with Watched(playground.process.child.pid) as watched:
                measure(site, watched, file, chosen.pods)
        finally:
            playground.process.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
