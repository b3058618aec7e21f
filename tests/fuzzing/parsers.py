"""Every parser that meets strangers' bytes: how it is called, may refuse, how much it is given, what it likes."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import msgspec
from rest_framework.exceptions import ParseError

from framework.configuration.source import SourceError
from framework.objects import Node, Pod
from framework.objects.decode import decode_manifest
from framework.objects.errors import ObjectError
from framework.objects.quantity import QuantityError, parse_quantity
from framework.objects.selector_syntax import parse_selector
from framework.objects.selectors import SelectorError
from framework.objects.timestamps import parse_timestamp
from framework.reading.documents import FileRefused, read_documents
from framework.reading.load_series import LoadRefused
from framework.reading.loads import notes_about, read_load
from schedweb.api.errors import ApiError
from schedweb.api.parsers import BoundedJSONParser
from schedweb.configurations.conversion import convert_text
from schedweb.configurations.examination import MAX_CHARACTERS, TooLarge, examine
from schedweb.configurations.services import ConfigurationRefused, UnreadableText, edits_decode, text_edit
from schedweb.engine.commands import command_from
from schedweb.engine.payload import encode_one_by_one
from schedweb.engine.pod_filter import FilterError, parse_query
from schedweb.engine.questions import question_from
from schedweb.observing.trace_context import parsed as parse_trace_context
from schedweb.runs.live.consumers import LARGEST
from schedweb.runs.playing.manifests import MAX_MANIFEST, change_content, typed_manifest
from schedweb.runs.wire.messages import from_text
from schedweb.snapshots.reader import read_file
from schedweb.snapshots.trace import TraceError, read_trace
from tests.schedweb.engine.worlds import ASKING, node, pod
from tests.schedweb.snapshots.events import make_event

MIB: Final = 1024 * 1024
FOLDER: Final = tempfile.TemporaryDirectory(prefix="playground-fuzzing-")
ROOT: Final = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Parser:
    parse: Callable[[bytes], object]
    refuses: tuple[type[Exception], ...]
    seeds: Sequence[bytes]
    """What it takes."""
    most: int
    """Bytes that reach it at once, or as many as are tried."""


def written(name: str, data: bytes) -> Path:
    path = Path(FOLDER.name) / name
    path.write_bytes(data)
    return path


def text_of(data: bytes) -> str:
    """As it comes out of JSON: any characters, no zero byte and no half of a pair."""
    return data.decode(errors="replace").replace("\0", "")


def json_of(data: bytes) -> Any:
    """As the API's parser hands it on; what it refuses never gets so far."""
    try:
        return BoundedJSONParser().parse(BytesIO(data), "application/json", {})
    except (ParseError, ApiError):
        return None


def imported(data: bytes) -> object:
    return read_file(written("import", data)).payload()


def pod_of_a_command(data: bytes) -> object:
    return typed_manifest(text_of(data), Pod)


def object_of_a_change(data: bytes) -> object:
    text, named = text_of(data), {"kind": "Pod", "namespace": "shop", "name": "a"}
    change_content({"type": "change", "verb": "add", "manifest": text})
    return change_content({"type": "change", "verb": "replace", "manifest": text, **named})


def edited(data: bytes) -> object:
    found = json_of(data)
    edits = edits_decode(found if isinstance(found, list) and all(isinstance(each, dict) for each in found) else [])
    return text_edit(text=ASKING, edits=edits, format_=None)


def traced(data: bytes) -> object:
    """Two files in one text, an empty line between them; until they are what is stored."""
    nodes, _, pods = data.partition(b"\n\n")
    trace = read_trace(written("nodes.csv", nodes), written("pods.csv", pods), departures=True)
    return encode_one_by_one(trace.nodes, trace.timeline)


def loaded(data: bytes) -> object:
    """Of a cluster with one node, until what is said of it."""
    read = read_load(data, NODES, "CPU")
    return read, notes_about(read, NODES)


def older(data: bytes) -> object:
    """A text and flags, an empty line between them."""
    text, _, flags = text_of(data).partition("\n\n")
    return convert_text(text, flags)


