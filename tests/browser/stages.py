"""Runs that are brought, over HTTP, to where a test begins to look."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from scripts.processes import ROOT, Playground
from scripts.site import Site
from tests.schedweb.snapshots.events import assigned, event_list, shop_events

EXPORT = ROOT / "tests/data/cluster-shop/kubectl-export.json.gz"
QUIET = ("waiting_for_person", "finished", "paused")


#: A cluster that pages can name; nobody connects to it.
KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: lab
contexts: [{name: lab, context: {cluster: lab, user: mira}}]
clusters: [{name: lab, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: mira, user: {token: none}}]
"""


def playground_in(folder: Path) -> Playground:
    """With the kubeconfig above."""
    contexts = folder / "kubeconfig"
    contexts.write_text(KUBECONFIG, encoding="utf-8")
    return Playground(folder, KUBECONFIG=str(contexts))


def named(entries: list[Any], name: str) -> Any:
    return next(entry for entry in entries if entry["name"] == name)


def sample(site: Site, name: str) -> str:
    found: str = named(site.get("/api/v1/snapshots/?limit=50")["results"], name)["id"]
    return found


def configuration(site: Site, name: str) -> Any:
    return named(site.get("/api/v1/configurations/?limit=50")["results"], name)


def start(site: Site, snapshot: str, configured: Any) -> str:
    body = {"snapshot": snapshot, "configuration_version": configured["latest"]["id"], "seed": 7, "paused": True}
    run: str = site.post("/api/v1/runs/", body)["id"]
    return run


def play(site: Site, run: str) -> str:
    """As fast as possible, until nothing moves without a person."""
    site.command(run, {"type": "play", "speed": "max"})
    site.run_until(run, "the run has come to rest", lambda seen: seen["attempts"] > 0 and seen["state"] in QUIET)
    return run


def listed(objects: list[Any]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})


def play_objects(site: Site, name: str, objects: list[Any]) -> str:
    """These manifests as a cluster, played to its end with every node scored."""
    snapshot: str = site.import_snapshot(listed(objects), name)["id"]
    return play(site, start(site, snapshot, configuration(site, "Default, every node")))


def import_cluster_shop(site: Site, name: str) -> str:
    found: str = site.import_snapshot(gzip.decompress(EXPORT.read_bytes()).decode(), name)["id"]
    return found


def beside_its_cluster(site: Site) -> str:
    """The export, played, and what its scheduler said; of one pod that it went to a node that is not there."""
    snapshot = import_cluster_shop(site, "cluster-shop beside its events")
    run = play(site, start(site, snapshot, configuration(site, "Default")))
    pending = site.get(f"/api/v1/runs/{run}/pods/?column=unschedulable&limit=1")["results"][0]
    elsewhere = assigned(f"{pending['namespace']}/{pending['name']}", "gone-since", at="2026-11-20T11:00:00Z")
    said = event_list(*shop_events(), elsewhere)
    site.post(f"/api/v1/snapshots/{snapshot}/events/", {"text": said.decode()})
    return run
