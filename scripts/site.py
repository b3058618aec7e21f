"""A person at a running site, over HTTP: opens the printed link, imports, runs, decides.

Tests of both modes use it, and the script that takes the screenshots.
"""

from __future__ import annotations

import json
import ssl
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.cookiejar import CookieJar
from typing import Any, TypeVar

PATIENCE_SECONDS = 90
CONFIGURATION = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      enabled:
      - name: ManualApproval
  pluginConfig:
  - name: ManualApproval
    args:
      podSelector:
        matchLabels: {ask: person}
      timeoutSeconds: 600
      onReject: hold
"""
"""Pods with the label ask: person wait for one."""
T = TypeVar("T")


@dataclass(frozen=True)
class Answer:
    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)


class Unfinished(Exception):
    """Something did not come about in time; carries what was seen last."""


def eventually(what: str, look: Callable[[], T | None], *, seconds: float = PATIENCE_SECONDS) -> T:
    """Looks until there is something to see. Says what it waited for when there never is."""
    deadline = time.monotonic() + seconds
    while True:
        seen = look()
        if seen is not None:
            return seen
        if time.monotonic() > deadline:
            raise Unfinished(f"after {seconds:.0f} s: {what}")
        time.sleep(0.1)


class Site:
    def __init__(self, origin: str, tls: ssl.SSLContext | None = None) -> None:
        """``tls``: which certificates are believed, where not the machine's."""
        self.origin = origin
        self.csrf_token = ""
        self.jar = CookieJar()
        self.opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}),
            urllib.request.HTTPCookieProcessor(self.jar),
            urllib.request.HTTPSHandler(context=tls),
        )

    def cookies(self) -> dict[str, str]:
        """For a browser that goes on with this session."""
        return {cookie.name: cookie.value or "" for cookie in self.jar}

    def ask(self, method: str, path: str, body: Any = None) -> Answer:
        request = urllib.request.Request(self.origin + path, method=method)
        request.add_header("Accept", "application/json")
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        if method != "GET":
            request.add_header("X-CSRFToken", self.csrf_token)
            request.add_header("Origin", self.origin)
        try:
            with self.opener.open(request, timeout=PATIENCE_SECONDS) as response:
                return Answer(response.status, parsed(response.read()), dict(response.headers))
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, parsed(error.read()), dict(error.headers))

    def get(self, path: str) -> Any:
        """Waits, as a browser does, for what is being made when it is asked for."""

        def made() -> Answer | None:
            answer = self.ask("GET", path)
            is_made = answer.status != 202 or (answer.body or {}).get("error", {}).get("code") != "being_made"
            return answer if is_made else None

        answer = eventually(f"{path} is made", made)
        assert answer.status == 200, (path, answer)
        return answer.body

    def post(self, path: str, body: Any) -> Any:
        answer = self.ask("POST", path, body)
        assert answer.status in (200, 201, 202), (path, answer)
        return answer.body

    def open_link(self, link: str) -> Any:
        """Follows the one-time link; answers who one is now."""
        with self.opener.open(link, timeout=PATIENCE_SECONDS) as response:
            assert response.status == 200
        me = self.get("/api/v1/me/")
        self.csrf_token = me["csrf_token"]
        return me

    def import_snapshot(self, text: str, name: str) -> Any:
        started = self.post("/api/v1/imports/", {"text": text})

        def decoded() -> Any:
            preview = self.get(f"/api/v1/imports/{started['id']}/")
            return None if preview["state"] == "reading" else preview

        preview = eventually("the import is decoded", decoded)
        assert preview["state"] == "ready", preview
        return self.post(f"/api/v1/imports/{started['id']}/commit/", {"name": name})

    def command(self, run: str, body: dict[str, Any]) -> Any:
        return self.post(f"/api/v1/runs/{run}/commands/", {**body, "client_id": str(uuid.uuid4())})

    def run_until(
        self, run: str, what: str, reached: Callable[[Any], bool], *, seconds: float = PATIENCE_SECONDS
    ) -> Any:
        seen: Any = None

        def look() -> Any:
            nonlocal seen
            seen = self.get(f"/api/v1/runs/{run}/")
            found = reached(seen)
            assert found or seen["state"] != "parked", seen
            return seen if found else None

        try:
            return eventually(what, look, seconds=seconds)
        except Unfinished as late:
            raise Unfinished(f"{late}; the run is {seen}") from None


def parsed(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return content.decode(errors="replace")
