"""A cluster trace in the form of Alibaba's openb (cluster-trace-gpu-v2023): two CSV files → nodes and a timeline.

GPU shares are one extended resource in thousandths of a GPU per node. Times are seconds from the trace's start.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from framework.objects.timestamps import SECOND
from framework.reading.documents import Manifest
from schedweb.engine.payload import TimelineEntry

GPU_SHARES: Final = "alibabacloud.com/gpu-milli"
NAMESPACE: Final = "trace"
PODS_PER_NODE: Final = "110"
LARGEST: Final = 10**9
"""Seconds (more than a life), mebibytes, thousandths."""
MOST_BYTES: Final = 32 * 1024 * 1024
"""Of a file; those of openb have less than a thirtieth of it."""
MOST_ROWS: Final = 100_000
"""Of a file. What is made of a row takes up to 3 KiB until the snapshot is stored."""
MOST_COLUMNS: Final = 100
LONGEST_LINE: Final = 64 * 1024
"""Characters."""
NODES_HEADER: Final = ("sn", "cpu_milli", "memory_mib", "gpu", "model")
PODS_HEADER: Final = (
    *("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "qos"),
    *("creation_time", "deletion_time"),
)


class TraceError(Exception):
    """The files are no such trace; the text names file and line."""


@dataclass(frozen=True, slots=True)
class Trace:
    nodes: list[Manifest]
    timeline: list[TimelineEntry]


def read_trace(nodes: Path, pods: Path, *, departures: bool) -> Trace:
    """Raises TraceError, OSError."""
    node_manifests = [_node(row) for row in _rows(nodes, NODES_HEADER)]
    entries: list[tuple[int, int, TimelineEntry]] = []
    for number, row in enumerate(_rows(pods, PODS_HEADER)):
        manifest = _pod(row)
        created = row.integer("creation_time")
        entries.append((created, number, TimelineEntry(at=created * SECOND, manifest=manifest)))
        if departures and row["deletion_time"]:
            gone = row.integer("deletion_time")
            if gone < created:
                raise row.error(f"deletion_time {gone} is before creation_time {created}")
            entries.append((gone, number, TimelineEntry(at=gone * SECOND, delete=True, manifest=_named(manifest))))
    # At one instant what leaves goes first, so that what comes may take its place.
    entries.sort(key=lambda entry: (entry[0], not entry[2].delete, entry[1]))
    _same_pod_must_come_before_it_goes(entries)
    return Trace(node_manifests, [entry for _, _, entry in entries])


def _same_pod_must_come_before_it_goes(entries: list[tuple[int, int, TimelineEntry]]) -> None:
    """A pod that comes and goes within one second has both at one instant: it comes first."""
    place: dict[int, int] = {}
    for i, (_, number, entry) in enumerate(entries):
        if entry.delete and number not in place:
            place[number] = i
        elif not entry.delete and number in place:
            j = place[number]
            entries[i], entries[j] = entries[j], entries[i]


class _Row:
    def __init__(self, path: Path, line: int, values: dict[str, str]) -> None:
        self._path, self._line, self._values = path, line, values

    def __getitem__(self, column: str) -> str:
        return self._values[column]

    def get(self, column: str) -> str:
        return self._values.get(column) or ""

    def integer(self, column: str) -> int:
        text = self._values[column]
        try:
            value = int(float(text))
        except (ValueError, OverflowError):
            raise self.error(f"{column} must be a number, not {text[:40]!r}") from None
        if value < 0:
            raise self.error(f"{column} is negative: {text[:40]}")
        if value > LARGEST:
            raise self.error(f"{column} is larger than {LARGEST:,}: {text[:40]}")
        return value

    def error(self, text: str) -> TraceError:
        return TraceError(f"{self._path.name}, line {self._line}: {text}")


def _rows(path: Path, columns: tuple[str, ...]) -> Iterator[_Row]:
    try:
        yield from _read_rows(path, columns)
    except UnicodeDecodeError:
        raise TraceError(f"{path.name} is not UTF-8 text") from None
    except csv.Error as error:
        raise TraceError(f"{path.name} is no CSV file: {error}") from None


def _read_rows(path: Path, columns: tuple[str, ...]) -> Iterator[_Row]:
    if path.stat().st_size > MOST_BYTES:
        raise TraceError(f"{path.name} is larger than {MOST_BYTES // 1024**2} MiB, the most that a trace may have")
    header: list[str] | None = None
    rows = 0
    for number, fields in _lines(path):
        if header is None:
            header = fields
            if len(header) > MOST_COLUMNS:
                raise TraceError(f"{path.name} has {len(header):,} columns; {MOST_COLUMNS} are the most")
            if missing := [name for name in columns if name not in header]:
                raise TraceError(f"{path.name} has no column {', '.join(missing)}")
            continue
        if len(fields) != len(header):
            raise TraceError(f"{path.name}, line {number}: not as many fields as the header has")
        rows += 1
        if rows > MOST_ROWS:
            raise TraceError(f"{path.name} has more than {MOST_ROWS:,} rows, the most that a trace may have")
        yield _Row(path, number, dict(zip(header, fields, strict=True)))
    if header is None:
        raise TraceError(f"{path.name} has no column {', '.join(columns)}")


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """(line, its fields), without empty lines. Each line is a row: one that went on over others could be as long as the
    file."""
    number = 0
    with path.open(newline="", encoding="utf-8") as file:
        while line := file.readline(LONGEST_LINE + 1):
            number += 1
            if len(line) > LONGEST_LINE:
                raise TraceError(f"{path.name}, line {number} has more than {LONGEST_LINE:,} characters")
            if fields := next(csv.reader([line])):
                yield number, fields


def _node(row: _Row) -> Manifest:
    capacity = {
        "cpu": f"{row.integer('cpu_milli')}m",
        "memory": f"{row.integer('memory_mib')}Mi",
        "pods": PODS_PER_NODE,
    }
    if gpus := row.integer("gpu"):
        capacity[GPU_SHARES] = str(gpus * 1000)
    labels = {"kubernetes.io/hostname": row["sn"]}
    if row["model"]:
        labels["gpu-model"] = row["model"]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": row["sn"], "uid": f"node-{row['sn']}", "labels": labels},
        "status": {"capacity": capacity, "allocatable": capacity},
    }


def _pod(row: _Row) -> Manifest:
    requests = {"cpu": f"{row.integer('cpu_milli')}m", "memory": f"{row.integer('memory_mib')}Mi"}
    resources = {"requests": requests}
    if shares := row.integer("num_gpu") * row.integer("gpu_milli"):
        # Extended resources cannot be overcommitted: the API server wants the limit, too.
        requests[GPU_SHARES] = str(shares)
        resources["limits"] = {GPU_SHARES: str(shares)}
    labels = {"qos": row["qos"]} if row["qos"] else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": row["name"], "namespace": NAMESPACE, "uid": f"pod-{row['name']}", "labels": labels},
        "spec": {"containers": [{"name": "main", "image": "trace", "resources": resources}]},
    }


def _named(manifest: Manifest) -> Manifest:
    """Enough of an object to delete it."""
    metadata = {key: manifest["metadata"][key] for key in ("name", "namespace", "uid")}
    return {"apiVersion": manifest["apiVersion"], "kind": manifest["kind"], "metadata": metadata}
