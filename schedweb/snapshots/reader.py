"""The reader: a process of its own that takes uploaded files apart, so that neither the web nor a worker suffers.

``python -m schedweb.snapshots.reader`` reads one request as JSON from standard input and answers with JSON on standard
output. ``read``: upload → redacted payload, events, index, counts. ``choose``: these and a filter → the snapshot's
payload and events. ``events``: upload → the events in it. ``load``: payload and upload, or a seed → the load.
"""

from __future__ import annotations

import gc
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal

import msgspec

from framework.objects import Node, Pod
from framework.objects.catalogue import LoadMetrics, NodeLoad
from framework.objects.decode import decode_object, encode_json
from framework.objects.selector_syntax import parse_selector
from framework.objects.selectors import SelectorError
from framework.objects.timestamps import SECOND
from framework.reading.documents import FileRefused, check_json_size
from framework.reading.gathering import Problem
from framework.reading.load_series import LoadRefused, made_load
from framework.reading.loads import ReadLoad, added, notes_about, read_load
from framework.sentences import Sentence, Words, counted_sentence, sentence, words_of
from schedweb.engine.payload import Texts, decode_texts
from schedweb.engine.replicas import Packed
from schedweb.snapshots.cluster import (
    Cluster,
    ImportFilter,
    PodEntry,
    apply_filter,
    count_cluster,
    notes_of,
    stored_cluster,
    warnings_of,
)
from schedweb.snapshots.halves import read_in_halves
from schedweb.snapshots.manifests import check_density, is_json, read_documents, read_items
from schedweb.snapshots.reading import Reading, read_cluster
from schedweb.snapshots.scheduler_events import EVENT, count_events, decode_events, encode_events

MOST_MEMORY: Final = 8 * 1024**3
MOST_PROBLEMS: Final = 100
"""More are counted only."""
OUT_OF_MEMORY: Final = sentence("The file unfolds to more than memory holds.")


class Request(msgspec.Struct, kw_only=True):
    task: Literal["read", "choose", "events", "load"]
    source: str
    target: str
    index: str = ""
    events: str = ""
    events_target: str = ""
    exclude_namespaces: list[str] = []
    label_selector: str = ""
    load: str = ""
    """Of ``choose``: the load that is taken in, too. Of ``load``: where it is kept, and what was there is added to."""
    resource: str = ""
    """CPU or Memory, of a result of Prometheus that does not say so."""
    seed: int | None = None
    """Of a load that is made up."""
    context: str = ""
    """Of the cluster that is read in place of ``source`` (schedweb/clusters/reading/whole.py)."""
    progress: str = ""
    """Where it writes how far it is."""
    asked: str = ""
    """Of a cluster: a file with what the credentials have to be allowed, else it is not read. "": nothing is asked."""
    granted: str = ""
    """Its name once they are."""


class Answer(msgspec.Struct, kw_only=True, omit_defaults=True):
    error: Sentence | str = ""
    seconds: float = 0.0
    size_bytes: int = 0
    """Of what came from a cluster."""
    counts: dict[str, object] = {}
    warnings: list[Sentence | str] = []
    """Plain in an index that an earlier version wrote."""
    notes: list[Sentence | str] = []
    """What became of the workloads."""
    bars: list[dict[str, object]] = []
    taken_at: int = 0
    digest: str = ""
    configuration: dict[str, object] = {}
    """The scheduler's, if the file has one."""
    problems: list[Problem] = []
    """Objects that could not be taken, the first ones."""
    problem_count: int = 0


class Index(msgspec.Struct):
    """What is known of a cluster that was read: what ``choose`` answers when everything stays, and every pod."""

    described: Answer
    pods: list[PodEntry]


class _IndexHead(msgspec.Struct):
    described: Answer


def make_filter(exclude_namespaces: list[str], label_selector: str) -> ImportFilter:
    """Raises SelectorError."""
    labels = parse_selector(label_selector) if label_selector.strip() else None
    return ImportFilter(frozenset(exclude_namespaces), labels)


def keeps_all(request: Request) -> bool:
    return not request.exclude_namespaces and not request.label_selector.strip() and not request.load


def read_file(path: Path) -> Cluster:
    """Raises FileRefused."""
    if is_json(path):
        check_json_size(path.stat().st_size)
        check_density(path)
        if (halves := read_in_halves(path)) is not None:
            return halves.cluster()
    items = read_items(path)
    if items is None:
        return read_cluster(read_documents(path), from_json=is_json(path))
    reading = Reading()
    reading.add_items(items)
    return reading.cluster()


def read(request: Request, kept: list[object]) -> Answer:
    return keep(request, read_file(Path(request.source)), kept)


def keep(request: Request, cluster: Cluster, kept: list[object]) -> Answer:
    """Writes what was read where the request says."""
    kept.append(cluster)
    if not cluster.texts:
        raise FileRefused(nothing_to_play(cluster))
    Path(request.target).write_bytes(cluster.payload())
    Path(request.events).write_bytes(encode_events(cluster.events))
    described = _described(cluster)
    Path(request.index).write_bytes(msgspec.json.encode(Index(described, cluster.pods)))
    return described


def nothing_to_play(cluster: Cluster) -> Words:
    """Why a file without an object is no cluster."""
    if cluster.problems:
        return cluster.problems[0].words
    if cluster.events:
        return sentence("The file holds only events. Add them where a run is laid beside its real cluster.")
    if cluster.configuration is not None:
        return sentence("The file holds only a KubeSchedulerConfiguration. Import it under Configurations.")
    return sentence("The file holds nothing that can be kept.")


