"""Pods of one workload in bulk: their spec is kept and read once. Pure.

Replicas have one spec but for the node they are on and the volume with their token, whose name ends at random
(``kube-api-access-x7k2p``). What is the same is a template; a packed pod names it and holds what is its own. Whatever
does not fit is not packed, and goes the plain way (``decode_object``) with the same outcome.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from framework.objects import Pod, PodStatus
from framework.objects.metadata import ObjectMeta
from framework.objects.pod import PodSpec
from framework.reading.documents import Fields
from framework.reading.gaps import MARK, PLACE, PLACEHOLDER, TOKEN, with_gaps
from framework.reading.redaction import ANNOTATIONS, annotations_dropped, is_kept

_POD: Final = msgspec.Raw(b'"Pod"')
_V1: Final = msgspec.Raw(b'"v1"')
_NULL: Final = msgspec.Raw(b"null")


class Packed(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """A pod. ``spec``: the number of its template; ``token``: what stands there in place of PLACEHOLDER, or ""."""

    spec: int
    node: str
    token: str
    metadata: msgspec.Raw
    status: msgspec.Raw
    """``null`` of a pod without one."""


class Parts(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """A packed pod as the framework reads it."""

    spec: int
    node: str
    token: str
    metadata: ObjectMeta
    status: PodStatus | None


_ALLOWED: Final = frozenset({"apiVersion", "kind", "metadata", "spec", "status"})
_FIELDS: Final = msgspec.json.Decoder(Fields)
_METADATA: Final = msgspec.json.Decoder(ObjectMeta)
_STATUS: Final = msgspec.json.Decoder(PodStatus)
_SPEC: Final = msgspec.json.Decoder(PodSpec)
_TEXT: Final = msgspec.json.Decoder(str)
_JSON: Final = msgspec.json.Encoder()
_IN_ORDER: Final = msgspec.json.Encoder(order="sorted")
_BROKEN: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


@dataclass(slots=True)
class Template:
    """``spec``: of a pod on no node, with PLACEHOLDER where a token's volume is meant (``token_volume``, or -1)."""

    spec: PodSpec
    token_volume: int

    def for_pod(self, node: str, token: str) -> PodSpec:
        if self.token_volume < 0 or not token:
            return replace(self.spec, node_name=node) if node else self.spec
        volumes = list(self.spec.volumes)
        volumes[self.token_volume] = replace(volumes[self.token_volume], name=token)
        return replace(self.spec, node_name=node, volumes=tuple(volumes))

    def pod(self, parts: Parts) -> Pod:
        return Pod(
            metadata=parts.metadata,
            spec=self.for_pod(parts.node, parts.token),
            status=_NO_STATUS if parts.status is None else parts.status,
        )


def parts_of(packed: Packed) -> Parts:
    """Raises msgspec.DecodeError."""
    status = None if packed.status == _NULL else _STATUS.decode(packed.status)
    return Parts(packed.spec, packed.node, packed.token, _METADATA.decode(packed.metadata), status)


_NO_STATUS: Final = PodStatus()


def template_of(text: bytes) -> Template:
    """Raises msgspec.DecodeError."""
    spec = _SPEC.decode(text)
    named = [i for i, volume in enumerate(spec.volumes) if volume.name == PLACEHOLDER]
    return Template(spec, named[0] if len(named) == 1 else -1)


def spec_text(template: bytes, token: str) -> bytes:
    return template.replace(PLACE, token.encode()) if token else template


def manifest_of(template: bytes, packed: Packed) -> dict[str, Any]:
    """What was packed, parsed."""
    spec = msgspec.json.decode(spec_text(template, packed.token))
    if packed.node:
        spec["nodeName"] = packed.node
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": msgspec.json.decode(packed.metadata), "spec": spec}
    if (status := msgspec.json.decode(packed.status)) is not None:
        manifest["status"] = status
    return manifest


class _Known(NamedTuple):
    number: int
    """Of the template."""
    template: Template
    written: int
    """Of the spec as it was written: several may come to one template."""
    removed: Mapping[str, int]


_Spec = tuple[_Known, str, str]
"""(what is known, what stands in its gaps: node, token)."""
Clean = Callable[[dict[str, Any], "Counter[str]"], dict[str, Any]]
_Gapped = tuple[bytes, bool, bool]
"""(a spec's text with gaps, whether a node's name was taken out of it, whether a token's)."""


class Found(NamedTuple):
    packed: Packed
    pod: Pod
    written: int
    """The same of pods whose specs were written alike."""
    removed: Mapping[str, int]
    """What is not kept of it."""


