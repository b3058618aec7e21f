"""From manifests to objects, and back.

JSON goes straight into Structs (no dictionaries in between), so 150,000 pods take seconds; what YAML gives is
converted. Lists of any kind are unfolded. Errors name object and field.

While loading very much, the caller may want to switch the garbage collector off (``gc.disable()`` … ``gc.freeze()``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from typing import Any, Final, TypeVar

import msgspec

from framework.objects.errors import ObjectError
from framework.objects.field_errors import FieldError
from framework.objects.kinds import TYPED_KINDS, typed_kind
from framework.objects.metadata import KubeObject, KubernetesObject, ObjectMeta, Unstructured
from framework.objects.older_versions import as_current
from framework.sentences import SentenceError, Words, sentence

T = TypeVar("T")
JsonText = bytes | bytearray | memoryview | str


class _Head(msgspec.Struct, rename="camel", gc=False):
    """Enough of a manifest to know what it is."""

    api_version: str = ""
    kind: str = ""


class _Envelope(_Head):
    items: list[msgspec.Raw] | None = None


_HEAD: Final = msgspec.json.Decoder(_Head)
_DICTIONARY: Final = msgspec.json.Decoder(dict[str, Any])
_ENVELOPE: Final = msgspec.json.Decoder(_Envelope)
_DECODERS: Final[dict[type[KubernetesObject], msgspec.json.Decoder[Any]]] = {
    kind: msgspec.json.Decoder(kind) for kind in TYPED_KINDS
}
# How kubectl and the API server begin an object; anything else is found out by parsing.
_BEGINNING: Final = re.compile(rb'\s*\{\s*"apiVersion"\s*:\s*"([^"\\]*)"\s*,\s*"kind"\s*:\s*"([^"\\]*)"\s*[,}]')


def iter_json(data: JsonText) -> Iterator[KubeObject]:
    """The objects of one JSON document: an object, or a list of them. Raises ObjectError."""
    envelope = _parsed(_ENVELOPE, data)
    if envelope.items is None or not envelope.kind.endswith("List"):
        yield _decode_raw(data, envelope.api_version, envelope.kind)
        return
    inherited = _item_type(envelope.api_version, envelope.kind)
    for index, raw in enumerate(envelope.items):
        view = memoryview(raw)
        api_version, kind = _peek(view, f"items[{index}]")
        if kind.endswith("List"):
            yield from iter_json(view)
        else:
            yield _decode_raw(view, api_version or inherited[0], kind or inherited[1])


def decode_json(data: JsonText) -> list[KubeObject]:
    return list(iter_json(data))


def decode_object(data: JsonText) -> KubeObject:
    """One object from JSON, as ``decode_manifest`` reads it from what was parsed. Raises ObjectError."""
    view = memoryview(data.encode() if isinstance(data, str) else data)
    api_version, kind = _peek(view, "")
    if typed_kind(api_version, kind) is None:
        manifest: dict[str, Any] = _parsed(_DICTIONARY, view)
        return decode_manifest(manifest)
    return _decode_raw(view, api_version, kind)


def decode_manifest(manifest: Mapping[str, Any]) -> KubeObject:
    """One object from parsed JSON or YAML. Raises ObjectError, also for a list."""
    api_version, kind = _type_meta(manifest)
    if "items" in manifest and kind.endswith("List"):
        raise ObjectError(kind, "", (FieldError("", "a list where one object is expected"),))
    return _convert(manifest, api_version, kind)


def convert_manifest(manifest: Mapping[str, Any], into: type[T]) -> T:
    """The fields of a manifest that ``into`` names, whatever its kind. Raises ObjectError."""
    return _to_struct(_without_nulls(manifest), into, manifest, str(manifest.get("kind") or ""))


def decode_manifests(documents: Iterable[object]) -> Iterator[KubeObject]:
    """Documents as a YAML parser yields them: empty ones are skipped, lists unfolded. Raises ObjectError."""
    for document in documents:
        if document is None:
            continue
        if complaint := tree_complaint(document):
            raise ObjectError("", "", (FieldError("", str(complaint)),))
        yield from _unfold(document, ("", ""))


def text_complaint(text: str) -> Words:
    """What escapes can put into a text, and nobody can store or write again; "" for any other text."""
    if "\0" in text:
        return sentence("a zero byte is no character")
    if not text.isascii() and HALF_OF_A_PAIR.search(text):
        return sentence("half of a surrogate pair is no character")
    return ""


def tree_complaint(document: object) -> Words:
    """Why a parsed document must not be walked, or stored; "" when it may. Aliases can make it endless, or enormous.

    Every container and every long text is counted once and its size remembered, so this costs no more than what was
    parsed. Sizes are characters and values.
    """
    sizes: dict[int, int] = {}
    texts: set[int] = set()
    written = 0

    def size_of_text(text: str) -> int:
        nonlocal written
        check(text)
        size = 1 + len(text)
        # The short ones are counted each time: parsers share equal ones by themselves.
        if size < _LONG_TEXT or id(text) not in texts:
            written += size
            if size >= _LONG_TEXT:
                texts.add(id(text))
        return size

    def size_of(value: Mapping[Any, Any] | list[Any], depth: int) -> int:
        nonlocal written
        if (known := sizes.get(id(value))) is not None:
            if known == 0:
                raise _NotATreeError(sentence("an alias that contains itself"))
            return known
        if depth > _DEEPEST:
            raise _NotATreeError(sentence("nested more than {levels} levels deep", levels=_DEEPEST))
        sizes[id(value)] = 0
        total = 0
        for each in value.values() if isinstance(value, Mapping) else value:
            if isinstance(each, str):
                total += size_of_text(each)
            elif isinstance(each, (Mapping, list)):
                total += size_of(each, depth + 1)
        own = 1 + len(value)
        if isinstance(value, Mapping):
            for key in value:
                check(str(key))
                own += len(str(key))
        written += own
        total += own
        sizes[id(value)] = total
        return total

    def check(text: str) -> None:
        if complaint := text_complaint(text):
            raise _NotATreeError(complaint)

    try:
        if isinstance(document, str):
            check(document)
        elif isinstance(document, (Mapping, list)):
            expanded = size_of(document, 0)
            return expansion_complaint(expanded, written)
    except _NotATreeError as error:
        return error.words
    return ""


def expansion_complaint(expanded: int, written: int) -> Words:
    """The budget of aliases, for whatever is read from YAML: characters after and before; "" when they keep to it."""
    if expanded > _EXPANDED_BASE and expanded > _MOST_EXPANDED * written:
        return sentence("its aliases expand it to more than {times} times its size", times=_MOST_EXPANDED)
    return ""


class _NotATreeError(SentenceError):
    """Raised inside of the walk only."""


def _unfold(document: object, inherited: tuple[str, str]) -> Iterator[KubeObject]:
    if not isinstance(document, Mapping):
        raise ObjectError("", "", (FieldError("", f"expected an object, got {_type_name(document)}"),))
    api_version, kind = _type_meta(document)
    items = document.get("items")
    if kind.endswith("List") and isinstance(items, list):
        for item in items:
            yield from _unfold(item, _item_type(api_version, kind))
        return
    yield _convert(document, api_version or inherited[0], kind or inherited[1])


def _type_meta(manifest: Mapping[str, Any]) -> tuple[str, str]:
    api_version, kind = manifest.get("apiVersion") or "", manifest.get("kind") or ""
    if not isinstance(api_version, str) or not isinstance(kind, str):
        raise ObjectError("", _key(manifest), (FieldError("", "apiVersion and kind must be strings"),))
    return api_version, kind


def _item_type(api_version: str, kind: str) -> tuple[str, str]:
    """Items of a PodList need not say that they are Pods; those of a List must."""
    return ("", "") if kind == "List" else (api_version, kind.removesuffix("List"))


def _peek(data: memoryview, path: str) -> tuple[str, str]:
    if found := _BEGINNING.match(bytes(data[:256])):
        return found[1].decode(errors="replace"), found[2].decode(errors="replace")
    head = _parsed(_HEAD, data, path)
    return head.api_version, head.kind


def _parsed(decoder: msgspec.json.Decoder[T], data: JsonText, path: str = "") -> T:
    try:
        return decoder.decode(data)
    except msgspec.ValidationError as error:
        found = _translated(str(error), None)
        at = ".".join(part for part in (path, found.path) if part)
        raise ObjectError("", "", (FieldError(at, found.detail),)) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ObjectError("", "", (FieldError(path, f"not JSON: {error}"),)) from error
    except RecursionError as error:
        raise ObjectError("", "", (FieldError(path, "nested too deeply"),)) from error


def _decode_raw(data: JsonText, api_version: str, kind: str) -> KubeObject:
    known = typed_kind(api_version, kind)
    if known is not None:
        try:
            decoded: KubernetesObject = _DECODERS[known].decode(data)
            return decoded
        except (msgspec.DecodeError, UnicodeDecodeError):
            pass  # taken apart below: the slow way accepts null where Go does, and finds the right words
    manifest: dict[str, Any] = _parsed(_DICTIONARY, data)
    return _convert(manifest, api_version, kind)


def _convert(manifest: Mapping[str, Any], api_version: str, kind: str) -> KubeObject:
    if not kind:
        raise ObjectError("", _key(manifest), (FieldError("", "Object 'Kind' is missing"),))
    if not api_version:
        raise ObjectError(kind, _key(manifest), (FieldError("", "Object 'apiVersion' is missing"),))
    if (newer := as_current(manifest, api_version, kind)) is not None:
        manifest, api_version = newer, str(newer["apiVersion"])
    known = typed_kind(api_version, kind)
    if known is not None:
        return _to_struct(_without_nulls(manifest), known, manifest, kind)
    metadata = manifest.get("metadata") or {}
    meta = _to_struct({"metadata": _without_nulls(metadata)}, _OnlyMetadata, manifest, kind).metadata
    raw = {**manifest, "apiVersion": api_version, "kind": kind}
    return Unstructured(api_version=api_version, kind=kind, metadata=meta, raw=raw)


class _OnlyMetadata(msgspec.Struct):
    metadata: ObjectMeta


# Go reads null in a map of strings as "", in a map of quantities as 0; anywhere else it means "absent".
_STRING_MAPS: Final = frozenset(("labels", "annotations", "matchLabels", "nodeSelector"))
_QUANTITY_MAPS: Final = frozenset(("requests", "limits", "capacity", "allocatable", "overhead", "podFixed"))
_DEEPEST: Final = 64
_LONG_TEXT: Final = 64
_MOST_EXPANDED: Final = 10
"""Times the size of what was written, where that is more than ``_EXPANDED_BASE``."""
_EXPANDED_BASE: Final = 1_000_000
HALF_OF_A_PAIR: Final = re.compile("[\ud800-\udfff]")
"""A surrogate alone: no character, though escapes can put it into a text."""


def _without_nulls(value: Any, name: str = "", depth: int = 0) -> Any:
    if isinstance(value, Mapping):
        if depth > _DEEPEST:
            raise ObjectError("", "", (FieldError("", f"nested more than {_DEEPEST} levels deep"),))
        # A CSINode's allocatable is no map of quantities, but an object with one number.
        if (name in _STRING_MAPS or name in _QUANTITY_MAPS) and value.keys() != {"count"}:
            filler = "" if name in _STRING_MAPS else "0"
            return {key: filler if inner is None else inner for key, inner in value.items()}
        return {key: _without_nulls(inner, key, depth + 1) for key, inner in value.items() if inner is not None}
    if isinstance(value, (list, tuple)):
        if depth > _DEEPEST:
            raise ObjectError("", "", (FieldError("", f"nested more than {_DEEPEST} levels deep"),))
        return [_without_nulls(inner, name, depth + 1) for inner in value]
    # YAML parsers turn a bare 2026-01-01T00:00:00Z into a date; Kubernetes' own keeps the text.
    return _as_text(value) if isinstance(value, date) else value


def _as_text(moment: date) -> str:
    text = moment.isoformat()
    if not isinstance(moment, datetime):
        return text
    return text.replace("+00:00", "Z") if moment.tzinfo else f"{text}Z"


def _to_struct(value: Any, into: type[T], manifest: Mapping[str, Any], kind: str) -> T:
    try:
        return msgspec.convert(value, into)
    except msgspec.ValidationError as error:
        raise ObjectError(kind, _key(manifest), (_translated(str(error), value),)) from error


_WHERE: Final = re.compile(r"(?P<what>.*?) - at `(?P<key>key` in `)?\$(?P<path>[^`]*)`", re.DOTALL)
_EXPECTED: Final = re.compile(r"Expected `(?P<wanted>[^`]*)`, got `(?P<got>[^`]*)`")
_STEP: Final = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\[(\.\.\.)\]")


def _translated(message: str, value: Any) -> FieldError:
    """msgspec's words in ours: the path without ``$``, with the offending key where msgspec writes ``[...]``."""
    found = _WHERE.fullmatch(message)
    if found is None:
        return FieldError("", _plain(message))
    expected = _EXPECTED.fullmatch(found["what"])
    wanted = expected["wanted"] if expected else ""
    steps = list(_STEP.finditer(found["path"]))
    path = ""
    for number, step in enumerate(steps):
        if step[1] is not None:
            path += f".{step[1]}"
            value = value.get(step[1]) if isinstance(value, Mapping) else None
        elif step[2] is not None:
            path += f"[{step[2]}]"
            value = value[int(step[2])] if isinstance(value, (list, tuple)) and int(step[2]) < len(value) else None
        else:
            key = _offender(value, wanted) if number == len(steps) - 1 and not found["key"] else None
            path += f"[{key}]" if key is not None else ""
            value = value.get(key) if isinstance(value, Mapping) else None
    shown = f" {value!r}" if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""
    what = _plain(found["what"])
    return FieldError(path.removeprefix("."), f"a key: {what}" if found["key"] else what + shown)


