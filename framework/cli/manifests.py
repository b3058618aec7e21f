"""Files with objects, read as an import is read (framework/reading)."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from framework.cli.errors import InputError
from framework.objects import KubeObject, Node, Pod
from framework.objects.decode import decode_manifest, decode_object, to_manifest
from framework.objects.defaults import with_defaults
from framework.objects.errors import ObjectError
from framework.objects.validation import check_object
from framework.reading.documents import FileRefused, Manifest, read_documents, read_list
from framework.reading.gathering import Gathering, Problem, current, decoded, from_a_cluster, problem_of, workloads_of
from framework.reading.simulator_export import CONFIGURATION_KIND
from framework.reading.something_else import strange_object
from framework.reading.unknown_fields import Looking
from framework.sentences import Sentence

STANDARD_INPUT: Final = "-"
NOT_READ: Final = frozenset({"Secret", "Event"})
"""Kinds that neither a scheduler nor a controller of ours looks at."""


@dataclass(slots=True)
class Objects:
    """``path`` is that of the file an object came from, "" of what was made."""

    kept: list[tuple[str, KubeObject]] = field(default_factory=list)
    problems: list[tuple[str, Problem]] = field(default_factory=list)
    configuration: tuple[str, Manifest] | None = None
    made_pods: int = 0
    made_from: dict[str, int] = field(default_factory=dict)
    notes: list[Sentence] = field(default_factory=list)
    warnings: list[Sentence] = field(default_factory=list)


def read_text(path: str) -> str:
    """``-`` is standard input. Raises InputError."""
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(path, str(error)) from error


def read_files(paths: Iterable[str]) -> Objects:
    """The objects of all files together, and what controllers make of them. Raises InputError for a whole file."""
    reading = _Reading()
    for path in paths:
        reading.read(path)
    return reading.finish()


def read_objects(path: str) -> list[KubeObject]:
    """Those of one file as they stand there. Raises InputError, naming file, object and field."""
    reading = _Reading()
    reading.read(path)
    if reading.found.problems:
        raise refused(reading.found.problems)
    return [obj for _, obj in reading.found.kept]


def refused(problems: Iterable[tuple[str, Problem]]) -> InputError:
    lines = [f"{path}: {line}" if path else line for path, each in problems for line in str(each.words).splitlines()]
    return InputError("", "\n".join(lines))


class _Reading:
    def __init__(self) -> None:
        self.found = Objects()
        self._gathering = Gathering()
        self._looking = Looking()

    def read(self, path: str) -> None:
        data = read_bytes(path)
        try:
            items = read_list(data)
            if items is None:
                for manifest in read_documents(data):
                    self._add(path, manifest)
            else:
                for item in items:
                    self._add_text(path, item)
        except FileRefused as error:
            raise InputError(path, str(error)) from error

    def _add_text(self, path: str, text: msgspec.Raw) -> None:
        """Pods and nodes, of which there are many, are not parsed to dictionaries on the way."""
        try:
            obj = decode_object(text)
            if isinstance(obj, Node) or (isinstance(obj, Pod) and obj.metadata.namespace):
                check_object(with_defaults(obj), comparisons=True)
                if self._keep(path, "", obj):
                    self._gathering.sight(obj, self._looking.at_text(text, type(obj), exported=from_a_cluster(obj)))
                return
        except ObjectError:
            pass  # the other way says what is wrong
        for manifest in read_documents(bytes(text)):
            self._add(path, manifest)

    def _add(self, path: str, manifest: Manifest) -> None:
        kind = manifest.get("kind")
        if isinstance(kind, str) and kind in NOT_READ:
            return
        if kind == CONFIGURATION_KIND and not strange_object(manifest):
            self.found.configuration = self.found.configuration or (path, manifest)
            return
        try:
            manifest = current(manifest)
            obj = decoded(manifest)
        except FileRefused as error:
            self.found.problems.append((path, problem_of(manifest, error.words)))
            return
        number = len(self.found.kept)
        if self._keep(path, str(manifest["apiVersion"]).rpartition("/")[0], obj):
            self._gathering.look_at(number, manifest, obj)

    def _keep(self, path: str, group: str, obj: KubeObject) -> bool:
        problems, kept = self._gathering.gathered.problems, self.found.kept
        if not self._gathering.keep(len(kept), group, obj):
            self.found.problems.append((path, problems.pop()))
            return False
        kept.append((path, obj))
        return True

    def finish(self) -> Objects:
        found = self.found
        finished = self._gathering.finish(
            lambda number: found.kept[number][1], lambda number: to_manifest(found.kept[number][1])
        )
        paths = {(obj.kind, obj.metadata.namespace, obj.metadata.name): path for path, obj in found.kept}
        for each in self._gathering.gathered.problems:
            found.problems.append((paths.get((each.kind, each.namespace, each.name), ""), each))
        for number, manifest in finished.changed.items():
            found.kept[number] = (found.kept[number][0], decode_manifest(manifest))
        found.kept = [each for number, each in enumerate(found.kept) if number not in finished.refused]
        found.kept += (("", decode_manifest(each.manifest)) for each in finished.added)
        makers = [each.maker for each in finished.added if each.maker]
        found.made_pods, found.made_from = len(makers), workloads_of(makers)
        found.notes, found.warnings = finished.notes, finished.warnings
        return found


def read_bytes(path: str) -> bytes:
    """``-`` is standard input. Raises InputError."""
    try:
        return sys.stdin.buffer.read() if path == STANDARD_INPUT else Path(path).read_bytes()
    except IsADirectoryError as error:
        raise InputError(path, "this is a folder; name the files in it, each with -f") from error
    except OSError as error:
        raise InputError(path, error.strerror or str(error)) from error
