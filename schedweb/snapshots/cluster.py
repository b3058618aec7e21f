"""A cluster in manifests: checked, counted, filtered. Pure; the reader's child process and the samples use it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import msgspec

from framework.objects import KubeObject, Node, Pod, Unstructured
from framework.objects.decode import decode_manifest, decode_object
from framework.objects.errors import ObjectError
from framework.objects.pod_validation import pod_errors
from framework.objects.resources import node_allocatable, placed_figures
from framework.objects.selectors import LabelMatcher
from framework.objects.timestamps import TimestampError, parse_timestamp
from framework.objects.validation import check_object, replica_errors
from schedweb.engine.payload import Text, Texts, encode_payload
from schedweb.engine.replicas import Packer
from schedweb.snapshots.manifests import FileRefused, Manifest, manifests_in
from schedweb.snapshots.redaction import DROPPED_KINDS, redact
from schedweb.snapshots.scheduler_events import PodEvent, SchedulerEvent, count_events, merged, read_event
from schedweb.snapshots.simulator_export import CONFIGURATION_KIND

ZONE_LABELS: Final = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
LEFT_OUT_NAMESPACE: Final = "left-out"
_JSON: Final = msgspec.json.Encoder()
MOST_BARS: Final = 320
"""More nodes than this are drawn as an even sample."""


@dataclass(slots=True)
class Member:
    """One object of the cluster: as it came (redacted) and as the framework reads it."""

    kind: str
    text: Text
    decoded: KubeObject


def member(manifest: Manifest, decoded: KubeObject) -> Member:
    return Member(str(manifest["kind"]), msgspec.Raw(_JSON.encode(manifest)), decoded)


@dataclass(slots=True)
class Cluster:
    members: list[Member] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    """Kind → how many were not kept at all."""
    events: list[SchedulerEvent] = field(default_factory=list)
    """What schedulers said of pods."""
    other_events: int = 0
    """Events that no scheduler said; they are not kept."""
    configuration: Manifest | None = None
    """The scheduler's, if the file has one."""
    specs: list[bytes] = field(default_factory=list)
    """Of the pods that are packed."""

    def pods(self) -> Iterable[Pod]:
        return (m.decoded for m in self.members if isinstance(m.decoded, Pod))

    def nodes(self) -> Iterable[Node]:
        return (m.decoded for m in self.members if isinstance(m.decoded, Node))

    def manifest(self, one: Member) -> Manifest:
        """Parsed anew: a hundred thousand of them would fill the memory."""
        return Texts([], self.specs).manifest(one.text)

    def payload(self) -> bytes:
        return encode_payload((each.text for each in self.members), specs=self.specs)


def read_cluster(items: Iterable[Manifest | msgspec.Raw], *, from_json: bool = False) -> Cluster:
    """Raises FileRefused with the object and the field when anything is wrong: nothing is half imported.

    ``items``: of ``read_items``. ``from_json``: the manifests were parsed from JSON, so going back through it changes
    nothing, and is faster than converting them.
    """
    packer = Packer(redact, lambda pod: not any(pod_errors(pod)))
    cluster = Cluster(specs=packer.specs)
    events: list[PodEvent] = []
    seen: set[tuple[str, str, str, str]] = set()

    def take(kind: str, group: str, text: Text, decoded: KubeObject) -> None:
        identity = (group, kind, decoded.metadata.namespace, decoded.metadata.name)
        if identity in seen:
            raise FileRefused(f"{kind} {decoded.key} is there twice.")
        seen.add(identity)
        cluster.members.append(Member(kind, text, decoded))

    for item in items:
        packed = packer.pack(item) if isinstance(item, msgspec.Raw) else None
        if packed is not None and not replica_errors(packed[1]):
            take("Pod", "", *packed)
            continue
        for manifest in manifests_in(item):
            if manifest.get("kind") in DROPPED_KINDS:
                cluster.dropped[manifest["kind"]] += 1
                continue
            if manifest.get("kind") == "Event":
                if (event := read_event(manifest)) is None:
                    cluster.other_events += 1
                else:
                    events.append(event)
                continue
            redact(manifest)
            if manifest.get("kind") == CONFIGURATION_KIND:
                if cluster.configuration is not None:
                    raise FileRefused(f"There are two {CONFIGURATION_KIND} objects.")
                cluster.configuration = manifest
                continue
            text = msgspec.Raw(_JSON.encode(manifest))
            try:
                decoded = decode_object(text) if from_json else decode_manifest(manifest)
                check_object(decoded)
            except ObjectError as error:
                raise FileRefused(str(error)) from None
            take(str(manifest["kind"]), str(manifest["apiVersion"]).rpartition("/")[0], text, decoded)
    schedulers = {pod.spec.scheduler_name for pod in cluster.pods()} - {""}
    said = [each.event for each in events if each.is_schedulers(schedulers)]
    cluster.other_events += len(events) - len(said)
    cluster.events = merged(said)
    return cluster


def stored_cluster(texts: Texts, objects: Iterable[KubeObject], events: Sequence[SchedulerEvent] = ()) -> Cluster:
    """Of objects and events that ``read_cluster`` took in before."""
    members = [Member(decoded.kind, text, decoded) for text, decoded in zip(texts.objects, objects, strict=True)]
    return Cluster(members, specs=texts.specs, events=list(events))


def is_finished(pod: Pod) -> bool:
    """Such a pod holds nothing: the scheduler does not see it (spec: extender-and-misc §6)."""
    return pod.status.phase in ("Succeeded", "Failed")


def is_pending(pod: Pod) -> bool:
    return not pod.spec.node_name and not is_finished(pod)


