"""A recorded scenario once more, but every write of kube-scheduler is made by our writer from the decision behind it.

What was decided is read off the recording (which pod, node, message, devices), and the pod as it is at the stand-in at
that moment. What our writer sends for it is held against the recorded request: method, path, body. The answers are held
against the recorded ones, too.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec import convert
from msgspec.structs import replace

from framework.objects import Pod, PodCondition, ResourceClaim
from framework.objects.decode import decode_manifest
from framework.objects.devices import AllocationResult, ResourceClaimConsumerReference
from framework.objects.pod import PodExtendedResourceClaimStatus
from framework.objects.timestamps import parse_timestamp
from schedweb.clusters.writing.access import Answer, WritingAccess
from schedweb.clusters.writing.events import Events
from schedweb.clusters.writing.permission import Permission
from schedweb.clusters.writing.sending import Writer
from schedweb.writes import claims, pods, volumes
from schedweb.writes.events import became_leader, event
from schedweb.writes.writes import Outcome, Write
from tests.apiserver import patches
from tests.apiserver.client import Answer as Answered
from tests.apiserver.kinds import Json
from tests.apiserver.recordings import SCHEDULER, Replay, timeless
from tests.apiserver.server import ApiServer

CONTEXT = "recorded"
HOST = "host"
RESULTS = {200: "done", 201: "done", 403: "forbidden", 404: "gone"}


class Overheard(WritingAccess):
    """Keeps the answers, which a Writer does not hand out."""

    answers: list[Answer]

    def exchange(self, *args: Any, **options: Any) -> Answer:
        answer = super().exchange(*args, **options)
        self.answers.append(answer)
        return answer


@dataclass(frozen=True)
class Departure:
    """Where our writer does not do what kube-scheduler did, and is not meant to."""

    scenario: str
    why: str
    is_it: Any = field(repr=False)


def _condition(request: Json) -> str:
    body = request.get("body")
    conditions = body.get("status", {}).get("conditions", [{}]) if isinstance(body, dict) else [{}]
    return str(conditions[0].get("reason", ""))


DEPARTURES = (
    Departure(
        "bind_409",
        "no SchedulerError on a pod that somebody else bound",
        lambda request: _condition(request) == "SchedulerError",
    ),
    Departure(
        "bind_answer_lost",
        "the pod is looked at: the binding took effect, so neither Event nor condition says that it failed",
        lambda request: not request["path"].endswith("/binding"),
    ),
)


class Written(Replay):
    def __init__(self, server: ApiServer, scenario: str, folder: Path) -> None:
        super().__init__(server, scenario)
        self.scenario = scenario
        token = server.user(SCHEDULER, groups=["system:authenticated"])
        server.write_kubeconfig(folder / "config", token=token, context=CONTEXT)
        self.access = Overheard(Permission(CONTEXT))
        self.access.answers = []
        self.outcomes: list[tuple[Write, Outcome]] = []
        self.writer = Writer(self.access, is_held=lambda: True, record=self._note)
        self.events = Events(self.writer.send)
        self.known: dict[tuple[str, str], Pod] = {}
        """Pods as they were when they were seen last, by name and uid."""
        self.later: dict[str, Answered] = {}
        """What a repetition of a throttled request was answered, by its Event's name."""
        self.written = 0
        self.departed = 0
        self._sending: dict[int, Write] = {}

    def _note(self, number: int, what: Write | Outcome) -> None:
        if isinstance(what, Write):
            self._sending[number] = what
        else:
            self.outcomes.append((self._sending.pop(number), what))

    def look(self) -> None:
        for body in self.server.all("Pod"):
            pod = decode_manifest(body)
            assert isinstance(pod, Pod)
            self.known[pod.metadata.name, pod.metadata.uid] = pod

    def send(self, request: Json) -> None:
        self.look()
        super().send(request)

    def _answer(self, request: Json) -> Answered | None:
        if request["verb"] == "GET" or "/leases" in request["path"] or "userAgent" not in request:
            return super()._answer(request)
        if any(each.scenario == self.scenario and each.is_it(request) for each in DEPARTURES):
            self.departed += 1
            return None
        if (again := self.later.pop(_name_in(request), None)) is not None:
            return again
        recorded = self._translated(request["body"])
        fault = None
        if request["status"] == 429:
            fault = self.server.faults.answer(429, times=1, path=request["path"])
        elif "dropped" in request:
            fault = self.server.faults.drop_answer(times=1, path=request["path"])
        before, self.access.answers = len(self.outcomes), []
        self._write(request, recorded)
        assert fault is None or fault.hits == 1
        assert len(self.outcomes) == before + 1, f"{request['verb']} {request['path']}: nothing was sent"
        write, outcome = self.outcomes[-1]
        self._compare_requests(request, recorded, write)
        self.written += 1
        answered = [_answered(each) for each in self.access.answers]
        if not answered:
            assert outcome.is_done
            assert outcome.looked
            return None
        if answered[1:]:
            assert answered[0].status == 429
            self.later[_name_in(request)] = answered[-1]
        else:
            assert outcome.result == RESULTS.get(answered[0].status, outcome.result)
        return answered[0]

    def _compare_requests(self, request: Json, recorded: Json, write: Write) -> None:
        about = f"{request['verb']} {request['path']}"
        assert write.path == self.names.text(request["path"]), about
        ours = json.loads(json.dumps(write.body))
        if request["verb"] == "PUT":
            self._compare_patch(recorded, write)
            return
        assert (write.method, write.content_type) == (request["verb"], request["contentType"]), about
        if request["verb"] == "DELETE":
            assert ours.pop("preconditions") == {"uid": write.about.uid}
        # Times of conditions are whole seconds of the attempt's clock, which the recording does not tell.
        assert timeless(ours) == timeless(recorded), (
            f"{about}\nrecorded: {json.dumps(recorded)}\nours:     {json.dumps(ours)}"
        )

    def _compare_patch(self, recorded: Json, write: Write) -> None:
        """Applied to what was there, our patch leaves what kube-scheduler put."""
        assert write.method == "PATCH"
        was = self.was
        kind = was["kind"]
        patched = patches.strategic(kind, was, write.body)
        for part in ("metadata", "spec", "status"):
            wanted, ours = recorded.get(part, {}), patched.get(part, {})
            if part == "metadata":
                keys = ("name", "namespace", "uid", "resourceVersion", "annotations", "finalizers", "ownerReferences")
                wanted, ours = ({key: one[key] for key in keys if key in one} for one in (wanted, ours))
            assert timeless(ours) == timeless(wanted), write.path

    # Decisions, as the recording tells them

    def _write(self, request: Json, body: Json) -> None:
        path: str = request["path"]
        if "/events" in path:
            self._tell(request, body)
        elif path.endswith("/binding"):
            self._send(pods.bind(self._pod(body["metadata"]["name"], body["metadata"]["uid"]), body["target"]["name"]))
        elif path.endswith("/status") and "/pods/" in path:
            self._patch_status(self._pod(path.split("/")[-2]), body["status"])
        elif request["verb"] == "DELETE":
            self._send(pods.evict(self._pod(path.split("/")[-1])))
        elif request["verb"] == "POST":
            claim = convert({key: body[key] for key in ("metadata", "spec")}, ResourceClaim)
            self._send(claims.create_claim(claim))
        else:
            self._send(self._of_put(body, is_status=path.endswith("/status")))

    def _send(self, write: Write | None) -> None:
        assert write is not None, "nothing differs, so nothing is sent"
        self.writer.send(write)

    def _pod(self, name: str, uid: str = "") -> Pod:
        return [pod for (known, its), pod in self.known.items() if known == name and uid in ("", its)][-1]

    def _patch_status(self, pod: Pod, status: Json) -> None:
        if "extendedResourceClaimStatus" in status:
            named = convert(status["extendedResourceClaimStatus"], PodExtendedResourceClaimStatus)
            self._send(pods.name_extended_claim(pod, named))
            return
        told = next(iter(status.get("conditions", ())), None)
        if told is not None and told["type"] == "DisruptionTarget":
            preemptor = next(pod for (name, _), pod in self.known.items() if not name.startswith("low"))
            self._send(pods.disrupt(pod, preemptor, parse_timestamp(told["lastTransitionTime"])))
            return
        nominated = (status["nominatedNodeName"] or "") if "nominatedNodeName" in status else None
        condition, now = None, 0
        if told is not None:
            reason = "SchedulerError" if told["message"].startswith("running ") else "Unschedulable"
            condition = PodCondition(type="PodScheduled", status="False", reason=reason, message=told["message"])
            now = parse_timestamp(told["lastTransitionTime"]) if "lastTransitionTime" in told else 10**18
        self._send(pods.patch_status(pod, condition, nominated, now))

    def _tell(self, request: Json, body: Json) -> None:
        if "/kube-system/" in request["path"]:
            lease = {"metadata": body["involvedObject"]}
            identity = body["message"].removesuffix(" became leader")
            self._send(became_leader(lease, identity, body["source"]["component"], _nanos(body["metadata"]["name"])))
            return
        if "series" in body:
            # It came again.
            known = next(w for w, _ in reversed(self.outcomes) if request["path"].endswith(w.about.name))
            body, now = known.body, parse_timestamp(body["series"]["lastObservedTime"])
        else:
            now = _nanos(body["metadata"]["name"])
        regarding = body["regarding"]
        pod = self._pod(regarding["name"], regarding["uid"])
        pod = replace(pod, metadata=replace(pod.metadata, resource_version=regarding["resourceVersion"]))
        self.events.take(event(body["type"], body["reason"], pod, body["note"], host=HOST, now=now), now)

    def _of_put(self, body: Json, *, is_status: bool) -> Write | None:
        metadata = body["metadata"]
        self.was = self.server.get(body["kind"], metadata["name"], metadata.get("namespace", ""))
        known: Any = decode_manifest(self.was)
        if body["kind"] == "PersistentVolume":
            ref = body["spec"]["claimRef"]
            claim: Any = decode_manifest(
                {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": _identity(ref)}
            )
            return volumes.bind_volume(known, claim)
        if body["kind"] == "PersistentVolumeClaim":
            return volumes.choose_node(known, metadata["annotations"][volumes.SELECTED_NODE])
        if not is_status:
            return claims.protect_claim(known)
        is_new = "allocation" not in self.was.get("status", {})
        allocation = convert(body["status"]["allocation"], AllocationResult) if is_new else None
        reserved = body["status"]["reservedFor"][-1]
        return claims.reserve_devices(known, convert(reserved, ResourceClaimConsumerReference), allocation)


def _identity(ref: Json) -> Json:
    return {key: ref[key] for key in ("name", "namespace", "uid", "resourceVersion")}


def _nanos(name: str) -> int:
    """When an Event was made, which its name tells."""
    return int(name.rpartition(".")[2], 16)


def _name_in(request: Json) -> str:
    body = request.get("body")
    return str(body.get("metadata", {}).get("name", "")) if isinstance(body, dict) and "eventTime" in body else ""


def _answered(answer: Answer) -> Answered:
    headers = {name.title(): value for name, value in answer.headers.items()}
    try:
        return Answered(answer.status, json.loads(answer.body), headers)
    except ValueError:
        return Answered(answer.status, answer.body.decode(), headers)
