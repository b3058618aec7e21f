"""From an uploaded file to manifests: JSON or YAML; one object, a List, several documents, or the simulator's export.

Pure (reader process).
"""

from __future__ import annotations

import codecs
import json
import mmap
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
import yaml

from framework.objects.decode import tree_complaint
from schedweb.snapshots.simulator_export import NotAnExport, SimulatorExport, is_export, unfold_export

JSON_LIMIT: Final = 512 * 1024 * 1024
YAML_LIMIT: Final = 32 * 1024 * 1024
"""YAML is read at a few megabytes a second, and unfolds to much more than its size."""

Manifest = dict[str, Any]
_STRETCH: Final = 1024 * 1024
_BETWEEN_DOCUMENTS: Final = re.compile(r"\s*(?:---\s*)*")


class FileRefused(Exception):
    """The file as a whole cannot be read; the text is the sentence to show."""


class _Loader(yaml.CSafeLoader):
    """YAML as Kubernetes reads it: timestamps stay text, a repeated key is an error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.tag == "tag:yaml.org,2002:merge":
                continue
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f'key "{key.value}" already set in map', key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def read_manifests(path: Path) -> Iterator[Manifest]:
    """Every object of the file, lists unfolded. Raises FileRefused."""
    for item in read_items(path):
        yield from manifests_in(item)


def read_items(path: Path) -> Iterator[Manifest | msgspec.Raw]:
    """As ``read_manifests``, but items of a JSON List stay the text that they are there. Raises FileRefused."""
    size = path.stat().st_size
    documents: Iterator[Any]
    if is_json(path):
        _check_size(size, JSON_LIMIT, "JSON")
        documents = _read_json(path)
    else:
        _check_size(size, YAML_LIMIT, "YAML")
        documents = _read_yaml(path.read_bytes())
    found = False
    try:
        for document in documents:
            if isinstance(document, msgspec.Raw):
                found = True
                yield document
                continue
            for manifest in _unfold(document, ""):
                found = True
                yield manifest
    except NotAnExport as error:
        raise FileRefused(str(error)) from None
    if not found:
        raise FileRefused("The file holds no Kubernetes object.")


def manifests_in(item: Manifest | msgspec.Raw) -> Iterator[Manifest]:
    """Of what ``read_items`` gives: an item may be a list itself. Raises FileRefused."""
    if isinstance(item, msgspec.Raw):
        yield from _unfold({"apiVersion": "v1", "kind": "List", "items": [_parsed(item)]}, "")
    else:
        yield item


def is_json(path: Path) -> bool:
    """By its first character. Raises FileRefused for an empty file."""
    with path.open("rb") as file:
        beginning = file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    if not beginning:
        raise FileRefused("The file is empty.")
    return beginning[:1] in b"{["


def _check_size(size: int, limit: int, language: str) -> None:
    if size > limit:
        mega = 1024 * 1024
        hint = " Export it as JSON instead: kubectl get … -o json." if language == "YAML" else ""
        raise FileRefused(f"The file has {size / mega:,.0f} MB; {language} may have {limit // mega} MB.{hint}")


def _read_json(path: Path) -> Iterator[Any]:
    """Documents; of a List its items one by one, as text: all of a large cluster parsed would take gigabytes."""
    data = _mapped(path)
    try:
        whole = msgspec.json.decode(data, type=_List)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        whole = None
    if whole is not None and whole.items is not None and whole.kind.endswith("List"):
        if whole.kind == "List" and _is_utf8(data):
            yield from whole.items
        else:
            yield from _read_items(whole.apiVersion, whole.kind, whole.items)
        return
    if (export := _simulator_export(data)) is not None:
        yield from _read_export(export)
        return
    try:
        documents = [msgspec.json.decode(data)]
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        documents = list(_read_several_json(bytes(data), error))
    except RecursionError:
        raise FileRefused("This JSON is nested too deeply.") from None
    for document in documents:
        yield from document if isinstance(document, list) else [document]


def _mapped(path: Path) -> memoryview:
    """The file without its byte order mark. Texts that are kept are views of it, so it takes no memory of its own."""
    with path.open("rb") as file:
        data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    return data[3:] if bytes(data[:3]) == codecs.BOM_UTF8 else data


def _is_utf8(data: memoryview) -> bool:
    """Texts that nobody has parsed yet may hold anything."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), _STRETCH):
            decoder.decode(data[start : start + _STRETCH])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


