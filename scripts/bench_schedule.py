"""From a pod's creation to its binding at a real API server, by kube-scheduler, by the command or by a run.

    TEST_KUBECONFIG=~/.kube/scratch python -m scripts.bench_schedule default-scheduler
    TEST_KUBECONFIG=~/.kube/scratch python -m scripts.bench_schedule ours --rate 0 --pods 1000
    TEST_KUBECONFIG=~/.kube/scratch python -m scripts.bench_schedule ours --before --pods 1000

Nodes and pods are its own, in a namespace of their own, and are removed. ``--fill 5000 30000`` leaves so many nodes and
running pods there instead, to measure with them who has to read them; ``--empty`` removes them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from kubernetes import config

from scripts import bench_cluster

NAMESPACE: Final = "bench-schedule"
OWN: Final = "bench-schedule"
NODES: Final = 60
AT_ONCE: Final = 16
PATIENCE_SECONDS: Final = 120.0
STRATEGIC: Final = "application/strategic-merge-patch+json"


class Api:
    def __init__(self, kubeconfig: str) -> None:
        self.client = config.new_client_from_config(kubeconfig)
        self.client.configuration.connection_pool_maxsize = AT_ONCE

    def ask(
        self, method: str, path: str, body: Any = None, kind: str = "application/json", stream: bool = False
    ) -> Any:
        headers = {"Accept": "application/json", "Content-Type": kind}
        self.client.update_params_for_auth(headers, [], ["BearerToken"], path, method, None)
        answer = self.client.rest_client.pool_manager.request(
            method,
            f"{self.client.configuration.host}{path}",
            headers=headers,
            body=None if body is None else json.dumps(body),
            preload_content=not stream,
        )
        if stream:
            return answer
        if answer.status >= 400 and answer.status not in (404, 409):
            raise SystemExit(f"{method} {path}: {answer.status} {answer.data.decode()[:500]}")
        return json.loads(answer.data)

    def make_node(self, name: str, cpu: str = "16") -> None:
        made = bench_cluster.node(0)
        amounts = {**made["status"]["capacity"], "cpu": cpu, "pods": "250"}
        labels = {**made["metadata"]["labels"], "kubernetes.io/hostname": name, OWN: "yes"}
        self.ask("POST", "/api/v1/nodes", {**_named("Node", name, labels=labels), "spec": {}})
        ready = [{"type": "Ready", "status": "True"}]
        status = {"capacity": amounts, "allocatable": amounts, "conditions": ready}
        self.ask("PATCH", f"/api/v1/nodes/{name}/status", {"status": status}, STRATEGIC)
        self.ask("PATCH", f"/api/v1/nodes/{name}", {"spec": {"taints": None}}, STRATEGIC)

    def make_pod(self, name: str, scheduler: str, *, on: str = "") -> None:
        spec = {**bench_cluster.pod(0, 1, 1, placed=False)["spec"]}
        for unwanted in ("topologySpreadConstraints", "priority", "volumes", "serviceAccountName", "serviceAccount"):
            spec.pop(unwanted, None)
        container = {**spec["containers"][0], "volumeMounts": []}
        spec |= {"schedulerName": scheduler, "automountServiceAccountToken": False, "containers": [container]}
        if on:
            spec["nodeName"] = on
        else:
            spec["nodeSelector"] = {OWN: "yes"}
        self.ask("POST", PODS, {**_named("Pod", name, labels={"app": name.rpartition("-")[0]}), "spec": spec})

    def begin(self) -> None:
        self.ask("POST", "/api/v1/namespaces", _named("Namespace", NAMESPACE))
        self.ask("POST", f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts", _named("ServiceAccount", "default"))

    def empty(self) -> None:
        options = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}
        self.ask("DELETE", PODS, options)
        self.ask("DELETE", f"/apis/events.k8s.io/v1/namespaces/{NAMESPACE}/events", options)
        self.ask("DELETE", f"/api/v1/nodes?labelSelector={OWN}%3Dyes", options)


PODS: Final = f"/api/v1/namespaces/{NAMESPACE}/pods"


def _named(kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, **more}}


class Seen:
    """When each pod was first seen with a node, in seconds of the monotonic clock."""

    def __init__(self, api: Api) -> None:
        self.at: dict[str, float] = {}
        version = api.ask("GET", f"{PODS}?limit=1")["metadata"]["resourceVersion"]
        self._stream = api.ask("GET", f"{PODS}?watch=true&resourceVersion={version}", stream=True)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self._lines():
            pod = json.loads(line)["object"]
            if pod["spec"].get("nodeName"):
                self.at.setdefault(pod["metadata"]["name"], time.monotonic())

    def _lines(self) -> Iterator[bytes]:
        rest = b""
        for chunk in self._stream.stream(65536):
            *whole, rest = (rest + chunk).split(b"\n")
            yield from whole


def create(api: Api, scheduler: str, names: Sequence[str], rate: float) -> dict[str, float]:
    """When each creation was answered."""
    answered: dict[str, float] = {}
    began = time.monotonic()

    def one(number: int, name: str) -> None:
        if rate:
            time.sleep(max(0.0, began + number / rate - time.monotonic()))
        api.make_pod(name, scheduler)
        answered[name] = time.monotonic()

    each_for_itself(lambda each: one(*each), enumerate(names), 1 if rate else 4)
    return answered


def each_for_itself(act: Any, items: Iterable[Any], at_once: int = AT_ONCE) -> None:
    with ThreadPoolExecutor(at_once) as pool:
        for _ in pool.map(act, items):
            pass


def measure(api: Api, scheduler: str, pods: int, rate: float) -> None:
    make_nodes(api)
    seen = Seen(api)
    names = [f"p{number % 10}-{number}" for number in range(pods)]
    began = time.monotonic()
    answered = create(api, scheduler, names, rate)
    until = time.monotonic() + PATIENCE_SECONDS
    while len(seen.at) < pods and time.monotonic() < until:
        time.sleep(0.05)
    waits = sorted(1000 * max(0.0, seen.at[name] - answered[name]) for name in names if name in seen.at)
    last = max(seen.at.values()) - began
    cuts = statistics.quantiles(waits, n=100)
    load = os.getloadavg()[0]
    print(
        f"{scheduler}: {len(waits)} of {pods} bound, created in {max(answered.values()) - began:.1f} s, the last bound "
        f"after {last:.1f} s ({len(waits) / last:.0f}/s); ms from the answer to the binding seen: p50 {cuts[49]:.1f}, "
        f"p90 {cuts[89]:.1f}, p99 {cuts[98]:.1f}, worst {waits[-1]:.1f}; load {load:.1f}"
    )


def measure_backlog(api: Api, scheduler: str, pods: int) -> None:
    """Of pods that are there before whoever schedules begins: how fast it binds them."""
    make_nodes(api)
    seen = Seen(api)
    names = [f"p{number % 10}-{number}" for number in range(pods)]
    create(api, scheduler, names, 0)
    print(f"{pods} pods wait; let {scheduler} begin", flush=True)
    until = time.monotonic() + PATIENCE_SECONDS
    while len(seen.at) < pods and time.monotonic() < until:
        time.sleep(0.05)
    times = sorted(seen.at.values())
    took = times[-1] - times[0]
    load = os.getloadavg()[0]
    print(
        f"{scheduler}: {len(times)} of {pods} bound in {took:.1f} s from the first to the last "
        f"({(len(times) - 1) / took:.0f}/s); load {load:.1f}"
    )


def make_nodes(api: Api) -> None:
    each_for_itself(lambda number: api.make_node(f"bench-{number}", ("8", "16", "32")[number % 3]), range(NODES))
    time.sleep(2.0)


def fill(api: Api, nodes: int, pods: int) -> None:
    began = time.monotonic()
    each_for_itself(lambda number: api.make_node(f"bench-{number}", "32"), range(nodes))
    each_for_itself(
        lambda number: api.make_pod(f"app{number % 200}-{number}", "nobody", on=f"bench-{number % nodes}"), range(pods)
    )
    print(f"{nodes} nodes and {pods} pods made in {time.monotonic() - began:.0f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scheduler", nargs="?", default="", help="schedulerName of the pods")
    parser.add_argument("--pods", type=int, default=400)
    parser.add_argument("--rate", type=float, default=20.0, help="pods a second; 0: as fast as they can be created")
    parser.add_argument("--before", action="store_true", help="the pods are there before the scheduler is")
    parser.add_argument("--fill", type=int, nargs=2, metavar=("NODES", "PODS"))
    parser.add_argument("--empty", action="store_true")
    asked = parser.parse_args()
    api = Api(os.environ["TEST_KUBECONFIG"])
    api.begin()
    if asked.fill:
        fill(api, *asked.fill)
    elif asked.empty:
        api.empty()
    else:
        try:
            if asked.before:
                measure_backlog(api, asked.scheduler, asked.pods)
            else:
                measure(api, asked.scheduler, asked.pods, asked.rate)
        finally:
            api.empty()


if __name__ == "__main__":
    main()
