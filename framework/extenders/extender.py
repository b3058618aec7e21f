"""One extender: whom it cares for, what it is sent, and what its answers mean.

Rules: docs/semantics/extenders.md#interest, docs/semantics/extenders.md#replies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from framework.configuration import Extender as Configured
from framework.configuration.durations import parse_duration
from framework.configuration.errors import go_quote
from framework.extenders.bodies import Bodies
from framework.extenders.exchange import Answer, Request, Verb
from framework.extenders.go_json import GoJsonError, GoType, decode
from framework.extenders.replies import BINDING_RESULT, FILTER_RESULT, PREEMPTION_RESULT, PRIORITY_LIST
from framework.interface.node_info import NodeInfo
from framework.interface.plugin import Candidate
from framework.objects import Node, Pod
from framework.objects.decode import decode_manifest
from framework.objects.errors import ObjectError
from framework.reading.addresses import without_credentials, without_values

EXTENDER: Final = "Extender"
"""Stands for all extenders among the plugins that a pod was rejected by."""
DEFAULT_TIMEOUT: Final = 5_000_000_000
"""Nanoseconds, where httpTimeout is 0."""
OK: Final = 200
SCALE: Final = 10
"""Nodes get 0 to 100 points of a plugin, 0 to 10 of an extender."""
PANICS: Final = "kube-scheduler would crash here"


MOST_CHARACTERS: Final = 4096
"""Of a text of an extender's: it goes into every attempt, Event and condition. kube-scheduler has no bound; an API
server would refuse what it writes then."""


def shortened(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}… ({len(text):,} characters)"


class ExtenderError(Exception):
    """What the extender said instead of an answer, or what is wrong with that; the text is upstream's, shortened."""

    def __init__(self, text: str) -> None:
        super().__init__(shortened(text))


class Entry(NamedTuple):
    """A node as an extender sees it. ``row`` is its place in the snapshot."""

    row: int
    node: Node


@dataclass(frozen=True, slots=True)
class Filtered:
    """``rows`` of those that were sent, in the reply's order; ``nodes`` are objects to be looked at anew instead."""

    rows: tuple[int, ...] = ()
    nodes: tuple[Node, ...] | None = None
    failed: Mapping[str, str] = field(default_factory=dict)
    failed_and_unresolvable: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Prioritized:
    scores: tuple[tuple[str, int], ...]
    """Host, score, as they came."""
    weight: int


