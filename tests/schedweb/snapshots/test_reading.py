"""Reading a file: what is taken, what is redacted, what is refused and with which words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from framework.objects.selector_syntax import parse_selector
from framework.reading.documents import FileRefused
from schedweb.engine.payload import decode_manifests
from schedweb.snapshots.cluster import ImportFilter, apply_filter, count_cluster, notes_of
from schedweb.snapshots.manifests import read_manifests
from schedweb.snapshots.reader import Request, answer
from schedweb.snapshots.reading import read_cluster
from tests.schedweb.snapshots.files import EXPORT_JSON, EXPORT_YAML, decoded_pods, make_node, make_pod, told, unpacked


def read(path: Path) -> list[dict[str, Any]]:
    return list(read_manifests(path))


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_real_export_is_counted(tmp_path: Path) -> None:
    counts = count_cluster(read_cluster(read_manifests(unpacked(EXPORT_JSON, tmp_path))))
    assert (counts["nodes"], counts["pods"], counts["pending"], counts["gated"]) == (36, 231, 46, 1)
    assert counts["namespaces"] == 9
    assert counts["pods_by_namespace"][:2] == [{"name": "shop", "pods": 104}, {"name": "staging", "pods": 67}]
    assert (counts["unused_kinds"], counts["made_pods"], counts["kinds"]["Deployment"]) == ({}, 0, 12)


def test_json_and_yaml_of_one_cluster_agree(tmp_path: Path) -> None:
    from_json = read_cluster(read_manifests(unpacked(EXPORT_JSON, tmp_path)))
    from_yaml = read_cluster(read_manifests(unpacked(EXPORT_YAML, tmp_path)))
    assert decoded_pods(from_yaml) == decoded_pods(from_json)


def test_several_documents_lists_and_typed_lists(tmp_path: Path) -> None:
    typed = {"apiVersion": "v1", "kind": "PodList", "items": [{"metadata": {"name": "a", "namespace": "x"}}]}
    path = written(tmp_path / "f.yaml", f"---\n{json.dumps(make_node('n1'))}\n---\n\n---\n{json.dumps(typed)}\n")
    assert [(m["kind"], m["metadata"]["name"]) for m in read(path)] == [("Node", "n1"), ("Pod", "a")]


@pytest.mark.parametrize("between", ["", "\n", "\n---\n"])
def test_json_documents_one_after_another(tmp_path: Path, between: str) -> None:
    path = written(tmp_path / "f.json", between.join(json.dumps(make_node(name)) for name in ("n1", "n2", "n3")))
    assert [m["metadata"]["name"] for m in read(path)] == ["n1", "n2", "n3"]


def test_yaml_in_flow_style_begins_as_json_does(tmp_path: Path) -> None:
    path = written(tmp_path / "f.yaml", "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {a: 'true'}}}\n")
    assert [(m["metadata"]["name"], m["metadata"]["labels"]) for m in read(path)] == [("n1", {"a": "true"})]


def test_yaml_keeps_timestamps_and_numbers_as_kubernetes_does(tmp_path: Path) -> None:
    path = written(
        tmp_path / "f.yaml",
        "kind: Node\napiVersion: v1\nmetadata:\n  name: n\n  creationTimestamp: 2026-11-20T10:00:00Z\n",
    )
    assert read(path)[0]["metadata"]["creationTimestamp"] == "2026-11-20T10:00:00Z"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "The file is empty."),
        (b'{"apiVersion": "v1", "kind": "List", "items": [{"kind": "Pod"', "it ends in the middle"),
        (b"\x00\x01\x02", "no UTF-8 text"),
        ("a: [1, 2", "line 2, column 1"),
        ("{apiVersion: v1, kind: Node", "a key in double quotes is missing"),
        ("{apiVersion: v1, rules: []}", "a key in double quotes is missing"),
        ("kind: Pod\nkind: Node\n", 'key "kind" already set in map'),
        ("a: &a\n  b: *a\n", "contains itself"),
        ("just a sentence", "Expected a Kubernetes object, found a text: just a sentence"),
        ("[1, 2]", "found a number"),
        ('{"apiVersion": "v1", "kind": "List", "items": []}', "holds no Kubernetes object"),
        ('{"kind": "Pod"}\n{"kind": "\\ud800"}', "half of a surrogate pair is no character"),
        ("---\n---\n", "holds no Kubernetes object"),
    ],
)
def test_files_that_are_refused(tmp_path: Path, content: str | bytes, words: str) -> None:
    with pytest.raises(FileRefused) as refused:
        read(written(tmp_path / "f", content))
    assert words in str(refused.value)


def test_a_yaml_bomb_is_refused_before_it_unfolds(tmp_path: Path) -> None:
    lines = ['a0: &a0 ["lol", "lol", "lol", "lol", "lol", "lol", "lol", "lol", "lol"]']
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    with pytest.raises(FileRefused, match="aliases expand"):
        read(written(tmp_path / "bomb.yaml", "\n".join(lines)))


@pytest.mark.parametrize(
    ("pod", "words"),
    [
        (make_pod("web-1", "shop", cpu="-1"), "Pod shop/web-1: spec.containers[0].resources.requests"),
        (make_pod("web-1", "shop", containers=[]), "Pod shop/web-1: spec.containers"),
        (make_pod("Web_1", "shop"), "Pod shop/Web_1: metadata.name"),
        ({"kind": "Pod", "metadata": {"name": "x"}}, "{kind, metadata} is no Kubernetes object: it has no apiVersion."),
        ({"data": {"x": 1}}, "{data} is no Kubernetes object: it has no kind."),
        ({"kind": ["Pod"], "apiVersion": "v1"}, "{kind, apiVersion} is no Kubernetes object: it has no kind."),
        ({"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}, "{a, b, c, d, …} is no Kubernetes object: it has no kind."),
        ({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": 5}}, "metadata.name"),
    ],
)
def test_a_bad_object_is_named_with_its_field(pod: dict[str, Any], words: str) -> None:
    cluster = read_cluster([pod, make_node("n1")])
    assert words in told(cluster)
    assert [obj.metadata.name for obj in cluster.objects()] == ["n1"]


def test_the_same_object_twice_is_taken_once() -> None:
    cluster = read_cluster([make_pod("web-1", "shop"), make_pod("web-1", "shop")])
    assert told(cluster) == "Pod shop/web-1 is there twice."
    assert list(decoded_pods(cluster)) == ["shop/web-1"]


def test_secrets_are_dropped_and_values_redacted() -> None:
    pod = make_pod("web-1", "shop")
    pod["spec"]["containers"][0]["env"] = [{"name": "PASSWORD", "value": "hunter2"}]
    pod["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": "hunter2"}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"template": {"spec": {"initContainers": [{"name": "i", "env": [{"name": "A", "value": "hunter2"}]}]}}},
    }
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "shop"}}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "shop"}}
    cluster = read_cluster([pod, deployment, {**config, "data": {"k": "hunter2"}}, {**secret, "data": {"p": "aHVu"}}])
    assert "hunter2" not in json.dumps([cluster.manifest(text) for text in cluster.texts])
    assert "env" not in cluster.manifest(cluster.texts[0])["spec"]["containers"][0]
    assert cluster.dropped == {"Secret": 1}
    assert count_cluster(cluster)["removed"] == {"environment": 2, "annotations": 1, "contents": 1}
    assert [str(note) for note in notes_of(cluster)] == [
        "Not kept, because scheduling does not read it: 1 Secret, 2 environment variables, 1 annotation, "
        "the content of 1 object that scheduling does not read."
    ]


def test_what_looks_like_a_key_is_pointed_out_once_and_not_in_full() -> None:
    key = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    pods = [make_pod(f"web-{n}", "shop", labels={"app": "web", "deploy": key}) for n in range(3)]
    cluster = read_cluster([*pods, make_pod("db", "shop", labels={"db-password": "correct-horse"})])
    assert [str(each) for each in cluster.warnings] == [
        "Pod shop/web-0 and 2 others: Label deploy looks like a key (ghp_…). Labels and names are kept: if it is one, "
        "change it in the file.",
        "Pod shop/db: Label db-password looks like a key (corr…). Labels and names are kept: if it is one, change it "
        "in the file.",
    ]


def test_left_out_pods_keep_their_usage_on_their_nodes() -> None:
    placed = make_pod("db-0", "data", cpu="2", node="n1")
    placed["spec"]["priority"] = 7
    cluster = read_cluster([make_node("n1"), placed, make_pod("job", "data"), make_pod("web", "shop", node="n1")])
    left, unnamed = apply_filter(cluster, ImportFilter(frozenset({"data"})))
    pods = decoded_pods(left)
    assert (set(pods), unnamed) == ({"left-out/usage-1", "shop/web"}, 1)
    stub = pods["left-out/usage-1"]
    assert (stub.spec.node_name, stub.spec.priority, stub.metadata.labels) == ("n1", 7, {})
    assert left.facts.bars() == cluster.facts.bars()


def test_filter_by_label_selector() -> None:
    cluster = read_cluster([make_pod("a", "x", labels={"app": "web"}), make_pod("b", "x", labels={"app": "db"})])
    left, _ = apply_filter(cluster, ImportFilter(labels=parse_selector("app!=db")))
    assert list(decoded_pods(left)) == ["x/a"]


def test_the_reader_answers_errors_in_words(tmp_path: Path) -> None:
    upload = written(tmp_path / "up", "{")
    result = answer(Request(task="read", source=str(upload), target=str(tmp_path / "c"), index=str(tmp_path / "i")))
    assert "it ends in the middle" in str(result.error)
    assert not (tmp_path / "c").exists()


def test_the_reader_keeps_only_fields_that_are_read(tmp_path: Path) -> None:
    pod = make_pod("web-1", "shop")
    pod["spec"]["somethingNew"] = {"kept": False}
    upload = written(tmp_path / "up", json.dumps(pod))
    target, index, events = (str(tmp_path / name) for name in ("c", "i", "e"))
    answer(Request(task="read", source=str(upload), target=target, index=index, events=events))
    assert decode_manifests((tmp_path / "c").read_bytes())[0]["spec"].keys() == {"containers"}


def test_choosing_everything_keeps_the_payload_and_what_was_said_of_it(tmp_path: Path) -> None:
    upload = unpacked(EXPORT_JSON, tmp_path)
    source, target, index, events = (str(tmp_path / name) for name in ("cluster", "chosen", "index", "events"))
    read = answer(Request(task="read", source=str(upload), target=source, index=index, events=events))
    both: dict[str, Any] = {
        "source": source,
        "target": target,
        "index": index,
        "events": events,
        "events_target": f"{events}-chosen",
    }
    chosen = answer(Request(task="choose", **both))
    assert (tmp_path / "chosen").read_bytes() == (tmp_path / "cluster").read_bytes()
    assert (chosen.counts, chosen.bars, chosen.taken_at) == (read.counts, read.bars, read.taken_at)
    # A selector that everything matches goes the long way.
    assert read.counts["removed"]
    long = answer(Request(task="choose", label_selector="!no-such-label", **both))
    assert (long.error, long.counts, long.bars) == ("", read.counts, read.bars)
    assert decode_manifests((tmp_path / "chosen").read_bytes()) == decode_manifests((tmp_path / "cluster").read_bytes())


def test_an_item_that_is_broken_inside_is_refused_in_words(tmp_path: Path) -> None:
    broken = b'{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"\xff"}}]}'
    (tmp_path / "up").write_bytes(broken)
    with pytest.raises(FileRefused, match="This is not JSON"):
        list(read_manifests(tmp_path / "up"))
