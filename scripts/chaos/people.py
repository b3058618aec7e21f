"""People at the broken product: they decide, add, cordon, step, rewind and fork, and send again what was not answered.

What counts as accepted is what was answered 202 (or 201). Who gets no answer, or a 5xx, sends the same command again
with the same id, as the browser does.
"""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
import urllib.error
import urllib.request
import uuid
from dataclasses import dataclass, field
from typing import Any, Final

from scripts.site import Answer, Site, parsed

ANSWER_SECONDS: Final = 20.0
GIVE_UP_SECONDS: Final = 90.0
NODES: Final = 20


def manifest(name: str, *, ask: bool) -> dict[str, Any]:
    labels = {"ask": "person"} if ask else {"app": "web"}
    container = {"name": "main", "image": "app:1", "resources": {"requests": {"cpu": "100m"}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "uid": f"uid-{name}", "labels": labels},
        "spec": {"containers": [container]},
    }


@dataclass
class Accepted:
    """By run."""

    commands: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    """run → client_id → the command."""
    runs: list[str] = field(default_factory=list)
    refused: int = 0
    """With a sentence (4xx): nothing was done."""
    again: int = 0
    """Requests that were sent again."""
    moments: int = 0
    imports: int = 0
    """Files that a worker was asked to read."""
    unanswered: list[str] = field(default_factory=list)
    slowest: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, run: str, client_id: str, body: dict[str, Any]) -> None:
        with self.lock:
            self.commands.setdefault(run, {})[client_id] = body

    def note_run(self, run: str) -> None:
        with self.lock:
            self.runs.append(run)
            self.commands.setdefault(run, {})

    @property
    def count(self) -> int:
        with self.lock:
            return sum(map(len, self.commands.values()))


def ask(site: Site, method: str, path: str, body: Any = None, *, key: str = "") -> Answer:
    """Raises OSError and http.client.HTTPException where nobody answers."""
    request = urllib.request.Request(site.origin + path, method=method)
    request.add_header("Accept", "application/json")
    if key:
        request.add_header("Idempotency-Key", key)
    if body is not None:
        request.data = json.dumps(body).encode()
        request.add_header("Content-Type", "application/json")
    if method != "GET":
        request.add_header("X-CSRFToken", site.csrf_token)
        request.add_header("Origin", site.origin)
    try:
        with site.opener.open(request, timeout=ANSWER_SECONDS) as response:
            return Answer(response.status, parsed(response.read()))
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, parsed(error.read()))


