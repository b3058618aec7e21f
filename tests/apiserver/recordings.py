"""Recorded traffic between kube-scheduler 1.36.2 and a real API server, sent again to the stand-in and compared.

A recording (``tests/data/live``) has the scheduler's requests with the answers and, as short texts, what the outside
world did. The recorder kept of each answer what SHOWN names, and of watches how they opened, closed and failed. Here
the stand-in is seeded with the objects that the requests speak of, the world acts at its recorded times, and every
request is sent in the order in which the real server carried it out.

Compared are the status, Retry-After and the whole kept body. uids, generated names and versions are translated: a
recorded value and ours must correspond one to one. Times that the client sent must come back; the server's own are
only times.
"""

from __future__ import annotations

import copy
import gzip
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import requests

from tests.apiserver.client import Answer, Client
from tests.apiserver.kinds import Json
from tests.apiserver.players import Kubelets
from tests.apiserver.server import ApiServer

DATA = Path(__file__).parents[1] / "data" / "live"
SCHEDULER = "system:kube-scheduler"
POD = re.compile(r"^/api/v1/namespaces/([^/]+)/pods/([^/]+)")
TIME = re.compile(r'"\d{4}-\d\d-\d\dT[\d:.]+Z"')
TOO_OLD = re.compile(r"too old resource version: \d+ \(\d+\)")
METADATA = (
    "annotations",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generation",
    "labels",
    "name",
    "namespace",
    "resourceVersion",
    "uid",
)
ROLE_METADATA = ("annotations", "labels", "name", "namespace")
SHOWN = {
    "Pod": {
        "spec": ("nodeName", "priority", "schedulerName"),
        "status": ("phase", "conditions", "nominatedNodeName", "extendedResourceClaimStatus"),
    }
}
"""What the recorder kept of objects; all of it where nothing is said."""


def scenarios() -> list[str]:
    return sorted(path.name.removesuffix(".json.gz") for path in DATA.glob("*.json.gz"))


def load(scenario: str) -> Json:
    with gzip.open(DATA / f"{scenario}.json.gz") as stream:
        found: Json = json.load(stream)
    return found


def is_readable(request: Json) -> bool:
    """Whether body and answer were JSON, so that there is something to send and compare."""
    written = [request.get("body"), request.get("response")]
    return request.get("contentType") != "application/vnd.kubernetes.protobuf" and not any(
        isinstance(body, str) and "k8s" in body for body in written
    )


def rules_of_scheduler() -> list[tuple[str, list[Json]]]:
    """(namespace, rules) of kube-scheduler's roles as a 1.36.2 API server makes them (scenario rbac)."""
    roles = [request["response"] for request in load("rbac")["requests"] if "rules" in request["response"]]
    return [(role["metadata"].get("namespace", ""), role["rules"]) for role in roles]


@dataclass
class Translation:
    """Recorded values and ours, one to one."""

    ours: dict[str, str] = field(default_factory=dict)
    recorded: dict[str, str] = field(default_factory=dict)

    def learn(self, recorded: str, ours: str) -> None:
        known, back = self.ours.setdefault(recorded, ours), self.recorded.setdefault(ours, recorded)
        assert (known, back) == (ours, recorded), f"{recorded} was {known}, now {ours}; {ours} was {back}"

    def text(self, written: str) -> str:
        for recorded, ours in self.ours.items():
            written = written.replace(recorded, ours)
        return written


