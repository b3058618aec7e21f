"""From bytes to manifests: JSON or YAML; one object, a List, several documents, or the simulator's export.

Everybody who reads manifests reads them here: an import, a pasted text, the command line.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
import yaml

from framework.objects.decode import tree_complaint
from framework.parser_words import json_words, yaml_complaint
from framework.reading.density import density_complaint
from framework.reading.repeated_keys import repeated_key
from framework.reading.simulator_export import NotAnExport, SimulatorExport, is_export, unfold_export
from framework.reading.something_else import NOT_RENDERED, bad_characters, is_template, line_beside, something_else
from framework.reading.yaml_documents import read_yaml
from framework.sentences import Content, SentenceError, Words, sentence, words_of

JSON_LIMIT: Final = 512 * 1024 * 1024
YAML_LIMIT: Final = 32 * 1024 * 1024
"""YAML is read at a few megabytes a second."""

Manifest = dict[str, Any]
Fields = dict[str, msgspec.Raw]
"""An object of JSON of which only the names of its fields were read."""
Data = memoryview | bytes
_MEGA: Final = 1024 * 1024
_NAMES: Final[dict[type, Words]] = {
    str: sentence("a text"),
    int: sentence("a number"),
    float: sentence("a number"),
    bool: sentence("true or false"),
    list: sentence("a list"),
    type(None): sentence("nothing"),
}
_LOOKED_AT: Final = 64 * 1024
"""Bytes at the beginning that tell what a file is; an even number, as UTF-16 has them."""
_FLOW_LIMIT: Final = 2 * _MEGA
"""Nobody writes more by hand; YAML is read slowly, and what is left over is broken JSON."""
_SHOWN: Final = 80
_SEPARATOR: Final = re.compile(rb"(?m)^---\s")
_BETWEEN_DOCUMENTS: Final = re.compile(r"\s*(?:---\s*)*")


_MARK_WITHIN: Final = re.compile(rb"(?m)^" + codecs.BOM_UTF8)
"""In the middle of a file that was joined from several."""


class FileRefused(SentenceError):
    """The file as a whole cannot be read. ``line`` and ``column`` count from one; None where no place is known."""

    def __init__(self, words: Words, line: int | None = None, column: int | None = None) -> None:
        super().__init__(words)
        self.line = line
        self.column = column


def as_utf8(data: Data, errors: str = "strict") -> Data:
    """Without its byte order mark. UTF-16 is what PowerShell writes. Raises FileRefused."""
    if bytes(data[:2]) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        try:
            return bytes(data).decode("utf-16", errors).encode()
        except UnicodeError:
            raise FileRefused(sentence("The file is neither UTF-8 nor UTF-16 text.")) from None
    return data[3:] if bytes(data[:3]) == codecs.BOM_UTF8 else data


def read_items(data: Data) -> list[Fields] | None:
    """The items of a file that is one JSON List, in views of ``data``. None: ``read_documents``. Raises FileRefused.

    All of a large cluster parsed would take gigabytes.
    """
    if not is_json(data):
        return None
    check_json_size(len(data))
    data = as_utf8(data)
    check_density(data)
    _check_keys(data)
    try:
        whole = msgspec.json.decode(data, type=_List)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if whole.kind != "List" or not whole.items or not is_utf8(memoryview(data)):
        return None
    return whole.items


def read_list(data: Data) -> list[msgspec.Raw] | None:
    """As ``read_items``, each item as its text."""
    items = read_items(data)
    if items is None:
        return None
    return msgspec.json.decode(as_utf8(data), type=_RawList).items


def manifests_in(item: Fields) -> Iterator[Manifest]:
    """Of an item: it may be a list itself. Raises FileRefused."""
    try:
        yield from _unfold({name: _parsed(text) for name, text in item.items()}, "")
    except NotAnExport as error:
        raise FileRefused(words_of(error)) from None


def read_documents(data: Data) -> Iterator[Manifest]:
    """Every object of a file of any form, lists unfolded. Raises FileRefused."""
    documents: Iterator[Any]
    beginning = as_utf8(bytes(data[:_LOOKED_AT]), "ignore")
    if is_json(data):
        check_json_size(len(data))
        data = as_utf8(data)
        check_density(data)
        _check_keys(data)
        documents = _read_json(data)
    else:
        if found := something_else(bytes(beginning)):
            raise FileRefused(found)
        _check_yaml_size(len(data))
        data = as_utf8(data)
        check_density(data)
        documents = _read_yaml(bytes(data))
    is_empty = True
    try:
        for document in documents:
            for manifest in _unfold(document, ""):
                is_empty = False
                yield manifest
    except NotAnExport as error:
        raise FileRefused(words_of(error)) from None
    if is_empty:
        raise FileRefused(sentence("The file holds no Kubernetes object."))


def is_json(data: Data) -> bool:
    """By its first character. Raises FileRefused for an empty file."""
    beginning = bytes(as_utf8(bytes(data[:_LOOKED_AT]), "ignore")).lstrip(b" \t\r\n")
    if not beginning:
        raise FileRefused(sentence("The file is empty."))
    return beginning[:1] in b"{[" and beginning[1:2] not in (b"{", b"\0")


def check_json_size(size: int) -> None:
    """Raises FileRefused."""
    if size > JSON_LIMIT:
        raise FileRefused(
            sentence(
                "The file has {size} MB; JSON may have {most} MB.", size=round(size / _MEGA), most=JSON_LIMIT // _MEGA
            )
        )


def check_density(data: Data) -> None:
    """Raises FileRefused for what would take far more memory than it has bytes."""
    if complaint := density_complaint(data):
        raise FileRefused(complaint)


def _check_keys(data: Data) -> None:
    """Of the first document. Raises FileRefused."""
    _check_keys_at(str(data, errors="replace"), 0)


def has_repeated_key(data: Data) -> bool:
    """Whether a key stands twice in an object of the JSON document."""
    return repeated_key(str(data, errors="replace")) is not None


def _check_keys_at(text: str, start: int) -> None:
    if (found := repeated_key(text, start)) is None:
        return
    words = sentence(
        "This JSON is not read: line {line}, column {column}: key {key} is already set in map, in line {first} "
        "({error}).",
        line=found.line,
        column=found.column,
        key=json.dumps(found.key, ensure_ascii=False),
        first=found.first,
        error=f"strict decoding error: duplicate field {json.dumps(found.field, ensure_ascii=False)}",
    )
    raise FileRefused(words, found.line, found.column)


def _check_yaml_size(size: int) -> None:
    if size > YAML_LIMIT:
        raise FileRefused(
            sentence(
                "The file has {size} MB; YAML may have {most} MB. Export it as JSON instead: {command}",
                size=round(size / _MEGA),
                most=YAML_LIMIT // _MEGA,
                command="kubectl get … -o json",
            )
        )


def _not_json(why: Content) -> FileRefused:
    return FileRefused(sentence("This is not JSON: {why}.", why=why))


def _too_deep_json() -> FileRefused:
    return FileRefused(sentence("This JSON is nested too deeply."))


def _read_json(data: Data) -> Iterator[Any]:
    """Documents; of a list of one kind its items one by one."""
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
        documents = list(_read_several(bytes(data), error))
    except RecursionError:
        raise _too_deep_json() from None
    for document in documents:
        yield from document if isinstance(document, list) else [document]


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


class _RawList(msgspec.Struct):
    items: list[msgspec.Raw] = []


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


def _simulator_export(data: Data) -> SimulatorExport | None:
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


def _read_several(data: bytes, first_error: Exception) -> Iterator[Any]:
    """Some of the documents may be YAML, in whose flow style an object begins with a brace, too."""
    try:
        yield from list(_read_several_json(data, first_error))
    except FileRefused:
        if _SEPARATOR.search(data) and len(data) <= YAML_LIMIT:
            yield from _read_yaml(data)
        elif (documents := _flow_style(data)) is not None:
            yield from documents
        else:
            raise


def _flow_style(data: bytes) -> list[Any] | None:
    """Of what is no JSON; None where it holds no Kubernetes objects: what is wrong with it as JSON tells more."""
    if len(data) > _FLOW_LIMIT:
        return None
    try:
        documents = list(_read_yaml(data))
    except FileRefused:
        return None
    is_whole = bool(documents) and all(isinstance(one, Mapping) and "kind" in one for one in documents)
    return documents if is_whole else None


def _read_several_json(data: bytes, first_error: Exception) -> Iterator[Any]:
    """Documents one after another, bare or with ``---`` between, as several kubectl calls append them to one file."""
    if "trailing" not in str(first_error):
        if characters := bad_characters(data):
            raise FileRefused(characters)
        raise _unreadable(data) or _not_json(json_words(str(first_error)))
    decoder = json.JSONDecoder()
    try:
        text = data.decode()
        at = 0
        while (found := _BETWEEN_DOCUMENTS.match(text, at)) and found.end() < len(text):
            _check_keys_at(text, found.end())
            document, at = decoder.raw_decode(text, found.end())
            if complaint := tree_complaint(document):
                raise _not_json(complaint)
            yield document
    except (ValueError, RecursionError) as error:
        raise _unreadable(data) or _not_json(json_words(str(error))) from None


def _unreadable(data: bytes) -> FileRefused | None:
    """Of a text that is neither JSON nor YAML: what is known of why."""
    if is_template(data):
        return FileRefused(NOT_RENDERED)
    found = line_beside(data)
    return None if found is None else FileRefused(found)


def _read_yaml(data: bytes) -> Iterator[Any]:
    try:
        for document in read_yaml(_MARK_WITHIN.sub(b"", data)):
            if document is None:
                continue
            if complaint := tree_complaint(document):
                raise FileRefused(sentence("This YAML cannot be read: {why}.", why=complaint))
            yield document
    except (yaml.YAMLError, ValueError) as error:
        if known := _unreadable(data):
            raise known from None
        why, line, column = yaml_complaint(error)
        if line is None:
            raise FileRefused(sentence("This is not YAML: {why}.", why=why)) from None
        words = sentence("This is not YAML: line {line}, column {column}: {why}.", line=line, column=column, why=why)
        raise FileRefused(words, line, column) from None
    except RecursionError:
        raise FileRefused(sentence("This YAML is nested too deeply, or an alias contains itself.")) from None


def _unfold(document: Any, kind_of_items: str) -> Iterator[Manifest]:
    """Lists of any kind, and lists in lists; items of a typed list take their kind from it."""
    if isinstance(document, str):
        found = document.partition("\n")[0][:_SHOWN]
        raise FileRefused(sentence("Expected a Kubernetes object, found a text: {text}", text=found))
    if not isinstance(document, Mapping):
        raise FileRefused(sentence("Expected a Kubernetes object, found {found}.", found=_name_of(document)))
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
                raise FileRefused(
                    sentence("Expected a Kubernetes object in items, found {found}.", found=_name_of(item))
                )
        return
    yield dict(document)


def _name_of(value: Any) -> Words:
    return _NAMES.get(type(value), type(value).__name__)
