"""The main flow as a person goes through it: open the link, import, run, approve one pod, reject another, read why.

The same steps for the embedded and the distributed mode: the two may differ in settings only.
"""

from __future__ import annotations

import json
from typing import Any

from scripts.processes import link_in
from scripts.site import CONFIGURATION, Site


def node(name: str, cpu: str) -> dict[str, Any]:
    quantities = {"cpu": cpu, "memory": "8Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"allocatable": quantities, "capacity": quantities},
    }


def pod(name: str, cpu: str, **labels: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "uid": f"uid-{name}", "labels": labels},
        "spec": {"containers": [{"name": "main", "image": "app:1", "resources": {"requests": {"cpu": cpu}}}]},
    }


CLUSTER = {
    "apiVersion": "v1",
    "kind": "List",
    "items": [
        node("left", "4"),
        node("right", "4"),
        *(pod(f"plain-{number}", "500m") for number in range(4)),
        pod("asks-first", "1", ask="person"),
        pod("asks-second", "1", ask="person"),
        pod("too-large", "16"),
    ],
}
TOO_LARGE = "0/2 nodes are available: 2 Insufficient cpu."


def pods_by_name(site: Site, run: str) -> dict[str, Any]:
    window = site.get(f"/api/v1/runs/{run}/pods/?limit=50")
    assert window["count"] == len(window["results"])
    return {entry["name"]: entry for entry in window["results"]}


def decide(site: Site, run: str, name: str, **decision: str) -> None:
    named = {"namespace": "shop", "name": name, "uid": f"uid-{name}"}
    site.command(run, {"type": "decide", "pods": [named], **decision})


def play_the_main_flow(site: Site, printed: str, *, mode: str) -> None:
    me = site.open_link(link_in(printed))
    assert me["mode"] == mode

    shipped = {entry["source"] for entry in site.get("/api/v1/snapshots/?limit=50")["results"]}
    assert shipped == {"sample"}
    assert any(entry["builtin"] for entry in site.get("/api/v1/configurations/?limit=50")["results"])

    snapshot = site.import_snapshot(json.dumps(CLUSTER), "main flow")
    assert (snapshot["counts"]["nodes"], snapshot["counts"]["pods"]) == (2, 7)
    saved = site.post("/api/v1/configurations/", {"name": "asks a person", "text": CONFIGURATION})
    created = site.post(
        "/api/v1/runs/",
        {"snapshot": snapshot["id"], "configuration_version": saved["latest"]["id"], "seed": 7, "paused": True},
    )
    run = created["id"]

    site.command(run, {"type": "play", "speed": "max"})
    site.run_until(run, "the run waits for a person", lambda seen: seen["state"] == "waiting_for_person")
    waiting = site.get(f"/api/v1/waiting/?run={run}")
    assert waiting["person"] == 2

    decide(site, run, "asks-first", decision="approve")
    decide(site, run, "asks-second", decision="reject", reason="not before Monday")
    site.run_until(run, "the run is finished", lambda seen: seen["state"] == "finished")

    pods = pods_by_name(site, run)
    bound = sorted(name for name, seen in pods.items() if seen["column"] == "bound")
    assert bound == ["asks-first", "plain-0", "plain-1", "plain-2", "plain-3"]
    assert all(pods[name]["node"] in ("left", "right") for name in bound)
    assert site.get(f"/api/v1/runs/{run}/pods/shop/too-large/")["answer"]["message"].startswith(TOO_LARGE)
    rejected = site.get(f"/api/v1/runs/{run}/pods/shop/asks-second/")
    # onReject: hold. PreEnqueue keeps it out as soon as something would have moved it.
    assert rejected["column"] in ("unschedulable", "gated")
    assert "not before Monday" in rejected["answer"]["message"]
    decisions = site.get(f"/api/v1/decisions/?run={run}")["results"]
    got = sorted((entry["decision"], entry["by"]) for entry in decisions)
    assert got == [("approved", me["username"]), ("rejected", me["username"])]
