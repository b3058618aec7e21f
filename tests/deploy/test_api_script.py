"""The scripts of docs/api.md, run as they stand there against a playground: both say the same."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener

import pytest

from scripts.processes import ROOT, Playground, bare_environment
from scripts.site import Site, eventually
from tests.first_start import FirstStart
from tests.schedweb.engine.worlds import node, pod

DOCUMENT = (ROOT / "docs/api.md").read_text(encoding="utf-8")
CONFIGURATION = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparallelism: 8\n"
EXPORT = {"apiVersion": "v1", "kind": "List", "items": [node("a", "4"), pod("web-1"), pod("web-2"), pod("large", "16")]}


@pytest.fixture
def playground(tmp_path: Path, first_start: FirstStart) -> Iterator[Playground]:
    folder = tmp_path / "data"
    folder.mkdir()
    started = Playground(first_start.into(folder))
    try:
        yield started
    finally:
        started.process.stop()


def block(name: str) -> str:
    found = re.search(rf"^```\w+ {re.escape(name)}\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)
    assert found is not None, name
    return found[1]


def test_the_documented_scripts_say_why_a_pod_is_pending(playground: Playground, tmp_path: Path) -> None:
    site = Site(playground.origin)
    site.open_link(playground.link)
    token = site.post("/api/v1/tokens/", {"name": "the documentation", "role": "editor"})["token"]
    (tmp_path / "cluster.json").write_text(json.dumps(EXPORT), encoding="utf-8")
    printed = {}
    examples = re.findall(r"^```(?:sh|python) ?(.*)", DOCUMENT, re.MULTILINE)
    assert examples == ["outcome.sh", "outcome.py"], "no other"
    for name, program in (("outcome.sh", "bash"), ("outcome.py", sys.executable)):
        found = shutil.which(program)
        assert found is not None, program
        (tmp_path / name).write_text(block(name), encoding="utf-8")
        ended = subprocess.run(
            [found, name],
            cwd=tmp_path,
            env={**bare_environment(), "ORIGIN": playground.origin, "TOKEN": token},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        printed[name] = ended.stdout
    assert printed["outcome.sh"] == printed["outcome.py"] == block_of_text()
    assert site.get("/api/v1/runs/")["count"] == 2
    assert_at_once_is_once(site, token)


def assert_at_once_is_once(site: Site, token: str) -> None:
    """Six requests with one Idempotency-Key, before any of them is answered: one import, snapshot, run and so on."""

    def sent(path: str, body: Any, key: str) -> Any:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", "Idempotency-Key": key}
        request = Request(f"{site.origin}/api/v1/{path}", json.dumps(body).encode(), headers)
        with build_opener(ProxyHandler({})).open(request, timeout=60) as response:
            return json.load(response)

    def at_once(path: str, body: Any) -> Any:
        with ThreadPoolExecutor(6) as threads:
            answers = list(threads.map(lambda _: sent(path, body, path), range(6)))
        assert answers == answers[:1] * 6
        return answers[0]

    def counted(*lists: str) -> list[int]:
        return [site.get(f"/api/v1/{each}/")["count"] for each in lists]

    before = counted("snapshots", "runs", "configurations")
    begun = at_once("imports/", {"text": json.dumps(EXPORT)})["id"]
    eventually("it is read", lambda: site.get(f"/api/v1/imports/{begun}/")["state"] != "reading" or None)
    snapshot = at_once(f"imports/{begun}/commit/", {"name": "once"})["id"]
    configuration = at_once("configurations/", {"name": "once", "preset": "default"})
    version = configuration["latest"]["id"]
    run = at_once("runs/", {"snapshot": snapshot, "configuration_version": version})["id"]
    at_once(f"runs/{run}/forks/", {"position": 0})
    text = {"text": CONFIGURATION, "base_version": 1}
    assert at_once(f"configurations/{configuration['id']}/versions/", text)["number"] == 2
    assert counted("snapshots", "runs", "configurations") == [before[0] + 1, before[1] + 2, before[2] + 1]
    assert counted(f"configurations/{configuration['id']}/versions") == [2]


def block_of_text() -> str:
    found = re.search(r"^```text\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]