class Extender:
    def __init__(self, place: int, configured: Configured, bodies: Bodies) -> None:
        """``place``: in the effective configuration."""
        self.place = place
        self.configured = configured
        self.name = without_credentials(configured.url_prefix)
        """What upstream calls it, its urlPrefix, but for credentials: names are shown, logged and stored."""
        self._bodies = bodies
        self._managed = frozenset(resource.name for resource in configured.managed_resources)
        self._timeout = parse_duration(configured.http_timeout) or DEFAULT_TIMEOUT

    @property
    def ignorable(self) -> bool:
        return self.configured.ignorable

    @property
    def filters(self) -> bool:
        return bool(self.configured.filter_verb)

    @property
    def prioritizes(self) -> bool:
        return bool(self.configured.prioritize_verb)

    @property
    def preempts(self) -> bool:
        return bool(self.configured.preempt_verb)

    @property
    def binds(self) -> bool:
        return bool(self.configured.bind_verb)

    def is_interested(self, pod: Pod) -> bool:
        """Without managed resources in every pod, else in those with a container that names one of them."""
        if not self._managed:
            return True
        for container in (*pod.spec.containers, *pod.spec.init_containers):
            resources = container.resources
            if not self._managed.isdisjoint(resources.requests or ()):
                return True
            if not self._managed.isdisjoint(resources.limits or ()):
                return True
        return False

    # --- requests ---------------------------------------------------------------------------------------------------

    def _request(self, verb: Verb, pod: Pod, body: bytes) -> Request:
        url = without_credentials(url_of(self.configured, verb))
        return Request(self.place, self.name, verb, url, pod.key, body, self._timeout)

    def filter_request(self, pod: Pod, entries: Sequence[Entry]) -> Request:
        return self._request("filter", pod, self._args(pod, entries))

    def prioritize_request(self, pod: Pod, entries: Sequence[Entry]) -> Request:
        return self._request("prioritize", pod, self._args(pod, entries))

    def _args(self, pod: Pod, entries: Sequence[Entry]) -> bytes:
        return self._bodies.args(pod, [entry.node for entry in entries], names_only=self.configured.node_cache_capable)

    def preempt_request(self, pod: Pod, candidates: Sequence[Candidate]) -> Request:
        victims = {each.node: (each.victims, each.pdb_violations) for each in candidates}
        body = self._bodies.preemption_args(pod, victims, uids_only=self.configured.node_cache_capable)
        return self._request("preempt", pod, body)

    def bind_request(self, pod: Pod, node: str) -> Request:
        return self._request("bind", pod, self._bodies.binding_args(pod, node))

    # --- answers ----------------------------------------------------------------------------------------------------

    def _read(self, request: Request, answer: Answer, into: GoType) -> Any:
        if answer.error:
            # What 0.2.0 stored of an answer has the URL as it is configured.
            url = url_of(self.configured, request.verb)
            raise ExtenderError(answer.error.replace(url, request.url))
        if answer.status != OK:
            verb = without_values(configured_verb(self.configured, request.verb))
            raise ExtenderError(f"failed {verb} with extender at URL {request.url}, code {answer.status}")
        try:
            return decode(answer.body, into)
        except GoJsonError as error:
            raise ExtenderError(str(error)) from None

    def read_filter(self, request: Request, answer: Answer, entries: Sequence[Entry]) -> Filtered:
        """Raises ExtenderError."""
        result = self._read(request, answer, FILTER_RESULT)
        if result.get("Error"):
            raise ExtenderError(result["Error"])
        failed, unresolvable = (
            {node: shortened(reason) for node, reason in (result.get(key) or {}).items()}
            for key in ("FailedNodes", "FailedAndUnresolvableNodes")
        )
        names, nodes = result.get("NodeNames"), result.get("Nodes")
        if self.configured.node_cache_capable and names is not None:
            # The last one of several with one name, as in Go's map.
            row_of = {entry.node.metadata.name: entry.row for entry in entries}
            for name in names:
                if name not in row_of:
                    raise ExtenderError(
                        f"extender {go_quote(self.name)} claims a filtered node {go_quote(name)} "
                        "which is not found in the input node list"
                    )
            return Filtered(tuple(row_of[name] for name in names), None, failed, unresolvable)
        if nodes is not None:
            made = tuple(self._node(each) for each in nodes.get("items") or ())
            return Filtered((), made, failed, unresolvable)
        return Filtered((), None, failed, unresolvable)

    def _node(self, fields: dict[str, Any]) -> Node:
        try:
            node = decode_manifest({**fields, "apiVersion": "v1", "kind": "Node"})
        except ObjectError as error:
            raise ExtenderError(f"extender {go_quote(self.name)} sent a node that cannot be read: {error}") from None
        assert isinstance(node, Node)
        return node

    def read_prioritize(self, request: Request, answer: Answer) -> Prioritized:
        """Raises ExtenderError."""
        result = self._read(request, answer, PRIORITY_LIST) or []
        scores = tuple((each.get("Host", ""), each.get("Score", 0)) for each in result)
        return Prioritized(scores, self.configured.weight)

    def read_preempt(
        self, request: Request, answer: Answer, node_info: Callable[[str], NodeInfo | None]
    ) -> dict[str, Candidate]:
        """Node → victims, by name. Raises ExtenderError, for the first node in the order of names."""
        result = self._read(request, answer, PREEMPTION_RESULT)
        found: dict[str, Candidate] = {}
        for name, meta in sorted((result.get("NodeNameToMetaVictims") or {}).items()):
            info = node_info(name)
            if info is None:
                raise ExtenderError(f"nodeinfo not found for node name {go_quote(name)}")
            if meta is None:
                raise ExtenderError(f"extender: {self.name} answers null for node {name}: {PANICS}")
            victims = tuple(self._victim(each, info, name) for each in meta.get("Pods") or ())
            found[name] = Candidate(name, victims, meta.get("NumPDBViolations", 0))
        return found

    def _victim(self, meta: dict[str, Any] | None, info: NodeInfo, node: str) -> Pod:
        if meta is None and info.pods:
            raise ExtenderError(f"extender: {self.name} names null as a victim on node {node}: {PANICS}")
        uid = None if meta is None else meta.get("UID", "")
        for placed in info.pods:
            if placed.uid == uid:
                return placed.pod
        shown = "<nil>" if uid is None else f"&{{{uid}}}"
        raise ExtenderError(
            f"extender: {self.name} claims to preempt pod (UID: {shown}) on node: {node}, "
            "but the pod is not found on that node"
        )

    def read_bind(self, request: Request, answer: Answer) -> None:
        """Raises ExtenderError."""
        result = self._read(request, answer, BINDING_RESULT)
        if result.get("Error"):
            raise ExtenderError(result["Error"])


def configured_verb(configured: Configured, verb: Verb) -> str:
    """What is called for it; "" where nothing is."""
    match verb:
        case "filter":
            return configured.filter_verb
        case "prioritize":
            return configured.prioritize_verb
        case "preempt":
            return configured.preempt_verb
        case "bind":
            return configured.bind_verb


def url_of(configured: Configured, verb: Verb) -> str:
    """With its credentials: to be called, and never to be shown."""
    return f"{configured.url_prefix.rstrip('/')}/{configured_verb(configured, verb)}"


def made_of(configured: Iterable[Configured], *, sends_secrets: bool) -> tuple[Extender, ...]:
    """``sends_secrets``: as ``SchedulerOptions`` has it."""
    bodies = Bodies(sends_secrets=sends_secrets)
    return tuple(Extender(place, each, bodies) for place, each in enumerate(configured))
