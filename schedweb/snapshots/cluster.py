"""A cluster in manifests: counted and filtered. Pure; the reader's child process and the samples use it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from framework.objects import KubeObject, Pod
from framework.objects.catalogue import LoadMetrics
from framework.objects.decode import decode_manifest
from framework.objects.selectors import LabelMatcher
from framework.reading.documents import Manifest
from framework.reading.gathering import Problem, workloads_of
from framework.reading.redaction import REMOVED, Removed, removed_words
from framework.sentences import Content, Sentence, counted_sentence, sentence
from schedweb.engine.payload import Text, Texts, encode_payload
from schedweb.snapshots.facts import Counting, Facts, is_finished, is_pending
from schedweb.snapshots.scheduler_events import SchedulerEvent, count_events

LEFT_OUT_NAMESPACE: Final = "left-out"
_JSON: Final = msgspec.json.Encoder()
_IN_ORDER: Final = msgspec.json.Encoder(order="sorted")


class PodEntry(msgspec.Struct, array_like=True):
    """What filters ask of a pod."""

    namespace: str
    labels: dict[str, str]
    pending: bool
    placed: bool
    maker: str = ""
    """The workload of the file that gave it (``Added``); "" of a pod that the file has."""


def json_text(manifest: Manifest, *, in_order: bool = False) -> msgspec.Raw:
    """``in_order``: with its fields by name."""
    return msgspec.Raw((_IN_ORDER if in_order else _JSON).encode(manifest))


@dataclass(slots=True)
class Cluster:
    """Objects are kept as text, and decoded again where that is asked for: a hundred thousand would fill the memory."""

    texts: list[Text] = field(default_factory=list)
    """What may be kept of them."""
    specs: list[bytes] = field(default_factory=list)
    """Of the pods that are packed."""
    pods: list[PodEntry] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    """Kind → how many were not kept at all."""
    removed: Removed = field(default_factory=Counter)
    """What was not kept of the others."""
    events: list[SchedulerEvent] = field(default_factory=list)
    """What schedulers said of pods."""
    other_events: int = 0
    """Events that no scheduler said; they are not kept."""
    configuration: Manifest | None = None
    """The scheduler's, if the file has one."""
    problems: list[Problem] = field(default_factory=list)
    """Objects of the file that could not be taken."""
    notes: list[Sentence] = field(default_factory=list)
    """What became of the workloads."""
    warnings: list[Sentence] = field(default_factory=list)
    """About fields that no API server knows."""
    _counting: Counting = field(default_factory=Counting)
    _labels: dict[bytes, dict[str, str]] = field(default_factory=dict)
    """Replicas share theirs. By their text, which takes a tenth of a tuple of them."""

    @property
    def facts(self) -> Facts:
        return self._counting.facts

    def put(self, kind: str, text: Text, decoded: KubeObject, maker: str = "") -> None:
        """``decoded``: as the framework reads ``text``. ``maker``: of a pod (PodEntry)."""
        self.texts.append(text)
        self.count(kind, decoded, maker)

    def count(self, kind: str, decoded: KubeObject, maker: str = "") -> None:
        """``put`` of an object whose text is kept elsewhere."""
        self._counting.take(kind, decoded)
        if isinstance(decoded, Pod):
            metadata = decoded.metadata
            labels = self._labels.setdefault(_JSON.encode(metadata.labels), metadata.labels)
            placed = bool(decoded.spec.node_name)
            self.pods.append(PodEntry(metadata.namespace, labels, is_pending(decoded), placed, maker))

    def objects(self) -> Iterator[KubeObject]:
        return Texts(self.texts, self.specs).decoded()

    def manifest(self, text: Text) -> Manifest:
        return Texts([], self.specs).manifest(text)

    def not_kept(self, counts: dict[str, Any]) -> None:
        """``counts``: of ``count_cluster``, of the file that it came from."""
        self.dropped.update(counts.get("dropped_kinds", {}))
        self.removed.update(counts.get("removed", {}))

    def payload(self) -> bytes:
        return encode_payload(self.texts, specs=self.specs)


def stored_cluster(texts: Texts, events: Sequence[SchedulerEvent] = (), pods: Iterable[PodEntry] = ()) -> Cluster:
    """Of objects and events that were taken in before. ``pods``: what is known of its pods, in their order."""
    cluster = Cluster(specs=texts.specs, events=list(events))
    known = iter(pods)
    for text, decoded in zip(texts.objects, texts.decoded(), strict=True):
        entry = next(known, None) if isinstance(decoded, Pod) else None
        cluster.put(decoded.kind, text, decoded, entry.maker if entry else "")
    return cluster


