"""How long an engine takes from when it is asked for until it is ready, alone and with others at once, and what engines
hold in memory: forked, or each with a Python of its own (`--started`). Linux."""

from __future__ import annotations

import argparse
import os
import queue
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

from schedweb.engine import frames
from schedweb.engine.payload import encode_payload
from schedweb.processes.forks import FORKS
from schedweb.processes.plain import ENGINE
from schedweb.worker.process import EngineProcess, Heard
from scripts.bench_processes import MIB
from scripts.kinds import FORK_SERVER, of_worker

CONFIGURATION = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
PATIENCE = 120


def manifests(nodes: int, pods: int) -> list[dict[str, Any]]:
    amounts = {"cpu": "64", "memory": "64Gi", "pods": "500"}
    return [
        *(
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{number}"}, "status": {"allocatable": amounts}}
            for number in range(nodes)
        ),
        *(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": f"pod-{number}", "namespace": "shop"},
                "spec": {"containers": [{"name": "c", "image": "c:1"}]},
            }
            for number in range(pods)
        ),
    ]


def asked_for(begin: frames.Begin, count: int, *, fresh: bool) -> tuple[float, float, list[EngineProcess]]:
    """(seconds until the first was ready, until all were, they)."""
    heard: queue.Queue[Heard] = queue.Queue()
    began = time.monotonic()
    engines = [EngineProcess(begin, heard.put, fresh=fresh) for _ in range(count)]
    at: list[float] = []
    while len(at) < count:
        if isinstance(heard.get(timeout=PATIENCE), frames.Ready):
            at.append(time.monotonic() - began)
    return at[0], at[-1], engines


def memory(pid: int) -> dict[str, float]:
    """MiB: resident, and of what is shared its share only."""
    lines = (line.split() for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:])
    sizes = {words[0].rstrip(":"): int(words[1]) * 1024 / MIB for words in lines}
    return {"RSS": sizes["Rss"], "PSS": sizes["Pss"], "of its own": sizes["Private_Dirty"] + sizes["Private_Clean"]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--started", action="store_true", help="each with a Python of its own")
    parser.add_argument("--count", type=int, default=8, help="how many at once")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--pods", type=int, default=1000)
    chosen = parser.parse_args()
    payload = encode_payload(manifests(chosen.nodes, chosen.pods), [])
    begin = frames.Begin(
        payload=payload, configuration=CONFIGURATION, seed=7, ties="seeded", approvals="hold", clock="virtual",
        start=1_700_000_000_000_000_000, speed="100", journal=[], position=0, digest="", is_stored=False,
        checkpoint=None, checkpoint_seconds=10.0,
    )  # fmt: skip
    say = sys.stdout.write
    if not chosen.started:
        FORKS.keep()
        FORKS.started(ENGINE).communicate(timeout=PATIENCE)
    for count in (1, chosen.count):
        turns = []
        for _ in range(chosen.turns):
            first, last, engines = asked_for(begin, count, fresh=chosen.started)
            turns.append((first, last))
            held = [memory(each.pid) for each in engines]
            servers = [memory(pid) for pid in of_worker(os.getpid(), FORK_SERVER)]
            for each in engines:
                each.close()
        say(f"{count} asked for: the first ready after {median(first for first, _ in turns):.2f} s, ")
        say(f"all after {median(last for _, last in turns):.2f} s (medians of {chosen.turns})\n")
    for name in held[0]:
        say(f"memory of each, {name}: {median(each[name] for each in held):.0f} MiB")
        say("".join(f"; of the fork server: {each[name]:.0f} MiB" for each in servers) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
