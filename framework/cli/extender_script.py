"""What the extenders of a case answer: its script is played, and what was sent and understood is noted.

The format is that of the recorded cases (tests/conformance/EXTENDERS.md): per verb a list of rules, of which the first
that names the pod, or none, makes the reply.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, Final

import msgspec

from framework.cli.report import Report
from framework.extenders import Answer, Entry, Extender, ExtenderError, Request
from framework.interface.plugin import Candidate
from framework.objects import Node, ObjectMeta

HOST: Final = "http://extender-"
SLOW: Final = 'Post "{}": context deadline exceeded (Client.Timeout exceeded while awaiting headers)'


class ScriptedExtender(msgspec.Struct):
    """An entry of a case's ``extenders``."""

    config: dict[str, Any] = {}
    path: str = ""
    script: dict[str, list[dict[str, Any]]] = {}


def with_extenders(config: dict[str, Any] | None, extenders: Sequence[ScriptedExtender]) -> dict[str, Any]:
    """The case's configuration with its extenders, each at a host of its own."""
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    listed = [{**each.config, "urlPrefix": f"{HOST}{i}{each.path}"} for i, each in enumerate(extenders)]
    return {**(config or head), "extenders": listed}


class ScriptedExtenders:
    """Answers a case's requests (``SchedulingCore.answerer``)."""

    def __init__(self, scripted: Sequence[ScriptedExtender]) -> None:
        self._scripted = scripted
        self.extenders: Sequence[Extender] = ()
        """The run's; set once it is there."""
        self.node_info: Any = None
        """Name → NodeInfo of the cycle's snapshot, or None."""
        self.calls: list[Report] = []
        """Of the attempt under way."""

    def __call__(self, requests: Sequence[Request]) -> Sequence[Answer]:
        # Requests of one moment are listed by extender.
        answered = {request.url: self._answer(request) for request in sorted(requests, key=self.number)}
        return [answered[request.url] for request in requests]

    @staticmethod
    def number(request: Request) -> int:
        """The extender's place in the case."""
        return int(request.name.removeprefix(HOST).partition("/")[0])

    def _answer(self, request: Request) -> Answer:
        number = self.number(request)
        body = msgspec.json.decode(request.body)
        answer = scripted_answer(self._scripted[number].script, request.verb, request.url, request.pod, body)
        self.calls.append(
            {
                "extender": number,
                "verb": request.verb,
                "sent": _sent(request, f"{HOST}{number}", body),
                "got": self._got(request, answer, body),
            }
        )
        return answer

    def _got(self, request: Request, answer: Answer, body: dict[str, Any]) -> Report:
        """What the scheduler makes of the answer."""
        extender = self.extenders[request.extender]
        try:
            if request.verb == "filter":
                return _got_filter(extender, request, answer, body)
            if request.verb == "prioritize":
                said = extender.read_prioritize(request, answer)
                return {"scores": sorted(map(list, said.scores), key=itemgetter(0)), "weight": said.weight}
            if request.verb == "preempt":
                left = extender.read_preempt(request, answer, self.node_info)
                return {"victims": {node: _victims(candidate) for node, candidate in left.items()}}
            extender.read_bind(request, answer)
        except ExtenderError as error:
            return {"error": str(error)}
        return {}


def _victims(candidate: Candidate) -> Report:
    return {"pods": [pod.key for pod in candidate.victims], "numPDBViolations": candidate.pdb_violations}


def _got_filter(extender: Extender, request: Request, answer: Answer, body: dict[str, Any]) -> Report:
    names = nodes_of(body)
    entries = [Entry(place, Node(metadata=ObjectMeta(name=name))) for place, name in enumerate(names)]
    found = extender.read_filter(request, answer, entries)
    report: Report = {}
    if found.nodes is None:
        report["nodes"] = sorted(names[row] for row in found.rows)
    else:
        report["nodes"] = sorted(node.metadata.name for node in found.nodes)
        if found.nodes:
            report["newNodeInfos"] = True
    if found.failed:
        report["failed"] = found.failed
    if found.failed_and_unresolvable:
        report["failedAndUnresolvable"] = found.failed_and_unresolvable
    return report


def nodes_of(body: dict[str, Any]) -> list[str]:
    """Of a filter or prioritize request."""
    if body["NodeNames"] is not None:
        return list(body["NodeNames"])
    return [item["metadata"]["name"] for item in body["Nodes"]["items"]]


