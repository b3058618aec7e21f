"""A worker is killed while an extender thinks: the other worker calls again only who had not answered.

Distributed mode: two real workers, real Redis and PostgreSQL, extenders over HTTP.
"""

from __future__ import annotations

import json
import signal
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import psycopg
import pytest

from scripts.compose import read_compose
from scripts.deployment import Deployment
from scripts.kinds import of_worker
from scripts.services import Services
from scripts.site import Site, eventually
from tests.schedweb.engine.worlds import DEFAULT, node, pod
from tests.schedweb.worker.test_takeover import VARIABLES, is_gone
from tests.schedweb.worker.webhook import Webhook, webhook

pytestmark = pytest.mark.services
PODS = ("web-0", "web-1", "web-2")
CLUSTER = [*map(node, "abc"), *map(pod, PODS)]


class Slow:
    """The second extender. The first time that it is asked about ``pod`` it does not answer before it may."""

    def __init__(self, hook: Webhook, pod: str) -> None:
        self.hook = hook
        self.pod = pod
        self.thinks = threading.Event()
        self.asked = False

    def __call__(self, body: dict[str, Any]) -> tuple[int, bytes]:
        if body["Pod"]["metadata"]["name"] == self.pod and not self.asked:
            self.asked = True
            self.thinks.set()
            self.hook.release.wait(120)
        return 200, json.dumps({"NodeNames": ["b"]}).encode()


def calls(hook: Webhook) -> Counter[tuple[str, str]]:
    return Counter((path, body["Pod"]["metadata"]["name"]) for path, body in hook.calls)


def once() -> Counter[tuple[str, str]]:
    return Counter((path, name) for path in ("/first", "/second") for name in PODS)


def worker_that_plays(services: Services, run: str) -> int:
    """Its process, which the name of the lease's owner has."""
    with psycopg.connect(services.database_url) as connection:
        row = connection.execute("SELECT lease_owner FROM runs_run WHERE id = %s", [run]).fetchone()
    assert row is not None
    return int(row[0].split(":")[1])


def test_a_worker_killed_between_two_extenders(migrated_services: Services, tmp_path: Path) -> None:
    deployed = Deployment(read_compose(VARIABLES), migrated_services, tmp_path)
    with webhook() as hook:
        hook.says("/first", {"NodeNames": ["a", "b"], "FailedNodes": {"c": "no license"}})
        hook.says("/second", {"NodeNames": ["b"]})
        extenders = [
            {"urlPrefix": hook.url, "filterVerb": verb, "nodeCacheCapable": True, "httpTimeout": "120s"}
            for verb in ("first", "second")
        ]
        allowed = {"EXTENDER_URLS": hook.url}
        try:
            deployed.start("web", more=allowed)
            workers = [deployed.start("worker", copy=copy, more=allowed) for copy in (1, 2)]
            deployed.wait_until_begun("web")
            deployed.wait_until_begun("worker")
            site = Site(deployed.origin)
            site.open_link(deployed.origin + migrated_services.login)
            snapshot = site.import_snapshot(json.dumps({"apiVersion": "v1", "kind": "List", "items": CLUSTER}), "asks")
            text = f"{DEFAULT}extenders: {json.dumps(extenders)}\n"
            version = site.post("/api/v1/configurations/", {"name": "asks", "text": text})["latest"]["id"]

            def start() -> str:
                wanted = {"snapshot": snapshot["id"], "configuration_version": version, "seed": 3}
                run: str = site.post("/api/v1/runs/", wanted)["id"]
                site.command(run, {"type": "play", "speed": "max"})
                return run

            calm = start()
            want = site.run_until(calm, "it is finished", lambda seen: seen["state"] == "finished")
            assert calls(hook) == once()

            hook.calls.clear()
            slow = Slow(hook, "web-1")
            hook.replies["/second"] = slow
            run = start()
            eventually("the second extender thinks", lambda: True if slow.thinks.is_set() else None)
            assert calls(hook)["/first", "web-1"] == 1
            player = worker_that_plays(migrated_services, run)
            (killed,) = (each for each in workers if each.child.pid == player)
            orphans = of_worker(killed.child.pid, "engine")
            killed.signal(signal.SIGKILL)
            killed.child.wait()
            eventually("its engines end with it", lambda: True if all(map(is_gone, orphans)) else None)
            hook.release.set()

            got = site.run_until(run, "it is finished", lambda seen: seen["state"] == "finished")
            assert calls(hook) == once() + Counter({("/second", "web-1"): 1}), (
                "only who had not answered is asked again"
            )
            assert (got["digest"], got["attempts"]) == (want["digest"], want["attempts"])
        finally:
            deployed.stop()