def _offender(value: Any, wanted: str) -> object:
    allowed: tuple[type, ...] = (str, int, float) if "int" in wanted else (str,)
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(inner, allowed) or isinstance(inner, bool):
                return key
    return None


_WORDS: Final = {
    "int": "a whole number",
    "float": "a number",
    "str": "a string",
    "bool": "true or false",
    "object": "an object",
    "array": "a list",
}


def _plain(message: str) -> str:
    expected = _EXPECTED.fullmatch(message)
    if expected is None:
        return message[:1].lower() + message[1:]
    wanted = [_WORDS.get(word, word) for word in expected["wanted"].split(" | ") if word != "null"]
    return f"expected {' or '.join(wanted)}, got {_WORDS.get(expected['got'], expected['got'])}"


def _type_name(value: object) -> str:
    if value is None:
        return "null"
    names = {str: "a string", bool: "true or false", int: "a number", float: "a number", list: "a list"}
    return names.get(type(value), type(value).__name__)


def _key(manifest: Mapping[str, Any]) -> str:
    metadata = manifest.get("metadata")
    if not isinstance(metadata, Mapping):
        return ""
    namespace, name = metadata.get("namespace"), metadata.get("name") or metadata.get("generateName")
    return "/".join(part for part in (namespace, name) if isinstance(part, str) and part)


def to_manifest(obj: KubeObject) -> dict[str, Any]:
    """Back to what it came from; of a typed kind only the fields we type."""
    if isinstance(obj, Unstructured):
        return dict(obj.raw)
    # Through JSON, because to_builtins leaves tuples, which YAML writers choke on.
    fields: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(obj))
    if fields.get("status") == {}:  # msgspec leaves out the default itself; a copy, as pickle makes it, is another one
        del fields["status"]
    return {"apiVersion": obj.api_version, "kind": obj.kind, **fields}


def encode_json(obj: KubeObject) -> bytes:
    return msgspec.json.encode(to_manifest(obj))