class _List(msgspec.Struct):
    apiVersion: Any = None
    kind: str = ""
    items: list[msgspec.Raw] | None = None


def _read_items(version: Any, kind: str, items: list[msgspec.Raw]) -> Iterator[Any]:
    for item in items:
        yield {"apiVersion": version, "kind": kind, "items": [_parsed(item)]}


def _parsed(item: msgspec.Raw) -> Any:
    try:
        return msgspec.json.decode(item)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise FileRefused(f"This is not JSON: {error}.") from None
    except RecursionError:
        raise FileRefused("This JSON is nested too deeply.") from None


def _simulator_export(data: memoryview) -> SimulatorExport | None:
    try:
        found = msgspec.json.decode(data, type=SimulatorExport)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return found if found.is_one else None


def _read_export(export: SimulatorExport) -> Iterator[Any]:
    try:
        yield from export.manifests()
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise FileRefused(f"This is not JSON: {error}.") from None
    except RecursionError:
        raise FileRefused("This JSON is nested too deeply.") from None


def _read_several_json(data: bytes, first_error: Exception) -> Iterator[Any]:
    """Documents one after another, bare or with ``---`` between, as several kubectl calls append them to one file."""
    if "trailing" not in str(first_error):
        reason = "it ends in the middle" if "truncated" in str(first_error) else str(first_error)
        raise FileRefused(f"This is not JSON: {reason}.")
    decoder = json.JSONDecoder()
    try:
        text = data.decode()
        at = 0
        while (found := _BETWEEN_DOCUMENTS.match(text, at)) and found.end() < len(text):
            document, at = decoder.raw_decode(text, found.end())
            yield document
    except (ValueError, RecursionError) as error:
        raise FileRefused(f"This is not JSON: {error}.") from None


def _read_yaml(data: bytes) -> Iterator[Any]:
    try:
        for document in yaml.load_all(data, Loader=_Loader):
            if document is None:
                continue
            if complaint := tree_complaint(document):
                raise FileRefused(f"This YAML cannot be read: {complaint}.")
            yield document
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise FileRefused(f"This is not YAML: {place}{error.problem or error.context}.") from None
    except (yaml.YAMLError, UnicodeDecodeError, ValueError) as error:
        raise FileRefused(f"This is not YAML: {error}.") from None
    except RecursionError:
        raise FileRefused("This YAML is nested too deeply, or an alias contains itself.") from None


def _unfold(document: Any, kind_of_items: str) -> Iterator[Manifest]:
    """Lists of any kind, and lists in lists; items of a typed list take their kind from it."""
    if not isinstance(document, Mapping):
        raise FileRefused(f"Expected a Kubernetes object, found {_name_of(document)}.")
    if is_export(document):
        for item in unfold_export(document):
            yield from _unfold(item, "")
        return
    kind = document.get("kind")
    items = document.get("items")
    if isinstance(kind, str) and kind.endswith("List") and isinstance(items, list):
        version = document.get("apiVersion")
        for item in items:
            inherited = {} if kind == "List" else {"apiVersion": version, "kind": kind.removesuffix("List")}
            if isinstance(item, Mapping):
                yield from _unfold({**inherited, **item}, kind)
            else:
                raise FileRefused(f"Expected a Kubernetes object in items, found {_name_of(item)}.")
        return
    yield dict(document)


def _name_of(value: Any) -> str:
    names = {str: "a text", int: "a number", float: "a number", bool: "true or false", list: "a list"}
    return names.get(type(value), "nothing" if value is None else type(value).__name__)
