"""The cluster in the pictures of docs/screenshots: the tests' stand-in with the shop's objects, and who acts there.

Its own scheduler is played by hand: pods come, and it spreads them, so that a shadow with another configuration has
something to say.
"""

from __future__ import annotations

import contextlib
import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import yaml

from framework.objects.quantity import parse_quantity
from schedweb.clusters.reading.rights import roles_yaml
from scripts.site import Site, eventually
from tests.apiserver import ApiServer
from tests.apiserver.access import READER
from tests.apiserver.manifests import pod
from tests.apiserver.players import Kubelets

CONTEXT: Final = "prod-eu-1"
OURS: Final = "ours"
EXPENSIVE: Final = {"approval": "needed"}
SHADOWED, SCHEDULED = "Bin-pack", "Ours, with approvals"
CONFIGURATION: Final = f"""\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: {OURS}
  plugins:
    permit: {{enabled: [{{name: ManualApproval}}]}}
  pluginConfig:
  - name: ManualApproval
    args: {{podSelector: {{matchLabels: {{approval: needed}}}}, timeoutSeconds: 800}}
"""
ARRIVALS: Final = 24
SIZES: Final = ("50m", "100m", "75m", "150m")


@contextlib.contextmanager
def pictured_cluster(export: Path, kubeconfig: Path) -> Iterator[ApiServer]:
    """``export``: what ``kubectl get … -o json`` printed, gzipped; ``kubeconfig``: written, of somebody who may
    schedule."""
    with ApiServer() as server:
        server.load(json.loads(gzip.decompress(export.read_bytes()))["items"])
        server.play(Kubelets(stop_after=None))
        token = server.user("scheduler", READER)
        for role in yaml.safe_load_all(roles_yaml("schedule")):
            server.grant("scheduler", role["rules"])
        server.write_kubeconfig(kubeconfig, token=token, context=CONTEXT)
        yield server


def begin(site: Site, address: str, terms: dict[str, Any]) -> str:
    """The run, once the cluster is read."""
    reading = site.post(address, terms)["reading"]["id"]

    def begun() -> str | None:
        answer = site.post(address, {**terms, "import_id": reading})
        run: str | None = answer["run"]["id"] if answer.get("run") else None
        return run

    return eventually("the run begins", begun)


def version(site: Site, name: str) -> str:
    known = site.get("/api/v1/configurations/?limit=50")["results"]
    found: str = next(one["latest"]["id"] for one in known if one["name"] == name)
    return found


def shadowed(site: Site, server: ApiServer) -> str:
    """A followed run whose shadow packs while the cluster's scheduler spreads."""
    terms = {"shadow": True, "configuration_version": version(site, SHADOWED)}
    run = begin(site, f"/api/v1/clusters/{CONTEXT}/follow/", terms)
    at = f"/api/v1/runs/{run}/"
    eventually("the cluster is followed", lambda: site.get(f"{at}follow/")["state"] == "live" or None)
    for number in range(ARRIVALS):
        arrive(site, server, at, number)
    return run


def arrive(site: Site, server: ApiServer, at: str, number: int) -> None:
    """One pod more; the cluster's scheduler binds it when it is seen in the run, whose address is ``at``."""
    name = f"checkout-7c9f-{number:02}"
    server.add(asking(name, "shop", SIZES[number % len(SIZES)]))
    eventually("it is seen", lambda: site.ask("GET", f"{at}pods/shop/{name}/").status == 200 or None)
    node = emptiest(server)
    server.change("pods", name, "shop", by=lambda it: bound(it, node))

    def is_judged() -> bool | None:
        summary = site.get(f"{at}shadow/")
        return summary["decisions"] + summary["not_judged"] > number or None

    eventually("it is judged", is_judged)


def scheduled(site: Site, server: ApiServer) -> str:
    """A run that is the cluster's scheduler: some pods are bound, three wait for a person."""
    made = site.post("/api/v1/configurations/", {"name": SCHEDULED, "text": CONFIGURATION})
    terms = {"typed": CONTEXT, "configuration_version": made["latest"]["id"], "scheduler_names": [OURS]}
    run = begin(site, f"/api/v1/clusters/{CONTEXT}/schedule/", terms)
    for number in range(6):
        server.add(asking(f"report-{number}", "shop", "500m", schedulerName=OURS))
    server.add(*(asking(f"training-{number}", "ml", "750m", EXPENSIVE, schedulerName=OURS) for number in range(3)))

    def stands() -> bool | None:
        counts = site.get(f"/api/v1/runs/{run}/")["counts"]
        return counts["waiting"] == 3 or None

    eventually("three pods wait", stands)
    return run


def asking(name: str, namespace: str, cpu: str, labels: dict[str, str] | None = None, **spec: Any) -> Any:
    containers = [{"name": "main", "image": "shop:1", "resources": {"requests": {"cpu": cpu, "memory": "256Mi"}}}]
    made = pod(name, namespace, spec={"containers": containers, **spec})
    made["metadata"]["labels"] = labels or {}
    return made


def emptiest(server: ApiServer) -> str:
    """The node without taints whose cpu is asked for least, in parts of what it has."""
    asked: Counter[str] = Counter()
    for each in server.all("pods"):
        containers = each["spec"].get("containers", ())
        asked[each["spec"].get("nodeName", "")] += sum(map(millicores, containers))
    has = {
        each["metadata"]["name"]: parse_quantity(each["status"]["allocatable"]["cpu"]).milli_value()
        for each in server.all("nodes")
        if is_open(each)
    }
    return str(min(has, key=lambda name: (asked[name] / has[name], name)))


def millicores(container: Any) -> int:
    return parse_quantity(container.get("resources", {}).get("requests", {}).get("cpu", 0)).milli_value()


def is_open(node: Any) -> bool:
    spec = node.get("spec", {})
    return not spec.get("taints") and not spec.get("unschedulable")


def bound(it: dict[str, Any], node: str) -> None:
    it["spec"]["nodeName"] = node
    it["status"]["conditions"] = [{"type": "PodScheduled", "status": "True"}]
