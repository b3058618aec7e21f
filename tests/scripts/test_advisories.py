"""The locks against known advisories: what is found fails, and what could not be looked up is said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest

from scripts.advisories import of_npm_audit, of_pip_audit, told
from scripts.processes import ROOT

KNOWN = {"react": [{"id": 1, "title": "Something is wrong", "severity": "high", "vulnerable_versions": ">=1.0.0"}]}


class Registry(BaseHTTPRequestHandler):
    """The one address of npm's registry that npm audit asks."""

    answer: ClassVar[dict[str, Any]] = {}

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = json.dumps(self.answer).encode()
        self.send_response(200 if self.path.endswith("/advisories/bulk") else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def registry() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def npm_audit(registry: str) -> list[str]:
    """What npm's own command says of our lock when this registry is asked."""
    command = [sys.executable, "-m", "scripts.node", "npm", "--prefix", "frontend", "audit", "--json"]
    environment = {**os.environ, "npm_config_registry": registry, "npm_config_fetch_retries": "0"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    return told(of_npm_audit(done.stdout, done.stderr))


def test_an_advisory_about_a_locked_package_is_named(registry: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Registry, "answer", KNOWN)
    first, *rest = npm_audit(registry)
    assert first.startswith("frontend/package-lock.json: ")
    assert [line for line in rest if line.startswith("  react:")] == ["  react: high, Something is wrong"], rest
    monkeypatch.setattr(Registry, "answer", {})
    [line] = npm_audit(registry)
    assert line.endswith("packages held against known advisories, 0 found")
    assert not line.startswith("frontend/package-lock.json: 0 ")


def test_a_registry_that_does_not_answer_is_not_taken_for_a_clean_one() -> None:
    assert npm_audit("http://127.0.0.1:9/")[-1].startswith("NOT CHECKED, frontend/package-lock.json: ")


@pytest.mark.parametrize(("arguments", "status"), [([], 0), (["--strict"], 1)])
def test_without_a_network_it_says_so(arguments: list[str], status: int) -> None:
    """Real pip-audit and npm, with a proxy that nobody is."""
    nowhere = "http://127.0.0.1:9"
    environment = {**os.environ, "HTTPS_PROXY": nowhere, "https_proxy": nowhere, "npm_config_registry": nowhere}
    command = [sys.executable, "-m", "scripts.advisories", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == status, done
    assert done.stdout.count("NOT CHECKED") == 2, done.stdout


def test_packages_that_the_list_does_not_have_count_as_not_checked() -> None:
    answer = {
        "dependencies": [
            {"name": "django", "version": "1.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["1.1"]}]},
            {"name": "redis", "version": "5.0", "vulns": []},
            {"name": "ours", "skip_reason": "Dependency not found on PyPI"},
        ]
    }
    assert told(of_pip_audit(json.dumps(answer), "")) == [
        "requirements-dev.lock: 2 packages held against known advisories, 1 found",
        "  django 1.0: PYSEC-1, mended in 1.1",
        "NOT CHECKED, requirements-dev.lock: 1 packages are not in the list that was asked",
    ]