def _sent(request: Request, host: str, body: dict[str, Any]) -> Report:
    sent: Report = {"path": request.url.removeprefix(host), "keys": sorted(body)}
    if request.verb == "bind":
        return sent | {key[0].lower() + key[1:]: value for key, value in body.items()}
    metadata = body["Pod"]["metadata"]
    sent["pod"] = f"{metadata['namespace']}/{metadata['name']}"
    if request.verb == "preempt":
        victims, meta = body["NodeNameToVictims"], body["NodeNameToMetaVictims"]
        sent["victims"] = victims and {node: _sent_victims(each) for node, each in victims.items()}
        sent["metaVictims"] = meta and {
            node: {"uids": [pod["UID"] for pod in each["Pods"]], "numPDBViolations": each["NumPDBViolations"]}
            for node, each in meta.items()
        }
        return sent
    names = sorted(nodes_of(body))
    sent["nodes"] = None if body["Nodes"] is None else names
    sent["nodeNames"] = None if body["NodeNames"] is None else names
    return sent


def _sent_victims(victims: dict[str, Any]) -> Report:
    pods = [f"{pod['metadata']['namespace']}/{pod['metadata']['name']}" for pod in victims["Pods"]]
    return {"pods": pods, "numPDBViolations": victims["NumPDBViolations"]}


# --- the script -------------------------------------------------------------------------------------------------------


def scripted_answer(
    script: dict[str, list[dict[str, Any]]], verb: str, url: str, pod: str, body: dict[str, Any]
) -> Answer:
    """``pod``: ``namespace/name``; rules name it without the namespace."""
    name = pod.partition("/")[2]
    rule = next((each for each in script.get(verb, ()) if _is_for(each, name)), {})
    if rule.get("delay"):
        return Answer(error=SLOW.format(url))
    raw = rule.get("raw")
    text = str(raw).encode() if raw is not None else msgspec.json.encode(_REPLIES[verb](rule, body))
    return Answer(rule.get("status", 200), text)


def _is_for(rule: dict[str, Any], pod: str) -> bool:
    wanted = rule.get("pod")
    return wanted is None or (pod in wanted if isinstance(wanted, list) else pod == wanted)


def _filter_reply(rule: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    if "error" in rule and "as" not in rule:
        return {"Error": rule["error"]}
    names = nodes_of(body)
    failed, unresolvable = rule.get("failed", {}), rule.get("failedAndUnresolvable", {})
    if "keep" in rule:
        kept = rule["keep"] if rule.get("exact") else [name for name in names if name in rule["keep"]]
    else:
        out = {*rule.get("drop", ()), *failed, *unresolvable}
        kept = [name for name in names if name not in out]
    reply: dict[str, Any] = {"FailedNodes": failed, "FailedAndUnresolvableNodes": unresolvable}
    if "error" in rule:
        reply["Error"] = rule["error"]
    shape = rule.get("as", "names" if body["NodeNames"] is not None else "nodes")
    if shape in ("names", "both"):
        reply["NodeNames"] = kept
    if shape in ("nodes", "both"):
        reply["Nodes"] = {"items": [_node_object(name, rule, body) for name in kept]}
    return reply


def _node_object(name: str, rule: dict[str, Any], body: dict[str, Any]) -> Any:
    items = [] if body["Nodes"] is None else body["Nodes"]["items"]
    known = next((item for item in items if item["metadata"]["name"] == name), None)
    node = known or {"metadata": {"name": name}}
    patch = rule.get("patch", {}).get(name)
    return node if patch is None else merged(node, patch)


def merged(target: Any, patch: Any) -> Any:
    """RFC 7386."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def _prioritize_reply(rule: dict[str, Any], body: dict[str, Any]) -> list[dict[str, Any]]:
    scores = [{"Host": host, "Score": score} for host, score in rule.get("scores", ())]
    if "rest" in rule:
        named = {each["Host"] for each in scores}
        scores += [{"Host": name, "Score": rule["rest"]} for name in nodes_of(body) if name not in named]
    return scores


def _preempt_reply(rule: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    given = body["NodeNameToVictims"] if body["NodeNameToVictims"] is not None else body["NodeNameToMetaVictims"]
    spared = set(rule.get("dropVictims", ()))
    reply: dict[str, Any] = {}
    for node, victims in given.items():
        if node not in rule["keep"] if "keep" in rule else node in rule.get("drop", ()):
            continue
        uids = [pod["metadata"]["uid"] if "metadata" in pod else pod["UID"] for pod in victims["Pods"]]
        left = [uid for uid in uids if uid.split(".", 2)[-1] not in spared]
        reply[node] = {"Pods": [{"UID": uid} for uid in left], "NumPDBViolations": victims["NumPDBViolations"]}
    for node, uids in rule.get("victims", {}).items():
        reply[node] = {"Pods": [{"UID": uid} for uid in uids]}
    for node, violations in rule.get("numPDBViolations", {}).items():
        if node in reply:
            reply[node]["NumPDBViolations"] = violations
    return {"NodeNameToMetaVictims": reply}


def _bind_reply(rule: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    return {"Error": rule["error"]} if "error" in rule else {}


_REPLIES: Final[dict[str, Any]] = {
    "filter": _filter_reply,
    "prioritize": _prioritize_reply,
    "preempt": _preempt_reply,
    "bind": _bind_reply,
}