class Person:
    def __init__(self, site: Site, accepted: Accepted, seed: int) -> None:
        self.site = site
        self.accepted = accepted
        self.random = random.Random(seed)

    def insist(self, method: str, path: str, body: Any = None) -> Answer | None:
        """Until somebody answers; None when nobody did for far too long."""
        began, key = time.monotonic(), str(uuid.uuid4()) if method == "POST" else ""
        while time.monotonic() - began < GIVE_UP_SECONDS:
            try:
                answer = ask(self.site, method, path, body, key=key)
                if answer.status < 500 and answer.status != 429:
                    with self.accepted.lock:
                        self.accepted.slowest = max(self.accepted.slowest, time.monotonic() - began)
                    return answer
            except (OSError, http.client.HTTPException):
                pass
            with self.accepted.lock:
                self.accepted.again += 1
            time.sleep(0.1)
        with self.accepted.lock:
            self.accepted.unanswered.append(f"{method} {path} {body}")
        return None

    def command(self, run: str, body: dict[str, Any]) -> None:
        client_id = str(uuid.uuid4())
        answer = self.insist("POST", f"/api/v1/runs/{run}/commands/", {**body, "client_id": client_id})
        if answer is None:
            return
        if answer.status == 202:
            self.accepted.note(run, client_id, body)
        else:
            with self.accepted.lock:
                self.accepted.refused += 1

    def start_run(self, wanted: dict[str, Any], speed: str) -> str | None:
        answer = self.insist("POST", "/api/v1/runs/", {**wanted, "seed": self.random.randrange(1000), "paused": True})
        if answer is None or answer.status != 201:
            return None
        run = str(answer.body["id"])
        self.accepted.note_run(run)
        self.command(run, {"type": "play", "speed": speed})
        return run

    def fork(self, run: str, position: int) -> str | None:
        body = {"position": position, "changes": [], "play": False}
        answer = self.insist("POST", f"/api/v1/runs/{run}/forks/", body)
        if answer is None or answer.status != 201:
            return None
        fork = str(answer.body["id"])
        self.accepted.note_run(fork)
        for _ in range(3):
            self.command(fork, {"type": "step", "what": "cycle"})
        return fork

    def decide(self, run: str) -> bool:
        answer = self.insist("GET", f"/api/v1/waiting/?run={run}&limit=20")
        rows = answer.body["rows"] if answer is not None and answer.status == 200 else []
        if not rows:
            return False
        pod = self.random.choice(rows)
        named = [{"namespace": pod["namespace"], "name": pod["name"]}]
        if self.random.random() < 0.6:
            self.command(run, {"type": "decide", "decision": "approve", "pods": named})
        else:
            self.command(run, {"type": "decide", "decision": "reject", "pods": named, "reason": "not today"})
        return True

    def rewind(self, run: str) -> int | None:
        """Looks at the run as it was; the position."""
        answer = self.insist("GET", f"/api/v1/runs/{run}/")
        if answer is None or answer.status != 200 or not answer.body["position"]:
            return None
        position = self.random.randrange(int(answer.body["position"]))
        for _ in range(40):
            shown = self.insist("GET", f"/api/v1/runs/{run}@{position}/board/")
            if shown is None or shown.status != 202:
                break
            time.sleep(0.25)
        with self.accepted.lock:
            self.accepted.moments += 1
        return position

    def act(self, run: str) -> None:
        """Something to a run that plays on."""
        roll = self.random.random()
        name = f"added-{uuid.uuid4().hex[:10]}"
        if roll < 0.4 and self.decide(run):
            return
        if roll < 0.7:
            text = json.dumps(manifest(name, ask=self.random.random() < 0.5))
            self.command(run, {"type": "pod_add", "manifest": text})
        elif roll < 0.85:
            node = f"node-{self.random.randrange(NODES)}"
            self.command(run, {"type": self.random.choice(("node_cordon", "node_uncordon")), "name": node})
        else:
            self.command(run, {"type": "set_speed", "speed": "10"})

    def step(self, run: str) -> None:
        """Something to a run that is stepped."""
        roll = self.random.random()
        if roll < 0.7:
            self.command(run, {"type": "step", "what": self.random.choice(("cycle", "point"))})
        elif roll < 0.8:
            self.command(run, {"type": "play", "speed": "10"})
            time.sleep(0.3)
            self.command(run, {"type": "pause"})
        elif roll < 0.9:
            self.act(run)
        elif (position := self.rewind(run)) is not None and self.random.random() < 0.5:
            fork = self.fork(run, position)
            if fork is not None:
                self.command(fork, {"type": "stop"})

    def import_something(self) -> None:
        """Read by a worker on its disk. A full one refuses it with a sentence."""
        items = {"apiVersion": "v1", "kind": "List", "items": [manifest(f"p{i}", ask=False) for i in range(50)]}
        answer = self.insist("POST", "/api/v1/imports/", {"text": json.dumps(items)})
        if answer is None or answer.status != 201:
            return
        path, began = f"/api/v1/imports/{answer.body['id']}/", time.monotonic()
        while time.monotonic() - began < GIVE_UP_SECONDS:
            read = self.insist("GET", path)
            if read is None or read.status != 200 or read.body["state"] != "reading":
                break
            time.sleep(0.2)
        else:
            read = None
        if read is None or "No worker took" in str(read.body.get("error")):
            with self.accepted.lock:
                self.accepted.unanswered.append(f"{path}: the file was not taken up")
        with self.accepted.lock:
            self.accepted.imports += 1
        self.insist("DELETE", path)
