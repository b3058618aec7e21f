"""All of a cluster at once, for a snapshot: what an import of ``kubectl get … -A -o json`` would keep.

Objects go one by one through the import's own reading, so no more of the cluster is held than an import would hold.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from framework.reading.documents import Fields, FileRefused
from framework.sentences import Content, Sentence, sentence
from schedweb.clusters.reading.access import Access
from schedweb.clusters.reading.kinds import NEEDED, Resource, kinds_of
from schedweb.clusters.reading.listing import NOT_STREAMED, STREAMS, pages, streamed
from schedweb.clusters.reading.problems import ClusterProblem
from schedweb.clusters.reading.rights import Rule, refuse_who_lacks
from schedweb.snapshots.reader import Answer, Request, keep
from schedweb.snapshots.reading import Reading

LIST_SECONDS: Final = 170
"""What the server is asked for: an import may take three minutes."""
TELL_SECONDS: Final = 0.5
PATIENCE: Final = 5
"""How often a kind is begun again that was busy, cut off or too old, before the first of its objects was taken."""


class Progress(msgspec.Struct):
    kind: str
    done: int
    """Kinds that were read."""
    of: int
    objects: int
    bytes: int = 0


Told = Callable[[Progress], None]


def read_whole(access: Access, told: Told) -> tuple[Reading, list[Sentence]]:
    """(what was read, what could not be). Raises ClusterProblem where nodes or pods cannot be read."""
    reading, kinds = Reading(in_order=True), kinds_of(access)
    streams = access.version()[1] >= STREAMS
    refused: list[Content] = []
    objects = 0
    for done, kind in enumerate(kinds):
        progress = Progress(kind.plural, done, len(kinds), objects)
        told(progress)
        try:
            for items in _listed(access, kind, streams):
                reading.add_items(items)
                progress.objects += len(items)
                progress.bytes = access.bytes_read
                told(progress)
        except ClusterProblem as problem:
            if problem.code not in ("forbidden", "absent") or kind.plural in NEEDED:
                raise
            if problem.code == "forbidden":
                refused.append(kind.plural)
        objects = progress.objects
    words = sentence("Not read, because the credentials may not: {kinds}.", kinds=refused)
    return reading, [words] if refused else []


def _listed(access: Access, kind: Resource, streams: bool) -> Iterator[list[Fields]]:
    """Nothing is given twice: what breaks after its first object is an error."""
    for attempt in itertools.count(1):
        given = 0
        try:
            for items in _once(access, kind, streams):
                given += 1
                yield items
        except ClusterProblem as problem:
            if given or attempt == PATIENCE or problem.code not in ("busy", "unreachable", "too_old"):
                raise
            time.sleep(problem.wait if problem.wait is not None else attempt * 0.5)
        else:
            return


def _once(access: Access, kind: Resource, streams: bool) -> Iterator[list[Fields]]:
    if streams:
        given = False
        try:
            for items in streamed(access, kind, LIST_SECONDS):
                given = True
                yield items
        except ClusterProblem as problem:
            # There are no streaming lists, or the credentials may only list.
            if given or problem.code not in (*NOT_STREAMED, "forbidden"):
                raise
        else:
            return
    for page in pages(access, kind):
        yield page.items


def read_for(request: Request, kept: list[object]) -> Answer:
    """The reader's task ``read`` with a cluster in place of a file. Raises FileRefused."""
    teller = Teller(Path(request.progress)) if request.progress else None
    try:
        access = Access(request.context)
        if request.asked:
            refuse_who_lacks(access, msgspec.json.decode(Path(request.asked).read_bytes(), type=list[Rule]))
            Path(request.asked).replace(request.granted)
        reading, missing = read_whole(access, teller or _silent)
    except ClusterProblem as problem:
        raise FileRefused(problem.words) from None
    answer = keep(request, reading.cluster(), kept)
    answer.warnings = [*missing, *answer.warnings]
    answer.size_bytes = access.bytes_read
    return answer


def _silent(progress: Progress) -> None:
    return None


class Teller:
    """Writes how far it is into a file that others read, not too often."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._told = 0.0

    def __call__(self, progress: Progress) -> None:
        if (now := time.monotonic()) - self._told < TELL_SECONDS:
            return
        self._told = now
        beside = self.path.with_suffix(".progress-next")
        beside.write_bytes(msgspec.json.encode(progress))
        beside.replace(self.path)
