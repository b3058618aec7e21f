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
from framework.parser_words import json_words, yaml_complaint
from framework.said import Content, SaidError, Words, said, words_of
from schedweb.engine.replicas import Fields
from schedweb.snapshots.simulator_export import NotAnExport, SimulatorExport, is_export, unfold_export

JSON_LIMIT: Final = 512 * 1024 * 1024
YAML_LIMIT: Final = 32 * 1024 * 1024
"""YAML is read at a few megabytes a second, and unfolds to much more than its size."""

Manifest = dict[str, Any]
_MEGA: Final = 1024 * 1024
_NAMES: Final[dict[type, Words]] = {
    str: said("a text"),
    int: said("a number"),
    float: said("a number"),
    bool: said("true or false"),
    list: said("a list"),
    type(None): said("nothing"),
}
_BETWEEN_DOCUMENTS: Final = re.compile(r"\s*(?:---\s*)*")


class FileRefused(SaidError):
    """The file as a whole cannot be read."""


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
    items = read_items(path)
    if items is None:
        yield from read_documents(path)
    else:
        for item in items:
            yield from manifests_in(item)


def read_items(path: Path) -> list[Fields] | None:
    """The items of a file that is one JSON List, in views of the file. None: ``read_documents``. Raises FileRefused.

    All of a large cluster parsed would take gigabytes.
    """
    if not is_json(path):
        return None
    check_json_size(path.stat().st_size)
    data = _mapped(path)
    try:
        whole = msgspec.json.decode(data, type=_List)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if whole.kind != "List" or not whole.items or not is_utf8(data):
        return None
    return whole.items


def manifests_in(item: Fields) -> Iterator[Manifest]:
    """Of an item: it may be a list itself. Raises FileRefused."""
    try:
        yield from _unfold({name: _parsed(text) for name, text in item.items()}, "")
    except NotAnExport as error:
        raise FileRefused(words_of(error)) from None


def read_documents(path: Path) -> Iterator[Manifest]:
    """Every object of a file of any other form, lists unfolded. Raises FileRefused."""
    size = path.stat().st_size
    documents: Iterator[Any]
    if is_json(path):
        check_json_size(size)
        documents = _read_json(path)
    else:
        _check_yaml_size(size)
        documents = _read_yaml(path.read_bytes())
    found = False
    try:
        for document in documents:
            for manifest in _unfold(document, ""):
                found = True
                yield manifest
    except NotAnExport as error:
        raise FileRefused(words_of(error)) from None
    if not found:
        raise FileRefused(said("The file holds no Kubernetes object."))


def is_json(path: Path) -> bool:
    """By its first character. Raises FileRefused for an empty file."""
    with path.open("rb") as file:
        beginning = file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    if not beginning:
        raise FileRefused(said("The file is empty."))
    return beginning[:1] in b"{["


def check_json_size(size: int) -> None:
    """Raises FileRefused."""
    if size > JSON_LIMIT:
        raise FileRefused(
            said("The file has {size} MB; JSON may have {most} MB.", size=round(size / _MEGA), most=JSON_LIMIT // _MEGA)
        )


def _check_yaml_size(size: int) -> None:
    if size > YAML_LIMIT:
        raise FileRefused(
            said(
                "The file has {size} MB; YAML may have {most} MB. Export it as JSON instead: {command}",
                size=round(size / _MEGA),
                most=YAML_LIMIT // _MEGA,
                command="kubectl get … -o json",
            )
        )


def _not_json(why: Content) -> FileRefused:
    return FileRefused(said("This is not JSON: {why}.", why=why))


def _too_deep_json() -> FileRefused:
    return FileRefused(said("This JSON is nested too deeply."))


def _read_json(path: Path) -> Iterator[Any]:
    """Documents; of a list of one kind its items one by one."""
    data = _mapped(path)
    try:
        whole = msgspec.json.decode(data, type=_AnyList)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        whole = None
    if whole is not None and whole.items is not None and whole.kind.endswith("List"):
        yield from _read_list(whole.apiVersion, whole.kind, whole.items)
        return
    if (export := _simulator_export(data)) is not None:
        yield from _read_export(export)
        return
    try:
        documents = [msgspec.json.decode(data)]
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        documents = list(_read_several_json(bytes(data), error))
    except RecursionError:
        raise _too_deep_json() from None
    for document in documents:
        yield from document if isinstance(document, list) else [document]


def _mapped(path: Path) -> memoryview:
    """The file without its byte order mark. Texts that are kept are views of it, so it takes no memory of its own."""
    with path.open("rb") as file:
        data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    return data[3:] if bytes(data[:3]) == codecs.BOM_UTF8 else data


def is_utf8(data: memoryview) -> bool:
    """Texts that nobody has parsed yet may hold anything."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), _MEGA):
            decoder.decode(data[start : start + _MEGA])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


class _List(msgspec.Struct):
    kind: str = ""
    items: list[Fields] | None = None


class _AnyList(msgspec.Struct):
    apiVersion: Any = None
    kind: str = ""
    items: list[msgspec.Raw] | None = None


def _read_list(version: Any, kind: str, items: list[msgspec.Raw]) -> Iterator[Any]:
    for item in items:
        yield {"apiVersion": version, "kind": kind, "items": [_parsed(item)]}


def _parsed(item: msgspec.Raw) -> Any:
    try:
        return msgspec.json.decode(item)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _not_json(json_words(str(error))) from None
    except RecursionError:
        raise _too_deep_json() from None


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
        raise _not_json(json_words(str(error))) from None
    except RecursionError:
        raise _too_deep_json() from None


def _read_several_json(data: bytes, first_error: Exception) -> Iterator[Any]:
    """Documents one after another, bare or with ``---`` between, as several kubectl calls append them to one file."""
    if "trailing" not in str(first_error):
        raise _not_json(json_words(str(first_error)))
    decoder = json.JSONDecoder()
    try:
        text = data.decode()
        at = 0
        while (found := _BETWEEN_DOCUMENTS.match(text, at)) and found.end() < len(text):
            document, at = decoder.raw_decode(text, found.end())
            if complaint := tree_complaint(document):
                raise _not_json(complaint)
            yield document
    except (ValueError, RecursionError) as error:
        raise _not_json(json_words(str(error))) from None


def _read_yaml(data: bytes) -> Iterator[Any]:
    try:
        for document in yaml.load_all(data, Loader=_Loader):
            if document is None:
                continue
            if complaint := tree_complaint(document):
                raise FileRefused(said("This YAML cannot be read: {why}.", why=complaint))
            yield document
    except (yaml.YAMLError, ValueError) as error:
        why, line, column = yaml_complaint(error)
        if line is None:
            raise FileRefused(said("This is not YAML: {why}.", why=why)) from None
        raise FileRefused(
            said("This is not YAML: line {line}, column {column}: {why}.", line=line, column=column, why=why)
        ) from None
    except RecursionError:
        raise FileRefused(said("This YAML is nested too deeply, or an alias contains itself.")) from None


def _unfold(document: Any, kind_of_items: str) -> Iterator[Manifest]:
    """Lists of any kind, and lists in lists; items of a typed list take their kind from it."""
    if not isinstance(document, Mapping):
        raise FileRefused(said("Expected a Kubernetes object, found {found}.", found=_name_of(document)))
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
                raise FileRefused(said("Expected a Kubernetes object in items, found {found}.", found=_name_of(item)))
        return
    yield dict(document)


def _name_of(value: Any) -> Words:
    return _NAMES.get(type(value), type(value).__name__)
