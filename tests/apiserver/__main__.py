"""A cluster to try things on by hand, or to measure against in a process of its own:

    python -m tests.apiserver --nodes 20 --pods 60 --kubeconfig /tmp/kubeconfig
    KUBECONFIG=/tmp/kubeconfig kubectl get nodes

It runs until it is interrupted. ``--pending`` pods wait for a scheduler, ``--churn`` changes so many pods a second,
``--requests`` prints every request that is answered.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import time
from collections.abc import Iterator
from pathlib import Path

from tests.apiserver.kinds import Json
from tests.apiserver.manifests import node, pod
from tests.apiserver.players import DeviceClaims, Kubelets, Volumes
from tests.apiserver.server import ApiServer

TICK = 0.05


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.apiserver", description="A stand-in API server.")
    parser.add_argument("--port", type=int, default=0, help="a free one where it is not given")
    parser.add_argument("--kubeconfig", type=Path, required=True, help="where to write the administrator's kubeconfig")
    parser.add_argument("--plain", action="store_true", help="HTTP instead of HTTPS")
    parser.add_argument("--nodes", type=int, default=20)
    parser.add_argument("--pods", type=int, default=60, help="pods that run, spread over the nodes")
    parser.add_argument("--pending", type=int, default=0, help="pods that wait for a scheduler")
    parser.add_argument("--scheduler", default="default-scheduler", help="schedulerName of those that wait")
    parser.add_argument("--churn", type=int, default=0, help="changes to running pods, a second")
    parser.add_argument("--requests", action="store_true", help="print every request")
    return parser.parse_args()


def cluster(asked: argparse.Namespace) -> Iterator[Json]:
    for number in range(asked.nodes):
        zone = {
            "labels": {"kubernetes.io/hostname": f"node-{number}", "topology.kubernetes.io/zone": "abc"[number % 3]}
        }
        yield node(f"node-{number}", cpu="16", memory="64Gi", metadata=zone)
    for number in range(asked.pods):
        yield pod(f"running-{number}", on=f"node-{number % max(asked.nodes, 1)}")
    for number in range(asked.pending):
        yield pod(f"waiting-{number}", scheduler=asked.scheduler)


def touch(server: ApiServer, numbers: Iterator[int], pods: int, count: int) -> None:
    """So many changes in one turn of the server's loop."""
    server.change_many(
        "pods",
        [f"running-{next(numbers) % pods}" for _ in range(count)],
        by=lambda body: body["status"].update(observed=time.monotonic_ns()),
    )


def main() -> None:
    asked = arguments()
    with ApiServer(tls=not asked.plain, port=asked.port) as server:
        for player in (Kubelets(), Volumes(), DeviceClaims()):
            server.play(player)
        server.load(cluster(asked))
        server.write_kubeconfig(asked.kubeconfig)
        print(f"{server.url}, kubeconfig in {asked.kubeconfig}", flush=True)
        numbers, printed, begun, touched = itertools.count(), 0, time.monotonic(), 0
        while True:
            time.sleep(TICK)
            due = int((time.monotonic() - begun) * asked.churn) - touched if asked.pods else 0
            touched += due
            touch(server, numbers, asked.pods, due)
            if asked.requests:
                answered = [request for request in server.requests if request.status is not None]
                for request in answered[printed:]:
                    print(f"{request.at:%H:%M:%S} {request}", flush=True)
                printed = len(answered)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
