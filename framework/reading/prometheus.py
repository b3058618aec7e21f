"""Load from results of Prometheus (docs/semantics/catalogue.md#where-load-comes-from)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import msgspec

from framework.objects import Node
from framework.reading.load_series import CPU, LATEST, MEMORY, OPERATORS, LoadRefused, Series
from framework.sentences import Sentence, sentence

NODE_LABELS: Final = ("node", "instance", "nodename", "kubernetes_node", "exported_node", "host", "hostname")
"""Where a series says which node it is of; the first that names a node of the cluster counts."""
RATIO: Final = 1.0
MOST: Final = 200.0
"""Percent; what is above it is no share of a node."""


class _Series(msgspec.Struct):
    metric: dict[str, str] = {}
    value: tuple[float, str] | None = None
    values: list[tuple[float, str]] = []


class _Answer(msgspec.Struct, frozen=True):
    resultType: str = ""
    result: Any = ()


class _Envelope(msgspec.Struct):
    status: str
    data: _Answer = _Answer()
    error: str = ""
    errorType: str = ""


@dataclass(frozen=True, slots=True)
class _Found:
    node: str
    resource: str
    operator: str
    """"" of a series over time."""
    moments: Sequence[float]
    values: Sequence[float]
    is_ratio: bool
    """Its name says so."""


class Result(NamedTuple):
    series: list[Series]
    unknown: list[str]
    """What series name that is no node of the cluster."""
    notes: list[Sentence]


def is_result(document: Mapping[str, Any]) -> bool:
    return "status" in document and ("data" in document or "error" in document)


def read_result(
    document: Mapping[str, Any], nodes: Iterable[Node], *, resource: str = "", operator: str = ""
) -> Result:
    """``resource`` (CPU or Memory) and ``operator``: of a result that does not say so itself. Raises LoadRefused."""
    series = _series_of(document)
    names = _names(nodes)
    unknown: list[str] = []
    found: list[_Found] = []
    for each in series:
        node = next((names[name] for name in _called(each.metric) if name in names), None)
        if node is None:
            unknown.append(next(_called(each.metric), ""))
            continue
        one = _found(each, node, resource or _resource_of(each.metric), operator or _operator_of(each.metric))
        if one is not None:
            found.append(one)
    if not found:
        raise LoadRefused(_nobody(series, unknown, names))
    _refuse_twice(found)
    notes: list[Sentence] = []
    read = [_as_series(each, factor) for each, factor in _in_percent(found, notes)]
    return Result(read, sorted(set(filter(None, unknown))), notes)


def _series_of(document: Mapping[str, Any]) -> list[_Series]:
    try:
        envelope = msgspec.convert({**document, "data": {}} if document.get("data") is None else document, _Envelope)
        if envelope.status != "success":
            why = ": ".join(filter(None, (envelope.errorType, envelope.error))) or envelope.status
            raise LoadRefused(sentence("Prometheus answered with an error: {why}", why=why))
        kind = envelope.data.resultType
        if kind not in ("vector", "matrix"):
            raise LoadRefused(
                sentence(
                    "The result is a {kind}; load comes from a vector or a matrix, with a series per node.",
                    kind=kind or '""',
                )
            )
        return msgspec.convert(envelope.data.result, list[_Series])
    except msgspec.ValidationError as error:
        raise LoadRefused(sentence("This is no answer of Prometheus: {why}", why=str(error))) from None


def _names(nodes: Iterable[Node]) -> dict[str, str]:
    """Names and addresses of nodes → their names."""
    names: dict[str, str] = {}
    for node in nodes:
        for address in node.status.addresses:
            names.setdefault(address.address, node.metadata.name)
    return names | {node.metadata.name: node.metadata.name for node in nodes}


def _called(labels: Mapping[str, str]) -> Iterator[str]:
    """What a series calls its node, with and without a port."""
    for label in NODE_LABELS:
        if label in labels:
            yield labels[label]
            host, _, port = labels[label].rpartition(":")
            if host and port.isdecimal():
                yield host.strip("[]")


def _resource_of(labels: Mapping[str, str]) -> str:
    named = (labels.get("type") or labels.get("resource") or labels.get("__name__") or "").lower()
    if "cpu" in named:
        return CPU
    if "mem" in named:
        return MEMORY
    raise LoadRefused(
        sentence(
            "The result does not say whether it is of cpu or of memory. Say which: {cpu} or {memory}.",
            cpu=CPU,
            memory=MEMORY,
        )
    )


def _operator_of(labels: Mapping[str, str]) -> str:
    return OPERATORS.get(labels.get("operator", "").lower(), LATEST)


def _found(series: _Series, node: str, resource: str, operator: str) -> _Found | None:
    """None of a series without a number."""
    over_time = bool(series.values)
    samples = series.values if over_time else [series.value] if series.value is not None else []
    moments, values = array("d"), array("d")
    for moment, text in samples:
        if (number := _number(text)) is not None:
            moments.append(moment)
            values.append(number)
    if not values:
        return None
    is_ratio = "ratio" in series.metric.get("__name__", "")
    return _Found(node, resource, "" if over_time else operator, moments, values, is_ratio)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        raise LoadRefused(sentence("{text} is no number.", text=text)) from None
    return number if math.isfinite(number) else None


def _nobody(series: list[_Series], unknown: list[str], names: Mapping[str, str]) -> Sentence:
    if not series:
        return sentence("The result holds no series.")
    if not any(unknown):
        return sentence(
            "No series names its node. It is looked for in the labels {labels}; the query lost them, or "
            "holds no numbers.",
            labels=list(NODE_LABELS),
        )
    return sentence(
        "No series is of a node of this cluster: the result names {found}, the cluster has {nodes}.",
        found=sorted(set(filter(None, unknown)))[:3],
        nodes=sorted(set(names.values()))[:3],
    )


def _refuse_twice(found: Iterable[_Found]) -> None:
    seen: set[tuple[str, str, str]] = set()
    for each in found:
        key = each.node, each.resource, each.operator
        if key in seen:
            raise LoadRefused(
                sentence(
                    "Two series are of {resource} of node {node}. Add them up or average them in the query, by node.",
                    resource=each.resource,
                    node=each.node,
                )
            )
        seen.add(key)


def _in_percent(found: list[_Found], notes: list[Sentence]) -> Iterator[tuple[_Found, float]]:
    """Each with what its values are multiplied by. Shares of one are known by their name, or by none being larger."""
    for resource in dict.fromkeys(each.resource for each in found):
        ours = [each for each in found if each.resource == resource]
        largest = max(max(each.values) for each in ours)
        named = any(each.is_ratio for each in ours)
        factor = 100.0 if named or largest <= RATIO else 1.0
        if largest * factor > MOST or min(min(each.values) for each in ours) < 0:
            worst = max(ours, key=lambda each: max(max(each.values), -min(each.values)))
            raise LoadRefused(
                sentence(
                    "{value} of node {node} is no percentage of its {resource}. Divide by the node's capacity in the "
                    "query.",
                    value=max(worst.values, key=abs),
                    node=worst.node,
                    resource=resource,
                )
            )
        if factor != 1.0 and not named:
            notes.append(
                sentence(
                    "No value of {resource} is above 1: they are taken as shares and multiplied by 100.",
                    resource=resource,
                )
            )
        yield from ((each, factor) for each in ours)


def _as_series(found: _Found, factor: float) -> Series:
    return Series(found.node, found.resource, found.operator, found.moments, [each * factor for each in found.values])
