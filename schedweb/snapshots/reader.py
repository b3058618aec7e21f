"""The reader: a process of its own that takes uploaded files apart, so that neither the web nor a worker suffers.

``python -m schedweb.snapshots.reader`` reads one request as JSON from standard input and answers with JSON on standard
output. ``read``: upload → redacted payload, index, counts. ``choose``: these and a filter → the snapshot's payload.
"""

from __future__ import annotations

import gc
import shutil
import sys
import time
from pathlib import Path
from typing import Final, Literal

import msgspec

from framework.objects.selector_syntax import parse_selector
from framework.objects.selectors import SelectorError
from schedweb.engine.payload import decode_texts, encode_payload
from schedweb.snapshots.cluster import (
    Cluster,
    ImportFilter,
    apply_filter,
    count_cluster,
    is_pending,
    read_cluster,
    stored_cluster,
    taken_at,
    utilisation_bars,
    warnings_of,
)
from schedweb.snapshots.manifests import FileRefused, is_json, read_manifests

MOST_MEMORY: Final = 8 * 1024**3


class Request(msgspec.Struct, kw_only=True):
    task: Literal["read", "choose"]
    source: str
    target: str
    index: str = ""
    exclude_namespaces: list[str] = []
    label_selector: str = ""


class PodIndexEntry(msgspec.Struct, array_like=True):
    namespace: str
    labels: dict[str, str]
    pending: bool
    placed: bool


class Answer(msgspec.Struct, kw_only=True, omit_defaults=True):
    error: str = ""
    seconds: float = 0.0
    counts: dict[str, object] = {}
    warnings: list[str] = []
    bars: list[dict[str, object]] = []
    taken_at: int = 0
    digest: str = ""


class Index(msgspec.Struct):
    """What is known of a cluster that was read: what ``choose`` answers when everything stays, and every pod."""

    described: Answer
    pods: list[PodIndexEntry]


class _IndexHead(msgspec.Struct):
    described: Answer


def make_filter(exclude_namespaces: list[str], label_selector: str) -> ImportFilter:
    """Raises SelectorError."""
    labels = parse_selector(label_selector) if label_selector.strip() else None
    return ImportFilter(frozenset(exclude_namespaces), labels)


def read(request: Request) -> Answer:
    source = Path(request.source)
    cluster = read_cluster(read_manifests(source), from_json=is_json(source))
    Path(request.target).write_bytes(encode_payload(member.text for member in cluster.members))
    entries = [
        PodIndexEntry(p.metadata.namespace, dict(p.metadata.labels), is_pending(p), bool(p.spec.node_name))
        for p in cluster.pods()
    ]
    described = _described(cluster)
    Path(request.index).write_bytes(msgspec.json.encode(Index(described, entries)))
    return described


def choose(request: Request) -> Answer:
    source, target = Path(request.source), Path(request.target)
    chosen = make_filter(request.exclude_namespaces, request.label_selector)
    if chosen.keeps_all:
        shutil.copyfile(source, target)
        return msgspec.json.decode(Path(request.index).read_bytes(), type=_IndexHead).described
    cluster, _ = apply_filter(stored_cluster(decode_texts(source.read_bytes())), chosen)
    target.write_bytes(encode_payload(member.text for member in cluster.members))
    return _described(cluster)


def _described(cluster: Cluster) -> Answer:
    return Answer(
        counts=count_cluster(cluster),
        warnings=warnings_of(cluster),
        bars=utilisation_bars(cluster.nodes(), cluster.pods()),
        taken_at=taken_at([member.decoded for member in cluster.members]),
    )


def read_index(path: Path) -> list[PodIndexEntry]:
    return msgspec.json.decode(path.read_bytes(), type=Index).pods


def answer(request: Request) -> Answer:
    started = time.monotonic()
    try:
        result = read(request) if request.task == "read" else choose(request)
    except (FileRefused, SelectorError) as error:
        return Answer(error=str(error))
    except MemoryError:
        return Answer(error="The file unfolds to more than memory holds.")
    result.seconds = round(time.monotonic() - started, 3)
    return result


def main() -> None:
    limit_memory()
    gc.disable()
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=Request)
    sys.stdout.buffer.write(msgspec.json.encode(answer(request)))


def limit_memory() -> None:
    """A file that unfolds without end must not take the machine with it; Windows has no such limit."""
    if sys.platform == "win32":
        return
    import resource  # noqa: PLC0415 - Unix only

    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))


if __name__ == "__main__":
    main()
