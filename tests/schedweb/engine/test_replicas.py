"""The bulk way: packing a pod and reading it back gives what the plain way gives."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from framework.objects import Pod
from framework.objects.decode import decode_manifest
from framework.objects.pod_validation import pod_errors
from framework.objects.validation import replica_errors, validate_object
from framework.reading.documents import Fields
from framework.reading.redaction import KEPT_ANNOTATIONS, redacted
from schedweb.engine.payload import decode_manifests, decode_payload, encode_payload
from schedweb.engine.replicas import Packed, Packer
from tests.schedweb.snapshots.files import make_node, make_pod

TOKENS = ("kube-api-access-x7k2p", "kube-api-access-abcde", "kube-api-access-*****", "data")
VALUES = ("", "hunter2", "é", "\U0001f600", chr(34), chr(92) + "u0041", "<&>")
NAMES = ("web-1", "web-2", "Web_3", "")


@st.composite
def pods(draw: st.DrawFn) -> dict[str, Any]:
    """Few kinds of specs, so that many are replicas; sound and unsound, with what may have to be redacted."""
    pod = make_pod(draw(st.sampled_from(NAMES)), "shop", cpu=draw(st.sampled_from(["1", "2", "-1"])))
    spec, metadata = pod["spec"], pod["metadata"]
    container = spec["containers"][0]
    if draw(st.booleans()):
        token = draw(st.sampled_from(TOKENS))
        spec["volumes"] = [{"name": token, "projected": {}}]
        container["volumeMounts"] = [{"name": draw(st.sampled_from((token, *TOKENS))), "mountPath": "/run"}]
    if draw(st.booleans()):
        container["env"] = [{"name": draw(st.sampled_from("AB")), "value": draw(st.sampled_from(VALUES))}]
    if draw(st.booleans()):
        spec["nodeName"] = draw(st.sampled_from(["n1", "n2", "", "N_3", None, 5, "kube-api-access-*****"]))
    if draw(st.booleans()):
        metadata["annotations"] = {
            draw(st.sampled_from(["a", "kubectl.kubernetes.io/last-applied-configuration"])): draw(
                st.sampled_from(VALUES)
            )
        }
    if draw(st.booleans()):
        metadata["managedFields"] = [{"manager": "kubectl"}]
    if draw(st.booleans()):
        metadata["creationTimestamp"] = draw(st.sampled_from(["2026-01-01T00:00:00Z", "yesterday", None]))
    if draw(st.booleans()):
        metadata["labels"] = {draw(st.sampled_from(["app", "-bad-"])): draw(st.sampled_from(["x", "y", "_"]))}
    if draw(st.booleans()):
        pod["status"] = draw(
            st.sampled_from(
                [
                    None,
                    {},
                    {"phase": "Running", "podIP": "10.0.0.1"},
                    {"phase": "Running", "startTime": "noon"},
                    {"phase": 5},
                    {"containerStatuses": [{"name": "c", "resources": {"requests": {"cpu": "-3"}}}]},
                ]
            )
        )
    if draw(st.booleans()):
        pod[draw(st.sampled_from(["other", "metadata"]))] = {"x": 1}
    return pod


def fields(manifest: dict[str, Any], *, ascii_only: bool = True) -> Fields:
    return msgspec.json.decode(json.dumps(manifest, ensure_ascii=ascii_only), type=Fields)


def packer() -> Packer:
    return Packer(redacted, KEPT_ANNOTATIONS, lambda pod: not any(pod_errors(pod)))


@given(st.lists(pods(), min_size=1, max_size=12), st.booleans())
def test_packed_pods_are_those_of_the_plain_way(manifests: list[dict[str, Any]], ascii_only: bool) -> None:
    bulk = packer()
    texts: list[msgspec.Raw | Packed] = []
    wanted: list[dict[str, Any]] = []
    for manifest in manifests:
        packed = bulk.pack(fields(manifest, ascii_only=ascii_only))
        removed: Counter[str] = Counter()
        plain = redacted(manifest, removed)
        if packed is None:
            texts.append(msgspec.Raw(json.dumps(plain).encode()))
        else:
            decoded = decode_manifest(plain)
            assert isinstance(decoded, Pod)
            assert packed.pod == decoded
            # Unknown fields of metadata are told by whoever looks for slips; they are not counted pod by pod.
            assert packed.removed == +(removed - Counter(fields="x" in manifest["metadata"]))
            assert replica_errors(packed.pod) == validate_object(decoded)
            texts.append(packed.packed)
        wanted.append(plain)
    blob = encode_payload(texts, specs=bulk.specs)
    stored = decode_manifests(blob)
    assert [redacted(each) for each in stored] == stored
    assert [without_nothing(each) for each in stored] == [without_nothing(each) for each in wanted]
    decodable = [each for each in texts if isinstance(each, Packed)]
    read = decode_payload(encode_payload(decodable, specs=bulk.specs)).objects
    assert read == [decode_manifest(w) for w, text in zip(wanted, texts, strict=True) if isinstance(text, Packed)]


def without_nothing(value: Any) -> Any:
    """Metadata and status of a packed pod are written again without what is empty."""
    if isinstance(value, dict):
        return {key: inner for key, each in value.items() if (inner := without_nothing(each)) not in ({}, [], "", None)}
    return [without_nothing(each) for each in value] if isinstance(value, list) else value


def text(manifest: dict[str, Any]) -> msgspec.Raw:
    return msgspec.Raw(json.dumps(manifest).encode())


def test_replicas_have_one_spec_and_only_their_own_is_kept_of_each() -> None:
    bulk = packer()
    for number, letter in enumerate("abcdef"):
        pod = make_pod(f"web-{number}", "shop", node=f"n{number}")
        pod["spec"]["volumes"] = [{"name": f"kube-api-access-{letter * 5}", "projected": {}}]
        packed = bulk.pack(fields(pod))
        assert packed is not None
        assert packed.pod.spec.volumes[0].name == f"kube-api-access-{letter * 5}"
    assert len(bulk.specs) == 1


def test_what_does_not_fit_is_left_to_the_plain_way() -> None:
    bulk = packer()
    pod = make_pod("web-1", "shop")
    assert bulk.pack(fields(pod)) is not None
    assert bulk.pack(fields(make_node("n1"))) is None
    assert bulk.pack(fields({**pod, "more": 1})) is None
    assert bulk.pack(fields({**pod, "status": None})) is None
    assert bulk.pack(fields(make_pod("web-1", "shop", cpu="-1"))) is None
    assert bulk.pack(fields({})) is None
    assert bulk.pack({**fields(pod), "metadata": msgspec.Raw(b"[]")}) is None


def test_a_payload_keeps_the_order_of_packed_and_other_objects() -> None:
    bulk = packer()
    manifests = [make_pod("a", "x"), make_node("n1"), make_pod("b", "x"), make_pod("c", "x"), make_node("n2")]
    texts: list[msgspec.Raw | Packed] = []
    for manifest in manifests:
        packed = bulk.pack(fields(manifest))
        texts.append(text(manifest) if packed is None else packed.packed)
    blob = encode_payload(texts, specs=bulk.specs)
    assert [each.name for each in decode_payload(blob).objects] == ["a", "n1", "b", "c", "n2"]
    assert [without_nothing(each) for each in decode_manifests(blob)] == [without_nothing(each) for each in manifests]
