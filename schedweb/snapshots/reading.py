"""Objects of a file become a cluster: redacted, checked, counted. Pure (reader process).

A file may be read in parts: what was read of the first takes over what was read of the next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec

from framework.objects import KubeObject, Pod
from framework.objects.decode import decode_object
from framework.objects.defaults import with_defaults
from framework.objects.pod_validation import pod_errors
from framework.objects.validation import replica_errors
from framework.reading.documents import Fields, FileRefused, Manifest, manifests_in
from framework.reading.gathering import (
    Gathered,
    Gathering,
    Problem,
    Twice,
    current,
    decoded,
    from_a_cluster,
    problem_of,
)
from framework.reading.key_like import KeyLikes, KeySearch
from framework.reading.redaction import DROPPED_KINDS, Removed, without_keys
from framework.reading.simulator_export import CONFIGURATION_KIND
from framework.reading.something_else import strange_object
from framework.reading.unknown_fields import Looking, reported, unknown_fields
from framework.sentences import sentence
from framework.workloads import is_workload
from schedweb.engine.payload import Text, Texts, encode_document, texts_of
from schedweb.engine.replicas import Found, Packed, Packer
from schedweb.snapshots.cluster import Cluster, PodEntry, json_text, stored_cluster
from schedweb.snapshots.facts import Facts
from schedweb.snapshots.redaction import annotations_kept, redact
from schedweb.snapshots.scheduler_events import EVENT, PodEvent, merged, read_event


class Part(msgspec.Struct):
    """What was read, as it goes from one process to another."""

    document: bytes
    """Of ``encode_document``."""
    pods: list[PodEntry]
    facts: Facts
    gathered: Gathered
    dropped: dict[str, int]
    removed: dict[str, int]
    keys: KeyLikes
    events: list[PodEvent]
    other_events: int
    configuration: dict[str, Any] | None


class Reading:
    """What is wrong with one object is a problem (``cluster().problems``), and the others are read all the same."""

    def __init__(self, *, in_order: bool = False) -> None:
        """``in_order``: objects come with their fields in an order of their own, and are kept by name, as kubectl
        writes them."""
        self._in_order = in_order
        self._packer = Packer(redact, annotations_kept(), _is_sound, in_order=in_order)
        self._cluster = Cluster(specs=self._packer.specs)
        self._gathering = Gathering()
        self._looking = Looking()
        self._sound: set[int] = set()
        """Specs without unknown fields (``Found.written``)."""
        self._events: list[PodEvent] = []
        self._keys = KeySearch()

    def add_items(self, items: Iterable[Fields]) -> None:
        """Of ``read_items``."""
        for item in items:
            self._add_item(item)

    def _add_item(self, item: Fields) -> None:
        found = self._packer.pack(item)
        if found is not None:
            pod = found.pod
            if pod.metadata.namespace and not replica_errors(pod):
                known = found.written in self._sound and pod.metadata.uid
                if self._take("Pod", "", found.packed, pod):
                    self._cluster.removed.update(found.removed)
                    if not known:
                        self._look_at_packed(found, item)
                return
        try:
            for manifest in manifests_in(item):
                self.add(manifest, from_json=True)
        except FileRefused as error:
            self._gathering.gathered.problems.append(Problem(words=error.words))

    def add(self, manifest: Manifest, *, from_json: bool = False) -> None:
        """``from_json``: it was parsed from JSON, so going back through it changes nothing, and is faster than
        converting it."""
        try:
            self._add(manifest, from_json)
        except FileRefused as error:
            self._gathering.gathered.problems.append(problem_of(manifest, error.words))

    def _add(self, manifest: Manifest, from_json: bool) -> None:
        cluster = self._cluster
        kind = manifest.get("kind")
        if isinstance(kind, str) and kind in DROPPED_KINDS:
            cluster.dropped[kind] += 1
            return
        if kind == EVENT:
            if (event := read_event(manifest)) is None:
                cluster.other_events += 1
            else:
                self._events.append(event)
            return
        if kind == CONFIGURATION_KIND and not strange_object(manifest):
            self._take_configuration(without_keys(manifest))
            return
        manifest = current(manifest)
        removed: Removed = Counter()
        kept = redact(manifest, removed)
        text = json_text(kept, in_order=self._in_order)
        group = str(kept["apiVersion"]).rpartition("/")[0]
        if from_json and not is_workload(manifest):
            kept = {}  # its text tells all of it, and takes a tenth of the memory
        obj = decoded(manifest, kept, text if from_json else None)
        number = len(cluster.texts)
        if self._take(str(kind), group, text, obj):
            cluster.removed.update(removed)
            self._gathering.look_at(number, manifest, obj, kept)

    def _look_at_packed(self, packed: Found, item: Fields) -> None:
        unknown = self._looking.at_spec(packed.written, lambda: msgspec.json.decode(item["spec"]))
        if not unknown:
            self._sound.add(packed.written)
        if not (exported := from_a_cluster(packed.pod)):
            metadata = msgspec.json.decode(item["metadata"])
            unknown = unknown_fields({"apiVersion": "v1", "kind": Pod.kind, "metadata": metadata}) + unknown
        self._gathering.sight(packed.pod, reported(unknown, exported=exported))

    def _take(self, kind: str, group: str, text: Text, obj: KubeObject) -> bool:
        cluster = self._cluster
        if not self._gathering.keep(len(cluster.texts), group, obj):
            return False
        cluster.put(kind, text, obj)
        self._keys.look(kind, obj.metadata)
        return True

    def _take_configuration(self, manifest: Manifest) -> None:
        if self._cluster.configuration is not None:
            raise FileRefused(sentence("There are two {kind} objects.", kind=CONFIGURATION_KIND))
        self._cluster.configuration = manifest

    def cluster(self) -> Cluster:
        """When everything was added: also what the controllers of a cluster would have made of it."""
        cluster, texts = self._cluster, Texts(self._cluster.texts, self._cluster.specs)
        finished = self._gathering.finish(texts.object_of, texts.manifest_of)
        for number, manifest in finished.changed.items():
            cluster.texts[number] = json_text(manifest)
        if finished.refused:
            cluster = self._without(finished.refused)
        for manifest, maker in finished.added:
            text = json_text(manifest)
            cluster.put(str(manifest["kind"]), text, decode_object(text), maker)
        cluster.notes = finished.notes
        cluster.problems = self._gathering.gathered.problems
        cluster.warnings = [*self._keys.likes.sentences(), *finished.warnings]
        kept = [each.event for each in self._events if each.is_schedulers(cluster.facts.schedulers)]
        cluster.other_events += len(self._events) - len(kept)
        cluster.events = merged(kept)
        return cluster

    def _without(self, refused: set[int]) -> Cluster:
        """What was kept is counted anew."""
        before = self._cluster
        texts = [text for number, text in enumerate(before.texts) if number not in refused]
        cluster = stored_cluster(Texts(texts, before.specs))
        cluster.dropped, cluster.removed = before.dropped, before.removed
        cluster.other_events = before.other_events
        cluster.configuration = before.configuration
        return cluster

    # --- parts ------------------------------------------------------------------------------------------------------

    def part(self) -> bytes:
        """For ``add_part`` of another process."""
        cluster = self._cluster
        return msgspec.msgpack.encode(
            Part(
                document=encode_document(cluster.texts, specs=cluster.specs),
                pods=cluster.pods,
                facts=cluster.facts,
                gathered=self._gathering.part(),
                dropped=dict(cluster.dropped),
                removed=dict(cluster.removed),
                keys=self._keys.likes,
                events=self._events,
                other_events=cluster.other_events,
                configuration=cluster.configuration,
            )
        )

    def add_part(self, encoded: bytes) -> None:
        """What follows on what was read here. Leads to the same cluster, to the byte, as if it had been read here.

        Raises Twice, after which this reading is of no use: the file has to be read by one process.
        """
        cluster, part = self._cluster, msgspec.msgpack.decode(encoded, type=Part)
        if part.configuration is not None:
            if cluster.configuration is not None:
                raise Twice
            cluster.configuration = part.configuration
        self._gathering.add_part(part.gathered)
        texts = texts_of(part.document)
        numbers = [self._packer.number(spec) for spec in texts.specs]
        cluster.texts += [
            Packed(numbers[text.spec], text.node, text.token, text.metadata, text.status)
            if isinstance(text, Packed)
            else text
            for text in texts.objects
        ]
        cluster.pods += part.pods
        cluster.facts.add(part.facts)
        cluster.dropped.update(part.dropped)
        cluster.removed.update(part.removed)
        self._keys.likes.add(part.keys)
        cluster.other_events += part.other_events
        self._events += part.events


def _is_sound(pod: Pod) -> bool:
    return not any(pod_errors(with_defaults(pod), comparisons=True))


def read_cluster(manifests: Iterable[Manifest], *, from_json: bool = False) -> Cluster:
    """``from_json``: as for ``Reading.add``."""
    reading = Reading()
    for manifest in manifests:
        reading.add(manifest, from_json=from_json)
    return reading.cluster()
