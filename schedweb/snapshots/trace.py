"""A cluster trace in the form of Alibaba's openb (cluster-trace-gpu-v2023): two CSV files → nodes and a timeline.

GPU shares are one extended resource in thousandths of a GPU per node. Times are seconds from the trace's start.

Rows are kept as columns; objects are made of them one by one, when somebody asks for them.
"""

from __future__ import annotations

import csv
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Generic, TypeVar, overload

import numpy as np

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
"""Of a file."""
MOST_COLUMNS: Final = 100
LONGEST_LINE: Final = 64 * 1024
"""Characters."""
_STAYS: Final = -1
"""No moment."""
NODES_HEADER: Final = ("sn", "cpu_milli", "memory_mib", "gpu", "model")
PODS_HEADER: Final = (
    *("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "qos"),
    *("creation_time", "deletion_time"),
)


class TraceError(Exception):
    """The files are no such trace; the text names file and line."""


T = TypeVar("T")


class Made(Sequence[T], Generic[T]):
    """Things that are made anew each time they are asked for: none is in memory but those that are looked at."""

    def __init__(self, count: int, make: Callable[[int], T]) -> None:
        """``make``: the one of this number, from zero."""
        self._numbers, self._make = range(count), make

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        found = self._numbers[index]
        return self._make(found) if isinstance(found, int) else [self._make(number) for number in found]


@dataclass(frozen=True, slots=True)
class Trace:
    nodes: Made[Manifest]
    timeline: Made[TimelineEntry]
    """In the order in which it is to be played."""


def read_trace(nodes: Path, pods: Path, *, departures: bool) -> Trace:
    """Raises TraceError, OSError."""
    machines, tasks = _Nodes(), _Pods()
    for row in _rows(nodes, NODES_HEADER):
        machines.add(row)
    for row in _rows(pods, PODS_HEADER):
        tasks.add(row, departures=departures)
    moments = tasks.moments()

    def entry(number: int) -> TimelineEntry:
        moment = int(moments[number])
        return tasks.entry(moment >> 1, leaves=bool(moment & 1))

    return Trace(Made(len(machines.names), machines.manifest), Made(len(moments), entry))


class _Texts:
    """Many short ones, one behind the other."""

    def __init__(self) -> None:
        self._text, self._ends = bytearray(), array("I")

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, number: int) -> str:
        return self._text[self._ends[number - 1] if number else 0 : self._ends[number]].decode()

    def append(self, text: str) -> None:
        self._text += text.encode()
        self._ends.append(len(self._text))


class _Nodes:
    """A list of nodes in columns, a number per row."""

    def __init__(self) -> None:
        self.names, self._models = _Texts(), _Texts()
        self._cpu, self._memory, self._gpus = (array("q") for _ in range(3))

    def add(self, row: _Row) -> None:
        """Raises TraceError."""
        self._cpu.append(row.integer("cpu_milli"))
        self._memory.append(row.integer("memory_mib"))
        self._gpus.append(row.integer("gpu"))
        self.names.append(row["sn"])
        self._models.append(row["model"])

    def manifest(self, number: int) -> Manifest:
        name = self.names[number]
        capacity = {"cpu": f"{self._cpu[number]}m", "memory": f"{self._memory[number]}Mi", "pods": PODS_PER_NODE}
        if gpus := self._gpus[number]:
            capacity[GPU_SHARES] = str(gpus * 1000)
        labels = {"kubernetes.io/hostname": name}
        if model := self._models[number]:
            labels["gpu-model"] = model
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "uid": f"node-{name}", "labels": labels},
            "status": {"capacity": capacity, "allocatable": capacity},
        }


class _Pods:
    """A list of pods in columns, a number per row."""

    def __init__(self) -> None:
        self._names, self._classes = _Texts(), _Texts()
        self._cpu, self._memory, self._shares, self._created, self._gone = (array("q") for _ in range(5))

    def add(self, row: _Row, *, departures: bool) -> None:
        """Raises TraceError."""
        self._cpu.append(row.integer("cpu_milli"))
        self._memory.append(row.integer("memory_mib"))
        self._shares.append(row.integer("num_gpu") * row.integer("gpu_milli"))
        self._names.append(row["name"])
        self._classes.append(row["qos"])
        created, gone = row.integer("creation_time"), _STAYS
        if departures and row["deletion_time"]:
            gone = row.integer("deletion_time")
            if gone < created:
                raise row.error(f"deletion_time {gone} is before creation_time {created}")
        self._created.append(created)
        self._gone.append(gone)

    def moments(self) -> array[int]:
        """What happens, in order: twice a row's number, and one more where its pod leaves.

        At one instant what leaves goes first, so that what comes may take its place.
        """
        created, gone = np.array(self._created, np.int64), np.array(self._gone, np.int64)
        leaving = np.flatnonzero(gone != _STAYS)
        numbers = np.concatenate([np.arange(len(created)), leaving])
        leaves = np.arange(len(numbers)) >= len(created)
        order = np.lexsort((numbers, ~leaves, np.concatenate([created, gone[leaving]])))
        moments = array("q", (2 * numbers + leaves)[order].tobytes())
        return self._each_comes_before_it_goes(moments)

    def _each_comes_before_it_goes(self, moments: array[int]) -> array[int]:
        """A pod that comes and goes within one second has both at one instant: it comes first."""
        place = array("q", [_STAYS]) * len(self._created)
        for i, moment in enumerate(moments):
            number = moment >> 1
            if moment & 1:
                place[number] = i
            elif (before := place[number]) != _STAYS:
                moments[i], moments[before] = moments[before], moment
        return moments

    def entry(self, number: int, *, leaves: bool) -> TimelineEntry:
        name = self._names[number]
        metadata = {"name": name, "namespace": NAMESPACE, "uid": f"pod-{name}"}
        manifest: Manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}
        if leaves:
            return TimelineEntry(at=self._gone[number] * SECOND, delete=True, manifest=manifest)
        qos = self._classes[number]
        manifest["metadata"] = {**metadata, "labels": {"qos": qos} if qos else {}}
        manifest["spec"] = {"containers": [{"name": "main", "image": "trace", "resources": self._resources(number)}]}
        return TimelineEntry(at=self._created[number] * SECOND, manifest=manifest)

    def _resources(self, number: int) -> dict[str, dict[str, str]]:
        requests = {"cpu": f"{self._cpu[number]}m", "memory": f"{self._memory[number]}Mi"}
        if not (shares := self._shares[number]):
            return {"requests": requests}
        # Extended resources cannot be overcommitted: the API server wants the limit, too.
        requests[GPU_SHARES] = str(shares)
        return {"requests": requests, "limits": {GPU_SHARES: str(shares)}}


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
