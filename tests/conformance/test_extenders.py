"""Our decisions with HTTP extenders beside the real kube-scheduler's: every field of every attempt, every request."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from framework.cli.cases import Case, parse_case
from framework.cli.decide import decide
from framework.configuration import load_value
from framework.extenders import Answer, Request
from framework.objects import Namespace, ObjectMeta, Pod
from framework.objects.decode import decode_manifest
from framework.objects.defaults import with_defaults
from framework.objects.timestamps import parse_timestamp
from framework.plugins.registry import built_in_registry
from framework.scheduler import Cluster, Observer, Scheduler
from framework.scheduler.controllers import DECIDED_ONLY
from tests.conformance.compare import differences, first_difference
from tests.conformance.compressed import read_lines

DATA = Path(__file__).parent / "data" / "extenders"
THEMES = {
    "bind": 11,
    "config": 5,
    "filter": 20,
    "filter_errors": 7,
    "managed": 16,
    "mixed": 35,
    "no_scores": 12,
    "nodes": 19,
    "preempt": 31,
    "preempt_errors": 15,
    "prioritize": 20,
    "requeue": 9,
}
NOT_COMPARED = ("resourceVersion", "startTime", "conditions")
HOST = "http://extender-0"


@cache
def cases() -> dict[str, list[tuple[Case, dict[str, Any]]]]:
    found: dict[str, list[tuple[Case, dict[str, Any]]]] = {}
    inputs = read_lines(DATA / "extenders.cases.jsonl.xz")
    outputs = read_lines(DATA / "extenders.expected.jsonl.xz")
    for line, expected in zip(inputs, outputs, strict=True):
        theme = json.loads(line)["theme"]
        found.setdefault(theme, []).append((parse_case(line.decode(), "extenders"), json.loads(expected)))
    return found


def test_all_cases_are_here() -> None:
    assert {theme: len(found) for theme, found in cases().items()} == THEMES


@pytest.mark.parametrize("theme", THEMES)
def test_decisions_and_requests_equal_the_recorded_ones(theme: str) -> None:
    wrong = []
    for case, expected in cases()[theme]:
        ours = json.loads(msgspec.json.encode(decide(case, built_in_registry())))
        for field, wanted, got in list(differences(expected, ours))[:3]:
            wrong.append(f"{case.name} {field}\n  want {wanted}\n  got  {got}")
    assert not wrong, "\n".join(wrong[:10])


@cache
def recorded() -> list[dict[str, Any]]:
    return [json.loads(line) for line in read_lines(DATA / "request_bodies.jsonl")]


class AllPass:
    """Leaves everything as it is, and keeps what it was sent."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, dict[str, Any]]] = []

    def __call__(self, requests: Sequence[Request]) -> list[Answer]:
        return [self._answer(request) for request in requests]

    def _answer(self, request: Request) -> Answer:
        body = json.loads(request.body)
        self.sent.append((request.url.removeprefix(HOST), body))
        reply: Any = {}
        if request.verb == "filter":
            reply = {key: body[key] for key in ("Nodes", "NodeNames")}
        elif request.verb == "prioritize":
            reply = [{"Host": "node-a", "Score": 10}]
        elif request.verb == "preempt":
            victims = body["NodeNameToVictims"] or body["NodeNameToMetaVictims"]
            reply = {"NodeNameToMetaVictims": {node: _meta(each["Pods"]) for node, each in victims.items()}}
        return Answer(200, json.dumps(reply).encode())


def _meta(pods: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {"Pods": [{"UID": pod.get("UID") or pod["metadata"]["uid"]} for pod in pods]}


@pytest.mark.parametrize("knows_nodes", [False, True], ids=["node objects", "node names"])
def test_request_bodies_equal_the_recorded_ones(knows_nodes: bool) -> None:
    """A pod that has a choice, one that has none, one that preempts and comes again: eight requests."""
    wanted = recorded()[8:] if knows_nodes else recorded()[:8]
    answers = AllPass()
    scheduler = _scheduler(knows_nodes)
    scheduler.core.answerer = answers
    tried: set[str] = set()
    for manifest in (each["body"].get("Pod") for each in wanted):
        if manifest is None or manifest["metadata"]["name"] in tried:
            continue
        pod = scheduler.cluster.create_admitted(_pod(manifest))
        tried.add(pod.name)
        scheduler.step()
        live = scheduler.cluster.get(Pod, "default", pod.name)
        if live is not None and live.status.nominated_node_name:
            scheduler.activate([live])
            scheduler.step()
    assert [path for path, _ in answers.sent] == [each["path"] for each in wanted]
    for (path, body), each in zip(answers.sent, wanted, strict=True):
        assert first_difference(_comparable(each["body"]), _comparable(body)) is None, path


def _comparable(body: Any) -> Any:
    """Without the versions that only an API server's own counting explains, and without what the recorder's did not do
    or did beside it when a pod was bound: no condition, but a start."""
    if isinstance(body, list):
        return [_comparable(each) for each in body]
    if isinstance(body, dict):
        return {key: _comparable(each) for key, each in body.items() if key not in NOT_COMPARED}
    return body


def _scheduler(knows_nodes: bool) -> Scheduler:
    extender = {"urlPrefix": HOST, "filterVerb": "filter", "prioritizeVerb": "prioritize", "weight": 1}
    extender |= {"preemptVerb": "preempt", "bindVerb": "bind", "nodeCacheCapable": knows_nodes}
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    effective = load_value({**head, "extenders": [extender]}, built_in_registry()).effective
    assert effective is not None
    cluster = Cluster()
    cluster.set_controllers(DECIDED_ONLY)
    cluster.create_admitted(Namespace(metadata=ObjectMeta(name="default")))
    for node in recorded()[0]["body"]["Nodes"]["items"]:
        cluster.create_admitted(with_defaults(decode_manifest({"apiVersion": "v1", "kind": "Node", **node})))
    preempt = next(each for each in recorded() if each["path"] == "/preempt")
    cluster.create_admitted(_pod(preempt["body"]["NodeNameToVictims"]["node-b"]["Pods"][0]))
    start = parse_timestamp("2026-01-02T00:00:00Z")
    return Scheduler(
        effective, built_in_registry(), start=start, seed=0, ties="smallest", observer=Observer(), cluster=cluster
    )


def _pod(manifest: dict[str, Any]) -> Pod:
    pod = decode_manifest({"apiVersion": "v1", "kind": "Pod", **manifest})
    assert isinstance(pod, Pod)
    return with_defaults(replace(pod, metadata=replace(pod.metadata, resource_version="")))
