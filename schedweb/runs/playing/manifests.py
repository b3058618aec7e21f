"""Manifests of commands: what somebody typed, read as an import reads it, with the place of what is wrong in it."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec.structs import replace

from framework.configuration.source import Node as SourceNode
from framework.configuration.source import SourceError, read_source
from framework.objects import Node, Pod
from framework.objects.catalogue import LoadMetrics
from framework.objects.decode import decode_manifest, to_manifest
from framework.objects.defaults import with_defaults
from framework.objects.errors import ObjectError
from framework.objects.field_errors import FieldError
from framework.objects.metadata import KubeObject, KubernetesObject
from framework.objects.validation import check_object
from framework.reading.catalogue_shapes import EDITED_KINDS, catalogue_unknown_fields
from framework.reading.documents import FileRefused, read_documents
from framework.reading.key_like import KeySearch
from framework.reading.unknown_fields import Sightings, unknown_fields
from schedweb.api.errors import ApiError
from schedweb.runs.objects.kinds import of_kind
from schedweb.sentences import say, translated
from schedweb.snapshots.redaction import redact

MAX_MANIFEST: Final = 1_500_000
MOST_PROBLEMS: Final = 50
"""That are told of one manifest."""
MOST_PLACED: Final = 200_000
"""Characters of a text in which lines are looked for."""
NAMED: Final = ("kind", "namespace", "name")
_STEP: Final = re.compile(r"\[([^\]]*)\]|([^.\[\]]+)")


def refused(message: str, path: str = "") -> ApiError:
    return ApiError(message, code="invalid_command", path=path or None)


def manifest_error(message: str, line: int | None = None, column: int | None = None) -> ApiError:
    return ApiError(message, code="invalid_manifest", status_code=422, path="manifest", line=line, column=column)


def read_manifest(text: str) -> dict[str, Any]:
    """One object from YAML or JSON text, read as an import reads it."""
    if len(text) > MAX_MANIFEST:
        raise manifest_error(say("The manifest is larger than {max_manifest:,} characters.", max_manifest=MAX_MANIFEST))
    try:
        documents = list(read_documents(text.encode()))
    except FileRefused as error:
        raise manifest_error(translated(error.words), error.line, error.column) from None
    if len(documents) != 1:
        raise manifest_error(say("One object is expected, not {documents}.", documents=len(documents)))
    try:
        json.dumps(documents[0], allow_nan=False, default=str)
    except ValueError:
        # As kubectl and the API server: YAML has numbers (.nan, .inf) that JSON has not.
        raise manifest_error("error converting YAML to JSON: json: unsupported value: NaN or Inf") from None
    return documents[0]


def warnings_of(body: object) -> list[str]:
    """Of a command that was taken: fields of the object that it adds or changes which no API server knows."""
    given = body.get("manifest") if isinstance(body, dict) else None
    if not isinstance(given, str):
        return []
    try:
        manifest = read_manifest(given)
    except ApiError:
        return []  # Taken was the command that came with this client_id before, not this text.
    metadata = manifest.get("metadata") or {}
    sightings = Sightings()
    name = metadata.get("name") or metadata.get("generateName", "")
    is_change = isinstance(body, dict) and body.get("type") == "change"
    further = catalogue_unknown_fields(manifest) if is_change else []
    sightings.take(manifest.get("kind", ""), name, [*unknown_fields(manifest), *further])
    keys = KeySearch()
    keys.look(str(manifest.get("kind", "")), decode_manifest(manifest).metadata)
    return [translated(sentence) for sentence in [*keys.likes.sentences(), *sightings.sentences()]]


def typed_manifest(given: object, kind: type[Pod] | type[Node]) -> dict[str, Any]:
    """The manifest as plain JSON, of the kind that the command adds. The engine admits it later, in its cluster."""
    if not isinstance(given, str):
        raise refused(say("manifest must be the text of one object."), "manifest")
    try:
        decoded = decode_manifest(read_manifest(given))
    except ObjectError as error:
        raise problems_error(given, str(error), error.errors) from None
    if not isinstance(decoded, kind):
        raise manifest_error(say("A {expected} is expected, not a {given}.", expected=kind.kind, given=decoded.kind))
    if not decoded.metadata.name and not decoded.metadata.generate_name:
        raise manifest_error(say("The {kind} needs a name: metadata.name is missing.", kind=kind.kind))
    return redact(to_manifest(decoded))


# --- changes ----------------------------------------------------------------------------------------------------------


def change_content(content: dict[str, Any]) -> dict[str, Any]:
    """The command `change` with its manifest as JSON, checked as an API server would.

    `kind`, `namespace` and `name`, where they are given, say which object the text was made of. Raises ApiError.
    """
    named: dict[str, Any] = {key: content[key] for key in NAMED if key in content}
    content = {key: value for key, value in content.items() if key not in NAMED}
    text, verb = content.get("manifest"), content.get("verb")
    if not isinstance(text, str):
        return content
    manifest = read_manifest(text)
    try:
        obj = decode_manifest(manifest)
        if named:
            _refuse_another(text, obj, named)
        if verb == "add" and isinstance(obj, EDITED_KINDS):
            manifest = _placed(manifest, obj)
            check_object(_named(decode_manifest(manifest)), comparisons=True)
            _refuse_second_load(obj)
        if verb == "replace":
            check_object(with_defaults(obj), comparisons=True)
    except ObjectError as error:
        raise problems_error(text, str(error), error.errors) from None
    if verb in ("delete", "remove"):
        manifest = _identity(obj)
    return {**content, "manifest": manifest}


def _placed(manifest: dict[str, Any], obj: KubernetesObject) -> dict[str, Any]:
    """In a namespace, as kubectl puts it into one."""
    if not obj.namespaced or obj.metadata.namespace:
        return manifest
    return {**manifest, "metadata": {**(manifest.get("metadata") or {}), "namespace": "default"}}


def _named(obj: KubeObject) -> KubeObject:
    """A name that is made of ``generateName`` is made when it is added, and then is one that can be."""
    metadata = obj.metadata
    if metadata.name or not metadata.generate_name:
        return with_defaults(obj)
    return with_defaults(replace(obj, metadata=replace(metadata, name=f"{metadata.generate_name}xxxxx")))


def _refuse_second_load(obj: KubernetesObject) -> None:
    """The scheduler asks one load-watcher (framework/objects/catalogue.py)."""
    if isinstance(obj, LoadMetrics) and obj.metadata.name != LoadMetrics.NAME:
        message = say("A cluster has one LoadMetrics at most, and its name is {name}.", name=LoadMetrics.NAME)
        raise ObjectError(obj.kind, obj.key, (FieldError("metadata.name", message),))


def _identity(obj: KubeObject) -> dict[str, Any]:
    """A deletion only names its object; the rest of what was typed is nobody's business."""
    metadata = {"name": obj.metadata.name}
    if obj.metadata.namespace:
        metadata["namespace"] = obj.metadata.namespace
    return {"apiVersion": obj.api_version, "kind": obj.kind, "metadata": metadata}


