"""Objects of a file become a cluster: redacted, checked, counted. Pure (reader process).

A file may be read in parts: what was read of the first takes over what was read of the next.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from framework.objects import KubeObject
from framework.objects.decode import decode_manifest, decode_object
from framework.objects.errors import ObjectError
from framework.objects.pod_validation import pod_errors
from framework.objects.validation import check_object, replica_errors
from framework.said import Said, said, words_of
from schedweb.engine.payload import Text, encode_document, texts_of
from schedweb.engine.replicas import Fields, Packed, Packer
from schedweb.snapshots.cluster import Cluster, PodEntry, json_text
from schedweb.snapshots.facts import Facts
from schedweb.snapshots.manifests import FileRefused, Manifest, manifests_in
from schedweb.snapshots.redaction import DROPPED_KINDS, redact
from schedweb.snapshots.scheduler_events import PodEvent, merged, read_event
from schedweb.snapshots.simulator_export import CONFIGURATION_KIND

Identity = tuple[str, str, str, str]
"""(group, kind, namespace, name)."""


class Part(msgspec.Struct):
    """What was read, as it goes from one process to another."""

    document: bytes
    """Of ``encode_document``."""
    pods: list[PodEntry]
    facts: Facts
    identities: list[Identity]
    dropped: dict[str, int]
    events: list[PodEvent]
    other_events: int
    configuration: dict[str, Any] | None


def no_object(manifest: Manifest, field: str) -> Said:
    """The answer of another program, or a part of an object: it is told apart by its first keys."""
    keys = [str(key)[:40] for key in list(manifest)[:4]]
    return said(
        "{what} is no Kubernetes object: it has no {field}. Take what kubectl get -o json or -o yaml writes.",
        what=f"{{{', '.join(keys)}{', …' if len(manifest) > len(keys) else ''}}}",
        field=field,
    )


class Reading:
    """Everything raises FileRefused with the object and the field when anything is wrong: nothing is half imported."""

    def __init__(self) -> None:
        self._packer = Packer(redact, lambda pod: not any(pod_errors(pod)))
        self._cluster = Cluster(specs=self._packer.specs)
        self._identities: dict[Identity, None] = {}
        self._events: list[PodEvent] = []

    def add_items(self, items: Iterable[Fields]) -> None:
        """Of ``read_items``."""
        for item in items:
            self._add_item(item)

    def _add_item(self, item: Fields) -> None:
        packed = self._packer.pack(item)
        if packed is not None and not replica_errors(packed[1]):
            self._take("Pod", "", *packed)
            return
        for manifest in manifests_in(item):
            self.add(manifest, from_json=True)

    def add(self, manifest: Manifest, *, from_json: bool = False) -> None:
        """``from_json``: it was parsed from JSON, so going back through it changes nothing, and is faster than
        converting it."""
        cluster = self._cluster
        kind = manifest.get("kind")
        if not isinstance(kind, str) or not kind:
            raise FileRefused(no_object(manifest, "kind"))
        if kind in DROPPED_KINDS:
            cluster.dropped[kind] += 1
            return
        if kind == "Event":
            if (event := read_event(manifest)) is None:
                cluster.other_events += 1
            else:
                self._events.append(event)
            return
        redact(manifest)
        if kind == CONFIGURATION_KIND:
            self._take_configuration(manifest)
            return
        if not manifest.get("apiVersion"):
            raise FileRefused(no_object(manifest, "apiVersion"))
        text = json_text(manifest)
        try:
            decoded = decode_object(text) if from_json else decode_manifest(manifest)
            check_object(decoded)
        except ObjectError as error:
            raise FileRefused(words_of(error)) from None
        self._take(str(kind), str(manifest["apiVersion"]).rpartition("/")[0], text, decoded)

    def _take(self, kind: str, group: str, text: Text, decoded: KubeObject) -> None:
        self._is_new((group, kind, decoded.metadata.namespace, decoded.metadata.name))
        self._cluster.put(kind, text, decoded)

    def _is_new(self, identity: Identity) -> None:
        if identity in self._identities:
            _, kind, namespace, name = identity
            key = f"{namespace}/{name}" if namespace else name
            raise FileRefused(said("{kind} {name} is there twice.", kind=kind, name=key))
        self._identities[identity] = None

    def _take_configuration(self, manifest: Manifest) -> None:
        if self._cluster.configuration is not None:
            raise FileRefused(said("There are two {kind} objects.", kind=CONFIGURATION_KIND))
        self._cluster.configuration = manifest

    def cluster(self) -> Cluster:
        """When everything was added."""
        cluster = self._cluster
        kept = [each.event for each in self._events if each.is_schedulers(cluster.facts.schedulers)]
        cluster.other_events += len(self._events) - len(kept)
        cluster.events = merged(kept)
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
                identities=list(self._identities),
                dropped=dict(cluster.dropped),
                events=self._events,
                other_events=cluster.other_events,
                configuration=cluster.configuration,
            )
        )

    def add_part(self, encoded: bytes) -> None:
        """What follows on what was read here. Leads to the same cluster, to the byte, as if it had been read here."""
        cluster, part = self._cluster, msgspec.msgpack.decode(encoded, type=Part)
        for identity in part.identities:
            self._is_new(identity)
        if part.configuration is not None:
            self._take_configuration(part.configuration)
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
        cluster.other_events += part.other_events
        self._events += part.events


def read_cluster(manifests: Iterable[Manifest], *, from_json: bool = False) -> Cluster:
    """``from_json``: as for ``Reading.add``. Raises FileRefused."""
    reading = Reading()
    for manifest in manifests:
        reading.add(manifest, from_json=from_json)
    return reading.cluster()
