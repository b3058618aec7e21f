"""Nodes and placed pods of a run, read only as far as a sentence asks: what stands where, and who stands in the way.

As the run has them now, which is what kube-scheduler saw unless something changed since the attempt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from framework.objects import Node, Pod
from framework.objects.decode import decode_manifest
from framework.objects.defaults import with_defaults
from schedweb.runs.models import NodeRecord, PodRecord, Run
from schedweb.runs.models.packed import text_of
from schedweb.runs.records.manifests import manifest_of


@dataclass
class StandingPod:
    namespace: str
    name: str
    labels: Mapping[str, str]
    node: str
    """"" while it has none."""
    stored: bytes
    """Its manifest, compressed: read only of those that a sentence may name."""

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    @cached_property
    def pod(self) -> Pod:
        return read_pod(manifest_of(self.stored))

    @property
    def names_anti_affinity(self) -> bool:
        """False is certain. Most pods have none, and to read a manifest costs more than to look for a word in it."""
        return b"podAntiAffinity" in text_of(self.stored)


class Standing(Protocol):
    """A run's nodes and pods, or lists in a test."""

    @property
    def nodes(self) -> Mapping[str, Node]: ...

    @property
    def pods(self) -> list[StandingPod]:
        """Those that hold a place or look for one."""
        ...


class StandingOf:
    """Of a run, as it is or as it was (``run.moment``)."""

    def __init__(self, run: Run) -> None:
        self.run = run

    @cached_property
    def nodes(self) -> Mapping[str, Node]:
        moment = self.run.moment
        rows = NodeRecord.objects.filter(run=self.run, present=True) if moment is None else moment.nodes
        stored = [(row.name, row.manifest) for row in rows if row.present and row.manifest is not None]
        return {name: read_node(manifest_of(blob)) for name, blob in stored}

    @cached_property
    def pods(self) -> list[StandingPod]:
        fields = ("namespace", "name", "labels", "node", "manifest")
        if self.run.moment is not None:
            records = [each for each in self.run.moment.pods if each.column not in PodRecord.GONE]
            rows = [tuple(getattr(each, field) for field in fields) for each in records]
        else:
            present = PodRecord.objects.filter(run=self.run).exclude(column__in=PodRecord.GONE)
            rows = list(present.order_by("namespace", "name").values_list(*fields))
        return [StandingPod(*row) for row in rows]


def read_pod(manifest: Mapping[str, object]) -> Pod:
    """Of a stored manifest, which was read once already."""
    pod = with_defaults(decode_manifest({"apiVersion": "v1", "kind": "Pod", **manifest}))
    assert isinstance(pod, Pod)
    return pod


def read_node(manifest: Mapping[str, object]) -> Node:
    node = with_defaults(decode_manifest({"apiVersion": "v1", "kind": "Node", **manifest}))
    assert isinstance(node, Node)
    return node