def _refuse_another(text: str, obj: KubeObject, named: dict[str, Any]) -> None:
    """Who edits one object does not mean to change another."""
    group = obj.api_version.rpartition("/")[0]
    wanted = of_kind(str(named.get("kind", "")))
    given = {
        "kind": (obj.kind, wanted.get("kind", obj.kind)),
        "apiVersion": (group, wanted.get("group", group)),
        "metadata.namespace": (obj.metadata.namespace, named.get("namespace", obj.metadata.namespace)),
        "metadata.name": (obj.metadata.name, named.get("name", obj.metadata.name)),
    }
    message = say("An object stays the one it is: its kind, namespace and name cannot be changed.")
    errors = [FieldError(path, message) for path, (has, asked) in given.items() if has != asked]
    if errors:
        raise problems_error(text, message, errors)


def problems_error(text: str, message: str, errors: Sequence[FieldError]) -> ApiError:
    """With the line of each; the first one's is the error's own."""
    shown = errors[:MOST_PROBLEMS]
    places = places_of(text, [error.path for error in shown])
    made = manifest_error(message, *places[0])
    made.body["problems"] = [
        {"path": error.path, "message": error.detail, "line": line, "column": column}
        for error, (line, column) in zip(shown, places, strict=True)
    ]
    return made


def places_of(text: str, paths: Iterable[str]) -> list[tuple[int | None, int | None]]:
    """(line, column) of fields as errors name them (`spec.min[cpu]`, `zones[0].name`), or of the nearest above each.

    (None, None) of a text that is too large to be read again.
    """
    root: SourceNode | None = None
    if len(text) <= MOST_PLACED:
        with contextlib.suppress(SourceError):
            root = read_source(text).root
    return [_place(root, path) for path in paths]


def _place(root: SourceNode | None, path: str) -> tuple[int | None, int | None]:
    node, place = root, (None, None) if root is None else (root.line, root.column)
    for step in _STEP.finditer(path):
        at, node = _below(node, step[1] if step[1] is not None else step[2])
        if at is None:
            break
        place = (at.line, at.column)
    return place


def _below(node: SourceNode | None, name: str) -> tuple[SourceNode | None, SourceNode | None]:
    """(where it stands, its value)"""
    if node is not None and node.kind == "sequence" and name.isdecimal() and int(name) < len(node.items):
        item = node.items[int(name)]
        return item, item
    if node is not None and node.kind == "mapping":
        for key, at, value in node.pairs():
            if key == name:
                return at, value
    return None, None