def encoded(value: object) -> bytes:
    return json.dumps(value).encode()


CLUSTER: Final = {"apiVersion": "v1", "kind": "List", "items": [node("a"), pod("b", x="y")]}
AS_YAML: Final = b"""\
apiVersion: v1
kind: Pod
metadata: &meta {name: a, namespace: shop, labels: {app: web}}
spec:
  containers:
  - name: c
    image: "x:1"
    resources: {requests: {cpu: 500m, memory: 1Gi}}
  tolerations: [{operator: Exists}]
---
apiVersion: v1
kind: Node
metadata: {<<: *meta, name: n}
status: {allocatable: {cpu: "4", pods: 110}}
"""
EVENTS: Final = encoded({"apiVersion": "v1", "kind": "List", "items": [make_event("shop/b", "Scheduled", "to a")]})
EXPORT: Final = (ROOT / "data" / "simulator" / "export.json").read_bytes()[:20_000]
SMALL_EXPORT: Final = encoded(
    {"pods": [pod("a")], "nodes": [node("b")], "pvs": [], "pvcs": [], "storageClasses": [], "priorityClasses": [],
     "schedulerConfig": {"kind": "KubeSchedulerConfiguration"}, "namespaces": []}
)  # fmt: skip
POLICY: Final = encoded(
    {"kind": "Policy", "apiVersion": "v1", "predicates": [{"name": "PodFitsPorts"}],
     "priorities": [{"name": "LeastRequestedPriority", "weight": 1}], "hardPodAffinitySymmetricWeight": 10}
)  # fmt: skip
OLDER: Final = (
    b"apiVersion: kubescheduler.config.k8s.io/v1beta2\nkind: KubeSchedulerConfiguration\n"
    b"profiles: [{plugins: {score: {enabled: [{name: NodeResourcesMostAllocated, weight: 3}]}}}]\n\n--v=2"
)
FLAGS: Final = b"kube-scheduler --scheduler-name=mine --hard-pod-affinity-symmetric-weight 7\n"
SINGLE: Final = decode_manifest(node("a"))
assert isinstance(SINGLE, Node)
NODES: Final = [SINGLE]
_LOAD: Final = {"name": "host.cpu.utilisation", "type": "CPU", "operator": "AVG", "rollup": "15m", "value": 42.5}
WATCHED: Final = {
    "timestamp": 1700000000, "window": {"duration": "15m", "start": 1699999100, "end": 1700000000},
    "source": "Prometheus", "data": {"NodeMetricsMap": {"a": {"metrics": [_LOAD]}}},
}  # fmt: skip
_SERIES: Final = [
    {"metric": {"instance": "a:9100", "__name__": "node_cpu_ratio"}, "values": [[1.5, "0.25"], [61, "1"]]}
]
MATRIX: Final = {"status": "success", "data": {"resultType": "matrix", "result": _SERIES}}
VECTOR: Final = {
    "status": "success",
    "data": {"resultType": "vector", "result": [{"metric": {"node": "a", "type": "Memory"}, "value": [1, "12.5"]}]},
}
LOADS: Final = (
    encoded(WATCHED),
    encoded({"apiVersion": "scheduling.playground/v1", "kind": "LoadMetrics", "metadata": {"name": "load"}, **WATCHED}),
    encoded(MATRIX),
    encoded(VECTOR),
    encoded({"CPU": {"AVG": VECTOR, "STD": VECTOR}, "Memory": MATRIX}),
    encoded({"status": "error", "errorType": "bad_data", "error": "parse error"}),
)
TRACE: Final = (
    b"sn,cpu_milli,memory_mib,gpu,model\nn1,4000,8192,2,T4\n\n"
    b"name,cpu_milli,memory_mib,num_gpu,gpu_milli,qos,creation_time,deletion_time\np1,500,100,1,500,LS,0,10\n"
)
RUN: Final = "00000000-0000-4000-8000-000000000000"
MANIFESTS: Final = (encoded(CLUSTER), AS_YAML, EVENTS, SMALL_EXPORT, EXPORT, ASKING.encode(), POLICY)
OBJECTS: Final = (encoded(pod("a", x="y")), AS_YAML.partition(b"---")[0], AS_YAML)
CONFIGURATIONS: Final = (ASKING.encode(), encoded({"kind": "KubeSchedulerConfiguration", "profiles": [{}]}), POLICY)