def count_cluster(cluster: Cluster) -> dict[str, Any]:
    """The numbers of the preview and of the snapshot's card."""
    facts = cluster.facts
    return {
        "nodes": facts.kinds.get("Node", 0),
        "pods": facts.kinds.get("Pod", 0),
        "pending": facts.pending,
        "gated": facts.gated,
        "gpus": facts.gpus,
        "namespaces": len(facts.namespaces | facts.pods_in.keys()),
        "kinds": dict(sorted(facts.kinds.items())),
        "unused_kinds": dict(sorted(facts.unused.items())),
        "dropped_kinds": dict(sorted(cluster.dropped.items())),
        "removed": {what: cluster.removed[what] for what in REMOVED if cluster.removed[what]},
        "pods_by_namespace": [{"name": name, "pods": n} for name, n in sorted(facts.pods_in.items(), key=_most_first)],
        "empty_namespaces": len(facts.namespaces - facts.pods_in.keys()),
        "events": count_events(cluster.events, cluster.other_events),
        "made_pods": sum(bool(pod.maker) for pod in cluster.pods),
        "made_from": workloads_of(pod.maker for pod in cluster.pods),
    }


def _most_first(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def warnings_of(cluster: Cluster) -> list[Sentence]:
    """What the person who imports should know; none of it prevents the import."""
    found: list[Sentence] = []
    names = {node.name for node in cluster.facts.nodes}
    if not names:
        found.append(sentence("There is no node in this file, so every pod will stay pending."))
    lost = sum(number for node, number in cluster.facts.pods_on.items() if node not in names)
    if lost and names:
        found.append(
            counted_sentence(
                "{count} pod runs on a node that is not in this file; it counts nowhere.",
                "{count} pods run on nodes that are not in this file; they count nowhere.",
                lost,
            )
        )
    if unread := cluster.facts.unread_loads:
        found.append(
            sentence(
                "Nothing reads the load in LoadMetrics {names}: plugins ask for the one that is called {name}.",
                names=sorted(unread),
                name=LoadMetrics.NAME,
            )
        )
    return [*found, *cluster.warnings]


def notes_of(cluster: Cluster) -> list[Sentence]:
    """What was left out before anything was stored, and what became of the workloads."""
    kinds: list[Content] = [f"{n} {kind}" for kind, n in sorted(cluster.dropped.items())]
    if removed := [*kinds, *removed_words(cluster.removed)]:
        words = sentence("Not kept, because scheduling does not read it: {removed}.", removed=removed)
        return [words, *cluster.notes]
    return cluster.notes


@dataclass(frozen=True, slots=True)
class ImportFilter:
    """Which pods stay. Everything that is not a pod stays always."""

    exclude_namespaces: frozenset[str] = frozenset()
    labels: LabelMatcher | None = None

    @property
    def keeps_all(self) -> bool:
        return not self.exclude_namespaces and self.labels is None

    def keeps(self, namespace: str, labels: dict[str, str]) -> bool:
        if namespace in self.exclude_namespaces:
            return False
        return self.labels is None or self.labels.matches(labels)


def apply_filter(cluster: Cluster, chosen: ImportFilter) -> tuple[Cluster, int]:
    """(the cluster that is left, how many left-out pods stay as unnamed usage on their nodes)."""
    if chosen.keeps_all:
        return cluster, 0
    left = Cluster(specs=cluster.specs, dropped=cluster.dropped, other_events=cluster.other_events)
    left.removed, left.configuration = cluster.removed, cluster.configuration
    stays: dict[tuple[str, str], bool] = {}
    unnamed = 0
    pods = iter(cluster.pods)
    for text, each in zip(cluster.texts, cluster.objects(), strict=True):
        if not isinstance(each, Pod):
            left.put(each.kind, text, each)
            continue
        metadata, entry = each.metadata, next(pods)
        keeps = stays[metadata.namespace, metadata.name] = chosen.keeps(metadata.namespace, metadata.labels)
        if keeps:
            left.put("Pod", text, each, entry.maker)
        elif each.spec.node_name and not is_finished(each):
            unnamed += 1
            stub = _unnamed_usage(cluster.manifest(text), each, unnamed)
            left.put("Pod", json_text(stub), decode_manifest(stub))
    # Of a pod that the file does not have only its namespace is known.
    unknown = chosen.labels is None
    left.events = [
        each
        for each in cluster.events
        if stays.get((each.namespace, each.name), unknown and each.namespace not in chosen.exclude_namespaces)
    ]
    return left, unnamed


def _unnamed_usage(manifest: Manifest, pod: Pod, number: int) -> Manifest:
    """A pod without name and labels that takes what ``pod`` takes: requests, host ports, priority."""

    def bare(container: dict[str, Any], index: int) -> dict[str, Any]:
        kept: dict[str, Any] = {
            key: container[key] for key in ("resources", "ports", "restartPolicy") if key in container
        }
        return {"name": f"c{index}", "image": "", **kept}

    spec = manifest["spec"]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"usage-{number}",
            "namespace": LEFT_OUT_NAMESPACE,
            "uid": pod.metadata.uid,
            "creationTimestamp": pod.metadata.creation_timestamp,
        },
        "spec": {
            **{k: spec[k] for k in ("nodeName", "priority", "overhead", "resources", "hostNetwork") if k in spec},
            "containers": [bare(c, i) for i, c in enumerate(spec.get("containers") or [])],
            "initContainers": [bare(c, i) for i, c in enumerate(spec.get("initContainers") or [])],
        },
        "status": {"phase": pod.status.phase, "startTime": pod.status.start_time},
    }
