"""Makes the database of a released version: `python -m scripts.release_fixture 0.2.0 [--tree FOLDER]`.

The server of a checkout is started on an empty folder and used as a person would; what it stored is packed into
tests/data/releases, where the tests of upgrades open it with today's code. FOLDER is a checkout of the release, with a
built UI; it is run by this Python. CONTRIBUTING.md says when one is made.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import zstandard

from scripts.processes import ROOT, Process, bare_environment, free_port, link_in
from scripts.site import CONFIGURATION, Site, eventually

RELEASES: Final = ROOT / "tests" / "data" / "releases"
DEFAULTS: Final = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def node(number: int) -> dict[str, Any]:
    name = f"node-{number}"
    quantities = {"cpu": "4" if number % 2 else "6", "memory": "8Gi", "pods": "20"}
    taints = [{"key": "reserved", "value": "yes", "effect": "NoSchedule"}] if number == 5 else []
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": f"zone-{number % 2}"},
        },
        "spec": {"taints": taints},
        "status": {"allocatable": quantities, "capacity": quantities},
    }


def pod(name: str, cpu: str, priority: int = 0, *, on: str = "", spread: bool = False, **labels: str) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "containers": [{"name": "main", "image": "app:1", "resources": {"requests": {"cpu": cpu, "memory": "256Mi"}}}],
        "priority": priority,
    }
    if on:
        spec["nodeName"] = on
    if spread:
        spec["topologySpreadConstraints"] = [
            {
                "maxSkew": 1,
                "topologyKey": "topology.kubernetes.io/zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": labels.get("app", "")}},
            }
        ]
    metadata = {"name": name, "namespace": "shop", "uid": f"uid-{name}", "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


CLUSTER: Final = {
    "apiVersion": "v1",
    "kind": "List",
    "items": [
        *(node(number) for number in range(6)),
        *(pod(f"there-{number}", "2", on=f"node-{number}", app="there") for number in range(5)),
        *(pod(f"web-{number}", "500m", app="web", spread=True) for number in range(8)),
        *(pod(f"batch-{number}", "1", app="batch") for number in range(5)),
        *(pod(f"asks-{number}", "250m", ask="person") for number in range(3)),
        pod("urgent", "4", 1000),
        pod("too-large", "16"),
    ],
}


class Release:
    """The server of a checkout, and a person at it."""

    def __init__(self, tree: Path, folder: Path) -> None:
        self.tree, self.folder = tree, folder
        self.port = free_port()
        self.environment = bare_environment() | {
            "HOST": "127.0.0.1",
            "PORT": str(self.port),
            "PLAYGROUND_DATA": str(folder),
            "PYTHONUNBUFFERED": "1",
        }
        command = [sys.executable, "manage.py", "playground"]
        self.process = Process("release", command, self.environment, folder / "log", tree)
        self.site = Site(f"http://127.0.0.1:{self.port}")

    def printed(self) -> str:
        def look() -> str | None:
            if not self.process.is_running():
                raise SystemExit(self.process.output())
            text = self.process.output()
            return text if "token" in text else None

        return eventually("the link is printed", look)

    def has(self, path: str) -> bool:
        """Whether this version knows an address: old ones have no forks, no questions, no share links."""
        return self.site.ask("GET", path).status != 404

    def use(self) -> None:
        site = self.site
        site.open_link(link_in(self.printed()))
        snapshot = site.import_snapshot(json.dumps(CLUSTER), "released")["id"]
        asks = self.saved("asks a person", CONFIGURATION)
        defaults = self.saved("nothing but defaults", DEFAULTS)

        finished = self.run_of(snapshot, defaults)
        site.command(finished, {"type": "play", "speed": "max"})
        site.run_until(finished, "the run is finished", lambda seen: seen["state"] == "finished")

        stepped = self.run_of(snapshot, defaults)
        for _ in range(6):
            self.settled(stepped, {"type": "step", "what": "cycle"})
        self.settled(stepped, {"type": "step", "what": "point"})

        waits = self.run_of(snapshot, asks)
        site.command(waits, {"type": "play", "speed": "max"})
        site.run_until(waits, "three pods wait", lambda seen: seen["state"] == "waiting_for_person")
        for name, decision in (("asks-0", {"decision": "approve"}), ("asks-1", {"decision": "reject", "reason": "no"})):
            named = {"namespace": "shop", "name": name, "uid": f"uid-{name}"}
            self.settled(waits, {"type": "decide", "pods": [named], **decision})
        site.run_until(waits, "one pod waits", lambda seen: seen["state"] == "waiting_for_person")
        if self.has(f"/api/v1/runs/{finished}/forks/"):
            added = {"type": "pod_add", "manifest": json.dumps(pod("late", "500m", app="web"))}
            fork = site.post(f"/api/v1/runs/{finished}/forks/", {"position": 20, "changes": [added]})
            site.command(fork["id"], {"type": "play", "speed": "max"})
            site.run_until(fork["id"], "the fork is finished", lambda seen: seen["state"] == "finished")
        if self.has(f"/api/v1/runs/{finished}/share-links/"):
            site.post(f"/api/v1/runs/{finished}/share-links/", {"name": "for the team", "days": 365})
        if self.has(f"/api/v1/runs/{finished}/analyses/"):
            self.ask(finished, {"name": "what_would_help", "arguments": {"namespace": "shop", "name": "too-large"}})
            self.look_at(finished, 20)

    def saved(self, name: str, text: str) -> str:
        made: str = self.site.post("/api/v1/configurations/", {"name": name, "text": text})["latest"]["id"]
        return made

    def run_of(self, snapshot: str, configuration: str) -> str:
        asked = {"snapshot": snapshot, "configuration_version": configuration, "seed": 7, "paused": True}
        made: str = self.site.post("/api/v1/runs/", asked)["id"]
        return made

    def settled(self, run: str, command: dict[str, Any]) -> None:
        """Sent, and waited for until the journal says what became of it."""
        entry = self.site.command(run, command)["id"]

        def look() -> bool | None:
            seen = self.site.get(f"/api/v1/runs/{run}/journal/{entry}/")
            return None if seen["status"] == "pending" else True

        eventually(f"{command} is done", look)

    def ask(self, run: str, question: dict[str, Any]) -> None:
        asked = self.site.post(f"/api/v1/runs/{run}/analyses/", question)["id"]

        def look() -> bool | None:
            status = self.site.get(f"/api/v1/runs/{run}/analyses/{asked}/")["status"]
            return None if status in ("pending", "running") else True

        eventually("the question is answered", look)

    def look_at(self, run: str, position: int) -> None:
        def look() -> bool | None:
            answer = self.site.ask("GET", f"/api/v1/runs/{run}@{position}/board/")
            return True if answer.status in (200, 404) else None

        eventually("the moment is made", look)


def packed(folder: Path) -> bytes:
    """The database in one file, without the samples that every version brings."""
    with sqlite3.connect(next(folder.glob("*.sqlite3"))) as database:
        database.execute("DELETE FROM snapshots_snapshot WHERE source = 'sample'")
        database.commit()
        database.execute("PRAGMA journal_mode = DELETE")
        database.execute("VACUUM")
    return zstandard.ZstdCompressor(level=19).compress(next(folder.glob("*.sqlite3")).read_bytes())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version")
    parser.add_argument("--tree", type=Path, default=ROOT)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        release = Release(asked.tree.resolve(), Path(folder))
        try:
            release.use()
        finally:
            release.process.stop()
        blob = packed(Path(folder))
    RELEASES.mkdir(exist_ok=True)
    (RELEASES / f"{asked.version}.sqlite3.zst").write_bytes(blob)
    print(f"{asked.version}: {len(blob):,} bytes")


if __name__ == "__main__":
    main()