def count_cluster(cluster: Cluster) -> dict[str, Any]:
    """The numbers of the preview and of the snapshot's card."""
    kinds: Counter[str] = Counter(m.kind for m in cluster.members)
    unused = Counter(m.kind for m in cluster.members if isinstance(m.decoded, Unstructured))
    in_namespace: Counter[str] = Counter()
    pending = gated = 0
    for pod in cluster.pods():
        in_namespace[pod.metadata.namespace] += 1
        if is_pending(pod):
            gated += bool(pod.spec.scheduling_gates)
            pending += not pod.spec.scheduling_gates
    named = {m.decoded.metadata.name for m in cluster.members if m.kind == "Namespace"}
    return {
        "nodes": kinds["Node"],
        "pods": kinds["Pod"],
        "pending": pending,
        "gated": gated,
        "gpus": sum(gpus_of(node) for node in cluster.nodes()),
        "namespaces": len(named | set(in_namespace)),
        "kinds": dict(sorted(kinds.items())),
        "unused_kinds": dict(sorted(unused.items())),
        "dropped_kinds": dict(sorted(cluster.dropped.items())),
        "pods_by_namespace": [{"name": name, "pods": n} for name, n in sorted(in_namespace.items(), key=_most_first)],
        "empty_namespaces": len(named - set(in_namespace)),
        "events": count_events(cluster.events, cluster.other_events),
    }


def gpus_of(node: Node) -> int:
    """Whole GPUs of any vendor: ``nvidia.com/gpu``, ``amd.com/gpu``, …"""
    return sum(amount for name, amount in node_allocatable(node).items() if name.endswith("/gpu"))


def _most_first(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def warnings_of(cluster: Cluster) -> list[str]:
    """What the person who imports should know; none of it prevents the import."""
    found: list[str] = []
    names = {node.metadata.name for node in cluster.nodes()}
    if not names:
        found.append("There is no node in this file, so every pod will stay pending.")
    lost = sum(1 for pod in cluster.pods() if pod.spec.node_name and pod.spec.node_name not in names)
    if lost and names:
        found.append(f"{lost} pods run on nodes that are not in this file; they count nowhere.")
    if cluster.dropped:
        kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(cluster.dropped.items()))
        found.append(f"Not kept: {kinds}. Values of environment variables are redacted.")
    return found


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
    kept: list[Member] = []
    unnamed = 0
    for each in cluster.members:
        pod = each.decoded
        if not isinstance(pod, Pod) or chosen.keeps(pod.metadata.namespace, dict(pod.metadata.labels)):
            kept.append(each)
        elif pod.spec.node_name and not is_finished(pod):
            unnamed += 1
            kept.append(_unnamed_usage(cluster.manifest(each), pod, unnamed))
    left = replace(cluster, members=kept, events=_events_left(cluster, chosen))
    return left, unnamed


def _events_left(cluster: Cluster, chosen: ImportFilter) -> list[SchedulerEvent]:
    """Of pods that stay. Of a pod that the file does not have only its namespace is known."""
    stays = {
        (pod.metadata.namespace, pod.metadata.name): chosen.keeps(pod.metadata.namespace, pod.metadata.labels)
        for pod in cluster.pods()
    }
    unknown = chosen.labels is None
    return [
        each
        for each in cluster.events
        if stays.get((each.namespace, each.name), unknown and each.namespace not in chosen.exclude_namespaces)
    ]


def _unnamed_usage(manifest: Manifest, pod: Pod, number: int) -> Member:
    """A pod without name and labels that takes what ``pod`` takes: requests, host ports, priority."""

    def bare(container: dict[str, Any], index: int) -> dict[str, Any]:
        kept: dict[str, Any] = {
            key: container[key] for key in ("resources", "ports", "restartPolicy") if key in container
        }
        return {"name": f"c{index}", "image": "", **kept}

    spec = manifest["spec"]
    stub: Manifest = {
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
    return member(stub, decode_manifest(stub))


def utilisation_bars(nodes: Iterable[Node], pods: Iterable[Pod]) -> list[dict[str, Any]]:
    """Per zone the share of allocatable cpu that is requested, node by node: ``[{zone, values: [0..1]}]``."""
    used: Counter[str] = Counter()
    for pod in pods:
        if pod.spec.node_name and not is_finished(pod):
            used[pod.spec.node_name] += placed_figures(pod)[0].get("cpu", 0)
    by_zone: dict[str, list[float]] = {}
    every = list(nodes)
    step = max(1, -(-len(every) // MOST_BARS))
    for node in every[::step]:
        zone = next((node.metadata.labels[key] for key in ZONE_LABELS if key in node.metadata.labels), "")
        cpu = node_allocatable(node).get("cpu", 0)
        share = used[node.metadata.name] / cpu if cpu > 0 else 0.0
        by_zone.setdefault(zone, []).append(round(min(max(share, 0.0), 1.0), 3))
    return [{"zone": zone, "values": by_zone[zone]} for zone in sorted(by_zone)]


def taken_at(objects: Sequence[KubeObject]) -> int:
    """The cluster's own time in nanoseconds: the latest moment that its objects mention; 0 when they mention none."""
    moments: set[str | None] = set()
    for each in objects:
        moments.add(each.metadata.creation_timestamp)
        if isinstance(each, Pod):
            moments.add(each.status.start_time)
        if isinstance(each, Pod | Node):
            moments.update([c.last_transition_time for c in each.status.conditions])
    latest = 0
    for moment in moments:
        if moment:
            try:
                latest = max(latest, parse_timestamp(moment))
            except TimestampError:
                continue  # validation of the object has its own opinion; a clock needs only a moment
    return latest
