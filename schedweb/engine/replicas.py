"""Pods of one workload in bulk: their spec is kept and read once. Pure.

Replicas have one spec but for the node they are on and the volume with their token, whose name ends at random
(``kube-api-access-x7k2p``). What is the same is a template; a packed pod names it and holds what is its own. Whatever
does not fit is not packed, and goes the plain way (``decode_object``) with the same outcome.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from framework.objects import Pod, PodStatus
from framework.objects.metadata import ObjectMeta
from framework.objects.pod import PodSpec

PLACEHOLDER: Final = "kube-api-access-*****"
"""Stands in a template for the name of the token's volume; no object may be called so."""
_PLACE: Final = PLACEHOLDER.encode()
_TOKEN: Final = re.compile(rb"kube-api-access-[a-z0-9]{5}(?![a-z0-9-])")
_MARK: Final = b"kube-api-access-"


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


class _Item(msgspec.Struct, rename="camel", forbid_unknown_fields=True, gc=False):
    api_version: str
    kind: str
    metadata: msgspec.Raw
    spec: msgspec.Raw
    status: msgspec.Raw = _NULL


_ITEM: Final = msgspec.json.Decoder(_Item)
_FIELDS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_METADATA: Final = msgspec.json.Decoder(ObjectMeta)
_STATUS: Final = msgspec.json.Decoder(PodStatus)
_SPEC: Final = msgspec.json.Decoder(PodSpec)
_TEXT: Final = msgspec.json.Decoder(str)
_JSON: Final = msgspec.json.Encoder()
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


_NO_STATUS: Final = PodStatus()


def template_of(text: bytes) -> Template:
    """Raises msgspec.DecodeError."""
    spec = _SPEC.decode(text)
    named = [i for i, volume in enumerate(spec.volumes) if volume.name == PLACEHOLDER]
    return Template(spec, named[0] if len(named) == 1 else -1)


def spec_text(template: bytes, token: str) -> bytes:
    return template.replace(_PLACE, token.encode()) if token else template


def manifest_of(template: bytes, packed: Packed) -> dict[str, Any]:
    """What was packed, parsed."""
    spec = msgspec.json.decode(spec_text(template, packed.token))
    if packed.node:
        spec["nodeName"] = packed.node
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": msgspec.json.decode(packed.metadata), "spec": spec}
    if (status := msgspec.json.decode(packed.status)) is not None:
        manifest["status"] = status
    return manifest


class Packer:
    """Takes pods as JSON. ``clean``: what must not be kept is taken out of a manifest by it, in place."""

    def __init__(self, clean: Callable[[dict[str, Any]], object], is_sound: Callable[[Pod], bool]) -> None:
        """``is_sound`` is asked once per template, about a pod that has nothing but a spec."""
        self.clean = clean
        self.is_sound = is_sound
        self.specs: list[bytes] = []
        """The text of each template."""
        self._known: dict[bytes, tuple[int, Template] | None] = {}

    def pack(self, text: msgspec.Raw) -> tuple[Packed, Pod] | None:
        """None: it is no pod, or one that does not fit."""
        try:
            item = _ITEM.decode(text)
            if item.kind != "Pod" or item.api_version != "v1":
                return None
            metadata = self._metadata(item.metadata)
            fields = _FIELDS.decode(item.spec)
            named = fields.pop("nodeName", None)
            node = "" if named is None else _TEXT.decode(named)
            own, status = _METADATA.decode(metadata), item.status
            parsed = _NO_STATUS if status is _NULL else _STATUS.decode(status)
        except _BROKEN:
            return None
        if named is not None and not node:
            return None
        spec, token = _untokened(_JSON.encode(fields))
        if spec not in self._known:
            self._known[spec] = self._template(spec, token)
        found = self._known[spec]
        if found is None:
            return None
        number, template = found
        pod = Pod(metadata=own, spec=template.for_pod(node, token), status=parsed)
        return Packed(number, node, token, metadata, status), pod

    def _metadata(self, text: msgspec.Raw) -> msgspec.Raw:
        """Parsed only when there may be something in it that must not be kept (a name may be written in escapes)."""
        plain = bytes(text)
        if b"managedFields" not in plain and b"last-applied" not in plain and b"\\u" not in plain:
            return text
        manifest = {"metadata": msgspec.json.decode(plain)}
        self.clean(manifest)
        return msgspec.Raw(_JSON.encode(manifest["metadata"]))

    def _template(self, text: bytes, token: str) -> tuple[int, Template] | None:
        try:
            manifest = {"kind": "Pod", "spec": msgspec.json.decode(text)}
            self.clean(manifest)
            cleaned = _JSON.encode(manifest["spec"])
            template = template_of(cleaned)
            # The name may also stand where only the plain way puts it back.
            if token and template.for_pod("", token) != _SPEC.decode(spec_text(cleaned, token)):
                return None
        except _BROKEN:
            return None
        if not self.is_sound(Pod(spec=template.for_pod("", token))):
            return None
        self.specs.append(cleaned)
        return len(self.specs) - 1, template


def _untokened(spec: bytes) -> tuple[bytes, str]:
    """(the spec with PLACEHOLDER, the name it stands for); the spec as it is when there is no such name, or two."""
    found = _TOKEN.search(spec) if _MARK in spec else None
    if found is None or _PLACE in spec:
        return spec, ""
    name = found[0]
    without = spec.replace(name, _PLACE)
    return (spec, "") if _TOKEN.search(without) else (without, name.decode())