PARSERS: Final[dict[str, Parser]] = {
    "documents": Parser(lambda data: list(read_documents(data)), (FileRefused,), MANIFESTS, MIB),
    "import": Parser(imported, (FileRefused,), MANIFESTS, MIB),
    "a command's manifest": Parser(pod_of_a_command, (ApiError, ObjectError), OBJECTS, MAX_MANIFEST),
    "a change's manifest": Parser(object_of_a_change, (ApiError,), OBJECTS, MAX_MANIFEST),
    "configuration": Parser(lambda data: examine(text_of(data)), (TooLarge,), CONFIGURATIONS, MAX_CHARACTERS),
    "older file": Parser(older, (TooLarge, SourceError), [POLICY, OLDER, FLAGS], MAX_CHARACTERS),
    "edits of a configuration": Parser(
        edited,
        (ConfigurationRefused, UnreadableText),
        [
            encoded([{"type": "setWeight", "profile": 0, "point": "score", "name": "ImageLocality", "weight": 3}]),
            encoded([{"type": "disablePlugin", "profile": 0, "point": "score", "name": "ImageLocality"}]),
            encoded([{"type": "setField", "path": ["profiles", 0, "percentageOfNodesToScore"], "value": 50}]),
            encoded([{"type": "setArgs", "profile": 0, "plugin": "ManualApproval", "path": [], "value": {"a": [1]}}]),
        ],
        64 * 1024,
    ),
    "load": Parser(loaded, (LoadRefused, FileRefused), LOADS, MIB),
    "trace": Parser(traced, (TraceError,), [TRACE], MIB),
    "socket": Parser(
        lambda data: from_text(text_of(data)),
        (msgspec.DecodeError, UnicodeDecodeError, RecursionError),
        [encoded({"type": "subscribe", "run": RUN, "language": "uk"}), encoded({"type": "ping", "id": 1})],
        LARGEST,
    ),
    "command": Parser(
        lambda data: command_from(json_of(data)),
        (msgspec.ValidationError,),
        [
            encoded({"type": "decide", "decision": "approve", "pods": [{"namespace": "a", "name": "b"}]}),
            encoded({"type": "breakpoint_set", "id": "x", "on": "status", "value": "bound"}),
            encoded({"type": "set_speed", "speed": "max"}),
        ],
        MIB,
    ),
    "question": Parser(
        lambda data: question_from(json_of(data)),
        (msgspec.ValidationError,),
        [encoded({"question": "other_weights", "profile": "p", "weights": {"x": 1}})],
        MIB,
    ),
    "label selector": Parser(
        lambda data: parse_selector(text_of(data)), (SelectorError,), [b"a=b,c!=d,e in (f,g),!h"], 64 * 1024
    ),
    "search for pods": Parser(
        lambda data: parse_query(text_of(data)), (FilterError,), [b"web !db -l app=web"], 64 * 1024
    ),
    "quantity": Parser(lambda data: parse_quantity(text_of(data)), (QuantityError,), [b"1.5Gi", b"3e6", b"500m"], 4096),
    "time": Parser(lambda data: parse_timestamp(text_of(data)), (ValueError,), [b"2026-01-01T00:00:00.5Z"], 4096),
    "trace context": Parser(
        lambda data: parse_trace_context(text_of(data)), (), [b"00-" + b"a" * 32 + b"-" + b"b" * 16 + b"-01"], 4096
    ),
}


def parse(name: str, data: bytes) -> str | None:
    """The words with which it was refused; None for what was taken. Raises what the parser may not."""
    parser = PARSERS[name]
    try:
        parser.parse(data)
    except parser.refuses as refusal:
        return str(refusal)
    return None