class Packer:
    """Takes pods as JSON. ``clean``: what may be kept of a manifest, and adds up what may not."""

    def __init__(
        self, clean: Clean, annotations: Collection[str], is_sound: Callable[[Pod], bool], *, in_order: bool = False
    ) -> None:
        """``annotations``: the keys of those that may be kept. ``in_order``: templates have their fields by name.

        ``is_sound`` is asked once per template, about a pod that has nothing but a spec.
        """
        self.clean = clean
        self._encoder = _IN_ORDER if in_order else _JSON
        self.annotations = annotations
        self.is_sound = is_sound
        self.specs: list[bytes] = []
        """The text of each template."""
        self._numbers: dict[bytes, int] = {}
        self._known: dict[bytes, _Known | None] = {}
        """By a hash of the spec without its node and token, before it was cleaned."""
        self._texts: dict[_Gapped, _Known | None] = {}
        """Most specs are recognised by their text and need not be parsed. None: look closely."""
        self._of_owner: dict[str, tuple[_Gapped, _Known]] = {}
        """By the uid of a pod's owner, what its last pod had: comparing two texts is quicker than hashing one."""

    def pack(self, item: Mapping[str, msgspec.Raw]) -> Found | None:
        """None: it is no pod, or one that does not fit."""
        try:
            if item["kind"] != _POD or item["apiVersion"] != _V1 or not item.keys() <= _ALLOWED:
                return None
            metadata = _METADATA.decode(item["metadata"])
            dropped = annotations_dropped(metadata, self.annotations)
            if dropped:
                kept = {key: each for key, each in metadata.annotations.items() if is_kept(key, self.annotations)}
                metadata = replace(metadata, annotations=kept)
            owners = metadata.owner_references
            found = self._spec(bytes(item["spec"]), owners[0].uid if owners else "")
            if found is None:
                return None
            known, node, token = found
            given = item.get("status", _NULL)
            status = _NO_STATUS if given is _NULL else _STATUS.decode(given)
            pod = Pod(metadata=metadata, spec=known.template.for_pod(node, token), status=status)
        except (KeyError, *_BROKEN):
            return None
        # Written again from what is read of them: what nobody reads is not kept.
        texts = (msgspec.Raw(_JSON.encode(each)) for each in (metadata, status))
        packed = Packed(known.number, node, token, next(texts), _NULL if given is _NULL else next(texts))
        return Found(packed, pod, known.written, {**known.removed, ANNOTATIONS: dropped} if dropped else known.removed)

    def _spec(self, text: bytes, owner: str) -> _Spec | None:
        """Raises what ``_BROKEN`` names."""
        gapped, node, token = with_gaps(text)
        key = gapped, bool(node), bool(token)
        before = self._of_owner.get(owner)
        if before is not None and before[0] == key:
            return before[1], node, token
        known = self._texts.get(key)
        if known is not None:
            self._of_owner[owner] = key, known
            return known, node, token
        found = self._closely(text)
        if key not in self._texts:
            fits = found is not None and found[1:] == (node, token) and _are_gaps(*key)
            self._texts[key] = found[0] if found is not None and fits else None
        return found

    def _closely(self, text: bytes) -> _Spec | None:
        fields = _FIELDS.decode(text)
        named = fields.pop("nodeName", None)
        node = "" if named is None else _TEXT.decode(named)
        if named is not None and not node:
            return None
        spec, token = _untokened(_JSON.encode(fields))
        key = hashlib.blake2b(spec, digest_size=16).digest()
        if key not in self._known:
            self._known[key] = self._template(spec, token)
        found = self._known[key]
        return None if found is None else (found, node, token)

    def _template(self, text: bytes, token: str) -> _Known | None:
        removed: Counter[str] = Counter()
        try:
            manifest = {"apiVersion": "v1", "kind": "Pod", "spec": msgspec.json.decode(text)}
            cleaned = self._encoder.encode(self.clean(manifest, removed)["spec"])
            template = template_of(cleaned)
            # The name may also stand where only the plain way puts it back.
            if token and template.for_pod("", token) != _SPEC.decode(spec_text(cleaned, token)):
                return None
        except _BROKEN:
            return None
        if not self.is_sound(Pod(spec=template.for_pod("", token))):
            return None
        # Specs may differ in nothing but what was cleaned out.
        return _Known(self.number(cleaned), template, len(self._known), dict(removed))

    def number(self, spec: bytes) -> int:
        """Of the template with this text, which has none yet if it comes from another packer."""
        if spec not in self._numbers:
            self._numbers[spec] = len(self.specs)
            self.specs.append(spec)
        return self._numbers[spec]


def _untokened(spec: bytes) -> tuple[bytes, str]:
    """(the spec with PLACEHOLDER, the name it stands for); the spec as it is when there is no such name, or two."""
    found = TOKEN.search(spec) if MARK in spec else None
    if found is None or PLACE in spec:
        return spec, ""
    name = found[0]
    without = spec.replace(name, PLACE)
    return (spec, "") if TOKEN.search(without) else (without, name.decode())


def _are_gaps(gapped: bytes, has_node: bool, has_token: bool) -> bool:
    """Whether every spec with this text has its node and its token where this one seems to have them."""
    if has_token and TOKEN.search(gapped):
        return False
    return not has_node or bytes(_FIELDS.decode(gapped)["nodeName"]) == b'""'