def choose(request: Request, kept: list[object]) -> Answer:
    source, target = Path(request.source), Path(request.target)
    if keeps_all(request):
        shutil.copyfile(source, target)
        shutil.copyfile(request.events, request.events_target)
        return decoded_index(Path(request.index)).described
    chosen = make_filter(request.exclude_namespaces, request.label_selector)
    events = decode_events(Path(request.events).read_bytes())
    index = msgspec.json.decode(Path(request.index).read_bytes(), type=Index)
    texts = decode_texts(source.read_bytes())
    if request.load:
        texts = with_load(texts, Path(request.load).read_bytes())
    whole = stored_cluster(texts, events, index.pods)
    whole.not_kept(index.described.counts)
    kept.append(whole)
    cluster, _ = apply_filter(whole, chosen)
    target.write_bytes(cluster.payload())
    Path(request.events_target).write_bytes(encode_events(cluster.events))
    return _described(cluster)


def read_events(request: Request, kept: list[object]) -> Answer:
    """Only what schedulers said; whatever else the file holds is looked at for the schedulers' names, and not kept."""
    cluster = read_file(Path(request.source))
    kept.append(cluster)
    if about_events := [each for each in cluster.problems if each.kind in ("", EVENT)]:
        raise FileRefused(about_events[0].words)
    if not cluster.events:
        if not cluster.other_events:
            raise FileRefused(sentence("The file holds no event of a scheduler about a pod."))
        raise FileRefused(
            counted_sentence(
                "The file holds no event of a scheduler about a pod; the {count} event in it comes from others.",
                "The file holds no event of a scheduler about a pod; the {count} events in it come from others.",
                cluster.other_events,
            )
        )
    Path(request.target).write_bytes(encode_events(cluster.events))
    return Answer(counts=count_events(cluster.events, cluster.other_events))


def with_load(texts: Texts, load: bytes) -> Texts:
    """In place of the load that the file came with, if it did."""
    kept = [each for each in texts.objects if isinstance(each, Packed) or not _is_load(each)]
    return Texts([*kept, msgspec.Raw(load)], texts.specs)


class _Kind(msgspec.Struct):
    kind: str


def _is_load(text: msgspec.Raw) -> bool:
    return msgspec.json.decode(text, type=_Kind).kind == LoadMetrics.kind


def read_beside(request: Request, kept: list[object]) -> Answer:
    """Load for the nodes of a cluster that was read."""
    objects = list(decode_texts(Path(request.source).read_bytes()).decoded())
    kept.append(objects)
    nodes = [each for each in objects if isinstance(each, Node)]
    path = Path(request.load)
    if request.seed is not None:
        end = decoded_index(Path(request.index)).described.taken_at // SECOND or int(time.time())
        found = ReadLoad(made_load(nodes, (each for each in objects if isinstance(each, Pod)), request.seed, end))
    else:
        before = decode_object(path.read_bytes()) if path.exists() else None
        assert before is None or isinstance(before, LoadMetrics)
        found = added(before, read_load(Path(request.target).read_bytes(), nodes, request.resource))
    written = path.with_suffix(".load-new")
    written.write_bytes(encode_json(found.metrics))
    written.replace(path)
    measured = found.metrics.data.node_metrics_map
    return Answer(
        counts={
            "nodes": sum(bool(measured.get(each.metadata.name, NodeLoad()).metrics) for each in nodes),
            "source": found.metrics.source,
        },
        notes=[*notes_about(found, nodes)],
    )


def decoded_index(path: Path) -> _IndexHead:
    return msgspec.json.decode(path.read_bytes(), type=_IndexHead)


def _described(cluster: Cluster) -> Answer:
    return Answer(
        counts=count_cluster(cluster),
        warnings=[*warnings_of(cluster)],
        notes=[*notes_of(cluster)],
        bars=cluster.facts.bars(),
        taken_at=cluster.facts.latest,
        configuration=cluster.configuration or {},
        problems=cluster.problems[:MOST_PROBLEMS],
        problem_count=len(cluster.problems),
    )


def read_index(path: Path) -> list[PodEntry]:
    return msgspec.json.decode(path.read_bytes(), type=Index).pods


Task = Callable[[Request, list[object]], Answer]
TASKS: Final[dict[str, Task]] = {"read": read, "choose": choose, "events": read_events, "load": read_beside}


def answer(request: Request, kept: list[object] | None = None, task: Task | None = None) -> Answer:
    """``kept``: what was made stays in it. A process that ends then need not take it apart object by object.

    ``task``: in place of the one that the request names.
    """
    started = time.monotonic()
    try:
        result = (task or TASKS[request.task])(request, [] if kept is None else kept)
    except (FileRefused, LoadRefused, SelectorError) as error:
        return Answer(error=words_of(error))
    except MemoryError:
        return Answer(error=OUT_OF_MEMORY)
    result.seconds = round(time.monotonic() - started, 3)
    return result


def main() -> None:
    limit_memory()
    gc.disable()
    asked = sys.stdin.buffer.read()
    if not asked:
        return  # who started it needs nothing any more
    request = msgspec.json.decode(asked, type=Request)
    kept: list[object] = []
    sys.stdout.buffer.write(msgspec.json.encode(answer(request, kept)))
    sys.stdout.buffer.flush()
    os._exit(0)


def limit_memory() -> None:
    """A file that unfolds without end must not take the machine with it; Windows has no such limit."""
    if sys.platform == "win32":
        return
    import resource  # noqa: PLC0415 - Unix only

    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))


if __name__ == "__main__":
    main()
