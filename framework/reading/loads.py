"""Load that is brought beside a cluster: a LoadMetrics, load-watcher's answer, results of Prometheus.

What each form says, and what is made of it: docs/semantics/catalogue.md#where-load-comes-from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from framework.objects import Node, ObjectMeta
from framework.objects.catalogue import LoadMetrics
from framework.objects.decode import decode_manifest, tree_complaint
from framework.objects.errors import ObjectError
from framework.parser_words import json_words
from framework.reading.documents import as_utf8, check_density, is_json, read_documents
from framework.reading.load_series import CPU, MEMORY, OPERATORS, LoadRefused, metrics_of, together
from framework.reading.prometheus import MOST, is_result, read_result
from framework.sentences import Sentence, counted_sentence, sentence, words_of

LIMIT: Final = 64 * 1024 * 1024
"""Bytes of one file."""
PROMETHEUS: Final = "Prometheus"
RESOURCES: Final = {"cpu": CPU, "memory": MEMORY}
NAMED: Final = 3
"""Nodes that a note names."""


@dataclass(slots=True)
class ReadLoad:
    metrics: LoadMetrics
    unknown: list[str] = field(default_factory=list)
    """What was measured that is no node of the cluster."""
    notes: list[Sentence] = field(default_factory=list)


def read_load(data: bytes, nodes: Sequence[Node], resource: str = "") -> ReadLoad:
    """``resource`` (CPU or Memory): of a result of Prometheus that does not say it. Raises LoadRefused, FileRefused."""
    if len(data) > LIMIT:
        raise LoadRefused(sentence("A file of load may have {most} MB.", most=LIMIT // 1024**2))
    if not is_json(data):
        return _of_objects(list(read_documents(data)), nodes)
    document = _parsed(data)
    if isinstance(document, Mapping):
        if "kind" in document:
            return _of_objects(list(read_documents(data)), nodes)
        measured = document.get("data")
        if isinstance(measured, Mapping) and "NodeMetricsMap" in measured:
            return _of_watcher(document, nodes)
        if is_result(document):
            return _of_results([(resource, "", document)], nodes)
        if parts := _parts(document):
            return _of_results(parts, nodes)
    raise LoadRefused(
        sentence(
            "This is no load. It is read from a LoadMetrics, from load-watcher's answer, from a result of Prometheus, "
            "or from several as {several}.",
            several='{"CPU": …, "Memory": …}',
        )
    )


def _parsed(data: bytes) -> Any:
    text = as_utf8(data)
    check_density(text)
    try:
        document = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise LoadRefused(sentence("This is not JSON: {why}.", why=json_words(str(error)))) from None
    except RecursionError:
        raise LoadRefused(sentence("This JSON is nested too deeply.")) from None
    if complaint := tree_complaint(document):
        raise LoadRefused(sentence("This is not JSON: {why}.", why=complaint))
    return document


def _of_objects(manifests: Sequence[Mapping[str, Any]], nodes: Sequence[Node]) -> ReadLoad:
    ours = [each for each in manifests if each.get("kind") == LoadMetrics.kind]
    if len(ours) != 1:
        raise LoadRefused(
            counted_sentence(
                "The file holds {count} LoadMetrics; exactly one is wanted.",
                "The file holds {count} LoadMetrics; exactly one is wanted.",
                len(ours),
            )
        )
    return _of_watcher(ours[0], nodes)


def _of_watcher(document: Mapping[str, Any], nodes: Sequence[Node]) -> ReadLoad:
    head = {"apiVersion": LoadMetrics.api_version, "kind": LoadMetrics.kind, "metadata": {"name": LoadMetrics.NAME}}
    try:
        metrics = decode_manifest({**document, **head})
    except ObjectError as error:
        raise LoadRefused(words_of(error)) from None
    assert isinstance(metrics, LoadMetrics)
    for name, load in metrics.data.node_metrics_map.items():
        for each in load.metrics:
            if each.type in (CPU, MEMORY) and not 0 <= each.value <= MOST:
                raise LoadRefused(
                    sentence(
                        "{value} of node {node} is no percentage of its {resource}.",
                        value=each.value,
                        node=name,
                        resource=each.type,
                    )
                )
    names = {node.metadata.name for node in nodes}
    unknown = sorted(set(metrics.data.node_metrics_map) - names)
    return ReadLoad(replace(metrics, metadata=ObjectMeta(name=LoadMetrics.NAME)), unknown)


def _parts(document: Mapping[str, Any]) -> list[tuple[str, str, Mapping[str, Any]]]:
    """(resource, operator, result) of ``{"CPU": result or {"AVG": result, …}, …}``; none of anything else."""
    parts: list[tuple[str, str, Mapping[str, Any]]] = []
    for key, value in document.items():
        resource = RESOURCES.get(key.lower())
        if resource is None or not isinstance(value, Mapping):
            return []
        if is_result(value):
            parts.append((resource, "", value))
            continue
        for name, result in value.items():
            operator = OPERATORS.get(name.lower())
            if operator is None or not isinstance(result, Mapping) or not is_result(result):
                return []
            parts.append((resource, operator, result))
    return parts


def _of_results(parts: Sequence[tuple[str, str, Mapping[str, Any]]], nodes: Sequence[Node]) -> ReadLoad:
    read: ReadLoad | None = None
    for resource, operator, document in parts:
        result = read_result(document, nodes, resource=resource, operator=operator)
        metrics = metrics_of(result.series, PROMETHEUS)
        if read is None:
            read = ReadLoad(metrics, result.unknown, result.notes)
        else:
            unknown = sorted({*read.unknown, *result.unknown})
            read = ReadLoad(together(read.metrics, metrics), unknown, [*read.notes, *result.notes])
    assert read is not None
    return read


def added(known: LoadMetrics | None, read: ReadLoad) -> ReadLoad:
    """With what was read before; what comes later counts."""
    return read if known is None else ReadLoad(together(known, read.metrics), read.unknown, read.notes)


def notes_about(read: ReadLoad, nodes: Sequence[Node]) -> list[Sentence]:
    """What whoever brought the load should know: of whom it says nothing, and what of it is used by nobody."""
    measured = {name for name, load in read.metrics.data.node_metrics_map.items() if load.metrics}
    without = sorted(node.metadata.name for node in nodes if node.metadata.name not in measured)
    notes = list(read.notes)
    if without:
        notes.append(
            counted_sentence(
                "{count} node has no load and gets 0 points from plugins that score by it: {names}.",
                "{count} nodes have no load and get 0 points from plugins that score by it: {names}.",
                len(without),
                names=_some(without),
            )
        )
    if read.unknown:
        notes.append(
            counted_sentence(
                "Load of {count} node that the cluster does not have: {names}.",
                "Load of {count} nodes that the cluster does not have: {names}.",
                len(read.unknown),
                names=_some(read.unknown),
            )
        )
    return notes


def _some(names: Sequence[str]) -> list[str]:
    return [*names[:NAMED], "…"] if len(names) > NAMED else list(names)
