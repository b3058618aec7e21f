"""How long it takes to get an attempt back: database row → chunk → the answer that the attempt's page is made of.

A playground of its own (embedded mode, SQLite) plays every pending pod on every node; then attempts all over the run
are asked for over HTTP, one after another.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

from scripts.bench_cluster import MIB, configured, created, imported, write_cluster
from scripts.processes import Playground
from scripts.site import Site

ASKED = 200
WHAT = {
    "the attempt (every extension point)": "",
    "Filter, a window of its nodes": "filter/?table=1&limit=50",
    "Score, a window of its nodes": "scores/?limit=50",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=10_000)
    parser.add_argument("--workloads", type=int, default=500)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_cluster(folder / "cluster.json", chosen.nodes, 0, chosen.workloads, chosen.pods)
        playground = Playground(folder)
        try:
            site = Site(playground.origin)
            site.open_link(playground.link)
            snapshot = imported(site, folder / "cluster.json", "recording")
            run = created(site, snapshot, configured(site, "Default, every node"), pending=chosen.pods)
            site.command(run, {"type": "play", "speed": "max"})
            seen = site.run_until(run, "the run has ended", lambda body: body["state"] == "finished", seconds=900)
            size = sum(path.stat().st_size for path in folder.glob("*.sqlite3*"))
            print(f"{seen['attempts']:,} attempts on {chosen.nodes:,} nodes; the database has {size / MIB:,.0f} MiB\n")
            print("| what | p50 ms | p95 ms | most ms |")
            print("|---|---|---|---|")
            numbers = random.Random(1).sample(range(1, seen["attempts"] + 1), ASKED)
            for name, path in WHAT.items():
                took = []
                for number in numbers:
                    began = time.perf_counter()
                    site.get(f"/api/v1/runs/{run}/attempts/{number}/{path}")
                    took.append((time.perf_counter() - began) * 1000)
                took.sort()
                print(f"| {name} | {took[ASKED // 2]:.0f} | {took[ASKED * 95 // 100]:.0f} | {took[-1]:.0f} |")
        finally:
            playground.process.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