class Replay:
    """One scenario against one server."""

    def __init__(self, server: ApiServer, scenario: str) -> None:
        self.server = server
        self.recording = load(scenario)
        self.requests: list[Json] = self.recording["requests"]
        self.names = Translation()
        """uids and generated names."""
        self.versions = Translation()
        self.sent_times: set[str] = set()
        self.stopped = False
        self.compared = 0
        self.unreadable = 0
        token = server.user(SCHEDULER, groups=["system:authenticated"])
        for namespace, rules in rules_of_scheduler():
            server.grant(SCHEDULER, rules, namespace=namespace)
        self.client = Client(server, token)
        self.admin = Client(server)
        self._uids = self._uids_of_pods()

    # The objects that requests speak of

    def _uids_of_pods(self) -> dict[str, list[str]]:
        """By pod, in the order in which they lived."""
        found: dict[str, list[str]] = {}
        for request in self.requests:
            body = request.get("body")
            if not isinstance(body, dict):
                continue
            target = body.get("metadata", {}) if body.get("kind") == "Binding" else body.get("regarding", {})
            if target.get("uid") and target["uid"] not in found.setdefault(target["name"], []):
                found[target["name"]].append(target["uid"])
        return found

    def seed(self) -> None:
        """Pods, leases, volumes and claims, as they were before the first request that touches them."""
        self.server.play(Kubelets(stop_after=None))
        for name, uids in self._uids.items():
            self.server.add(self.pod(name, uids[0]))
        seeded = set()
        for request in self.requests:
            path = request["path"].removesuffix("/status")
            if path in seeded or request.get("event") or POD.match(path):
                continue
            seeded.add(path)
            body = before(request)
            if body is None or body["metadata"]["name"] in self._made():
                continue
            [stored] = self.server.add(body)
            if version := body["metadata"].get("resourceVersion"):
                self.versions.learn(version, stored["metadata"]["resourceVersion"])

    def _made(self) -> set[str]:
        """Names of objects that recorded requests make."""
        made = [each["response"] for each in self.requests if each.get("verb") == "POST" and is_readable(each)]
        return {body["metadata"].get("name", "") for body in made if isinstance(body, dict)}

    def pod(self, name: str, uid: str) -> Json:
        """Pending; what the recorded answers show of its metadata and spec."""
        metadata: Json = {"name": name, "namespace": "default", "uid": uid}
        spec: Json = {"schedulerName": "default-scheduler", "priority": 0, "terminationGracePeriodSeconds": 30}
        for request in self.requests:
            found = request.get("response")
            if isinstance(found, dict) and found.get("kind") == "Pod" and found["metadata"]["uid"] == uid:
                kept = {
                    key: found["metadata"][key] for key in ("annotations", "finalizers") if key in found["metadata"]
                }
                metadata.update(kept)
                spec["priority"] = found["spec"]["priority"]
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}

    def next_uid(self, name: str) -> str:
        self._uids[name].pop(0)
        return self._uids[name][0]

    # Requests

    def send(self, request: Json) -> None:
        """One recorded request or note on a watch; AssertionError where the answer is another one."""
        self._run_server(request)
        if not is_readable(request):
            self.unreadable += 1
        elif request.get("event") == "broken":
            self.break_off()
        elif request.get("event") == "watch-open":
            self._watch(request)
        elif request.get("event") == "watch-close":
            pass  # looked at when it opened
        elif "status" not in request:
            self._refused(request)
        else:
            self._compare(request, self._answer(request))

    def _run_server(self, request: Json) -> None:
        """It answers, with or without its roles loaded, when the recorded one did."""
        code = request.get("status")
        if code is None or request.get("event") == "watch-close":
            return
        if self.stopped:
            self.server.start()
            self.server.forbid_everybody(3600 if code == 403 else 0)
            self.stopped = False
        elif code == 200:
            self.server.forbid_everybody(0)

    def break_off(self) -> None:
        """The server stops; the watches that were open then break."""
        if self.stopped:
            return
        broken = [each for each in self.requests if each.get("event") == "broken"]
        opened = []
        for each in broken:
            query = dict(parse_qsl(each["query"]))
            if "resourceVersion" in query:
                query["resourceVersion"] = str(self.server.version)
            events = self.client.watch(each["path"], **query)
            events.until_bookmark()
            opened.append(events)
        self.server.stop()
        self.stopped = True
        for events in opened:
            try:
                list(events)
            except requests.exceptions.RequestException:
                self.compared += 1
                continue
            raise AssertionError(f"a watch ended as if all were well: {events.response.url}")

    def _answer(self, request: Json) -> Answer | None:
        body = self._translated(request.get("body"))
        path = self.names.text(request["path"])
        kind = request.get("contentType") or "application/json"
        self.sent_times |= times(request.get("body"))
        if "dropped" in request:
            with self.server.faults.drop_answer(path=path):
                try:
                    self.client.send(request["verb"], path, body, content_type=kind)
                except requests.exceptions.ConnectionError:
                    return None
                raise AssertionError("an answer came although it was dropped")
        if request["status"] == 429:
            self.server.faults.answer(429, times=1, path=path)
        client = self.client if "userAgent" in request else self.admin
        return client.send(request["verb"], path, body, content_type=kind, **dict(parse_qsl(request["query"])))

    def _translated(self, body: Any) -> Any:
        """With our uids and names; a version that we never heard of is the object's current one."""
        if not isinstance(body, dict):
            return body
        translated: Json = json.loads(self.names.text(json.dumps(body)))
        version = translated.get("metadata", {}).get("resourceVersion")
        if version is not None:
            if version not in self.versions.ours:
                metadata = translated["metadata"]
                current = self.server.get(body["kind"], metadata["name"], metadata.get("namespace", ""))
                self.versions.learn(version, current["metadata"]["resourceVersion"])
            translated["metadata"]["resourceVersion"] = self.versions.ours[version]
        return translated

    def _refused(self, request: Json) -> None:
        """The server was gone."""
        try:
            self.client.send(request.get("verb") or "GET", request["path"], request.get("body"))
        except requests.exceptions.ConnectionError:
            self.compared += 1
            return
        raise AssertionError(f"answered: {request['verb']} {request['path']}")

    # Answers

    def _compare(self, request: Json, answer: Answer | None) -> None:
        self.compared += 1
        if answer is None:
            return  # it was dropped; what it did is in later answers
        about = f"{request['verb']} {request['path']} at {request.get('at')}"
        assert answer.status == request["status"], f"{about}: {answer}"
        if "responseHeaders" in request:
            assert answer.headers["Retry-After"] == request["responseHeaders"]["retry-after"]
        recorded = request["response"]
        if isinstance(recorded, str):
            assert recorded.startswith(f"<{len(answer.body)} bytes b'{answer.body[:4]}'"), about
        elif recorded["kind"] == "APIResourceList":
            assert answer.body["kind"] == "APIResourceList", about  # the recorder kept no more
        else:
            self._compare_bodies(recorded, answer.body, about)

    def _compare_bodies(self, recorded: Json, ours: Json, about: str) -> None:
        ours = shown(ours)
        wanted, found = recorded.get("metadata", {}), ours.get("metadata", {})
        for key in ("name", "uid"):
            if key in wanted and key in found and wanted["name"] not in self._uids:
                self.names.learn(wanted[key], found[key])
        if "resourceVersion" in wanted:
            self.versions.learn(wanted["resourceVersion"], found["resourceVersion"])
            found["resourceVersion"] = wanted["resourceVersion"]
        recorded = json.loads(self.names.text(json.dumps(recorded)))
        lost = self.sent_times & times(recorded) - times(ours)
        assert not lost, f"{about}: {lost} does not come back"
        wanted, found = timeless(recorded), timeless(ours)
        assert found == wanted, f"{about}\nrecorded: {json.dumps(wanted)}\nours:     {json.dumps(found)}"

    # Watches

    def _watch(self, request: Json) -> None:
        self.compared += 1
        query = dict(parse_qsl(request["query"]))
        version = query.get("resourceVersion")
        if version is not None:
            query["resourceVersion"] = self.versions.ours.get(version, str(self.server.version))
        closed = self._closed(request)
        with self.client.watch(request["path"], **query) as events:
            assert events.status == request["status"], request["path"]
            if request["status"] == 403:
                assert events.response.json()["reason"] == "Forbidden"
            elif closed is not None:
                self._compare_errors(closed, list(events))
            elif query.get("sendInitialEvents"):
                *objects, last = events.until_bookmark()
                assert all(event["type"] == "ADDED" for event in objects)
                assert last["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}

    def _closed(self, opened: Json) -> Json | None:
        """How the same watch ended, where it ended by itself with events."""
        same = ("path", "query")
        found = (each for each in self.requests if each.get("event") == "watch-close" and each["at"] >= opened["at"])
        return next((each for each in found if all(each[key] == opened[key] for key in same)), None)

    def _compare_errors(self, closed: Json, events: list[Json]) -> None:
        assert closed["events"] == {"ERROR": len(events)}
        for recorded, ours in zip(closed["errors"], events, strict=True):
            assert _numberless(ours) == _numberless(recorded)


def _numberless(event: Json) -> Json:
    result = copy.deepcopy(event)
    assert TOO_OLD.fullmatch(result["object"]["message"])
    result["object"]["message"] = "too old"
    return result


def times(body: Any) -> set[str]:
    """All times within."""
    return set(TIME.findall(json.dumps(body)))


def timeless(body: Json) -> Json:
    found: Json = json.loads(TIME.sub('"a time"', json.dumps(body)))
    return found


def shown(body: Json) -> Json:
    """What the recorder keeps of an object; Status objects whole."""
    if body["kind"] == "Status":
        return body
    kept = dict(body)
    named = ROLE_METADATA if "rbac" in body["apiVersion"] else METADATA
    kept["metadata"] = {key: value for key, value in body["metadata"].items() if key in named}
    for part, keys in SHOWN.get(body["kind"], {}).items():
        kept[part] = {key: value for key, value in body.get(part, {}).items() if key in keys}
    return kept


def before(request: Json) -> Json | None:
    """The object as it was before a GET or PUT of it; None where the request tells nothing of one."""
    if request["verb"] == "GET" and request.get("status") == 200:
        answered = copy.deepcopy(request["response"])
        return dict(answered) if isinstance(answered, dict) and "name" in answered.get("metadata", {}) else None
    if request["verb"] != "PUT" or not isinstance(request.get("body"), dict):
        return None
    body: Json = copy.deepcopy(request["body"])
    metadata = body["metadata"]
    if body["kind"] == "ResourceClaim":
        metadata.pop("finalizers", None)
        body["status"] = {}
    else:
        metadata.pop("annotations", None)
    body.get("spec", {}).pop("claimRef", None)
    return body
