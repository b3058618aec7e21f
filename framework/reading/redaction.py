"""What is kept of an object: what schedulers, simulated controllers and pages read of it. All else goes at the door.

The allow-list is the Structs into which objects are decoded (``framework/objects``, ``framework/workloads``): a field
that is not typed is read by nobody. ``_NOT_KEPT`` names what is typed and still goes, ``KEPT_ANNOTATIONS`` the
annotations that stay; a plugin names those that it reads (``Plugin.annotations``). Of Nodes all annotations stay whose
value is a number or a time: a profile may name any of them (docs/semantics/catalogue.md#nodemetadata). Of kinds that
nobody reads only apiVersion, kind and metadata stay, of Secrets nothing.
"""

from __future__ import annotations

import re
import typing
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from framework.objects import LabelSelector, Node, ObjectMeta
from framework.objects.admission import DEFAULT_CLASS_ANNOTATIONS
from framework.objects.catalogue import CATALOGUE_ANNOTATIONS, SECCOMP_ANNOTATION
from framework.objects.claims import (
    BETA_CLASS,
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    PROVISIONED_BY,
    SELECTED_NODE,
)
from framework.objects.csi_migration import AZURE_FILE_RESOURCE_GROUP, MIGRATED_PLUGINS
from framework.objects.devices import (
    EXTENDED_RESOURCE_CLAIM_ANNOTATION,
    POD_CLAIM_NAME_ANNOTATION,
    AllocatedDeviceStatus,
    OpaqueDeviceConfiguration,
)
from framework.objects.further_volume_sources import VolumeProjection
from framework.objects.go_numbers import parse_float
from framework.objects.kinds import TYPED_KINDS
from framework.objects.older_versions import as_current
from framework.objects.pod import PersistentVolumeClaimTemplate, PodSpec, Volume
from framework.objects.sealed_fields import (
    DEFAULTS,
    IF_CREDENTIALS,
    NAMESPACES,
    SEAL,
    SEALED,
    SEALED_ANNOTATIONS,
    is_sealed,
    without,
)
from framework.objects.storage import (
    CSIPersistentVolumeSource,
    PersistentVolumeClaimSpec,
    PersistentVolumeSpec,
    StorageClass,
)
from framework.reading.addresses import OF_EXTENDERS, without_credentials
from framework.sentences import Content, counted_sentence, forms
from framework.workloads import COMPLETION_INDEX, DEPLOYMENT_REVISION, KINDS
from framework.workloads.fields import Spec as WorkloadSpec
from framework.workloads.fields import Status as WorkloadStatus

REDACTED: Final = "(redacted)"
DROPPED_KINDS: Final = frozenset({"Secret"})
KEPT_ANNOTATIONS: Final = frozenset(
    {
        *CATALOGUE_ANNOTATIONS,
        AZURE_FILE_RESOURCE_GROUP,
        BETA_CLASS,
        BIND_COMPLETED,
        BOUND_BY_CONTROLLER,
        COMPLETION_INDEX,
        DEPLOYMENT_REVISION,
        EXTENDED_RESOURCE_CLAIM_ANNOTATION,
        MIGRATED_PLUGINS,
        POD_CLAIM_NAME_ANNOTATION,
        PROVISIONED_BY,
        SELECTED_NODE,
        *DEFAULT_CLASS_ANNOTATIONS,
    }
)
Manifest = Mapping[str, Any]
Seal = Callable[[bytes], str]
"""What cannot be read (JSON) → what tells it apart from others, and nothing else of it to whoever does not hold the
key."""
Removed = Counter[str]
"""A key of ``REMOVED`` → how many of them went."""

ENVIRONMENT: Final = "environment"
COMMANDS: Final = "commands"
PROBES: Final = "probes"
VOLUMES: Final = "volumes"
PARAMETERS: Final = "parameters"
ANNOTATIONS: Final = "annotations"
CONTENTS: Final = "contents"
FIELDS: Final = "fields"
REMOVED: Final[dict[str, tuple[str, str]]] = {
    ENVIRONMENT: forms("{count} environment variable", "{count} environment variables"),
    COMMANDS: forms("{count} command or list of arguments", "{count} commands and lists of arguments"),
    PROBES: forms("{count} probe or lifecycle hook", "{count} probes and lifecycle hooks"),
    VOLUMES: forms("{count} detail of a volume", "{count} details of volumes"),
    PARAMETERS: forms("{count} parameter of a class or device", "{count} parameters of classes and devices"),
    ANNOTATIONS: forms("{count} annotation", "{count} annotations"),
    CONTENTS: forms(
        "the content of {count} object that scheduling does not read",
        "the contents of {count} objects that scheduling does not read",
    ),
    FIELDS: forms("{count} other field", "{count} other fields"),
}
"""What is told of, in this order."""

_NOT_KEPT: Final[dict[type[msgspec.Struct], frozenset[str]]] = {
    **SEALED,
    StorageClass: frozenset({"parameters"}),
    OpaqueDeviceConfiguration: frozenset({"parameters"}),
    AllocatedDeviceStatus: frozenset({"data", "networkData"}),
}
"""Typed, because they belong to what is made or copied; no decision reads them."""
_KEPT_TOO: Final[dict[type[msgspec.Struct], frozenset[str]]] = {PodSpec: frozenset({"hostname", "subdomain"})}
"""Not typed: names that controllers give the pods they make."""

_OF_CONTAINERS: Final = {
    **dict.fromkeys(("env", "envFrom"), ENVIRONMENT),
    **dict.fromkeys(("args", "command"), COMMANDS),
    **dict.fromkeys(("lifecycle", "livenessProbe", "readinessProbe", "startupProbe"), PROBES),
}
_OF_VOLUMES: Final = (Volume, VolumeProjection, CSIPersistentVolumeSource, PersistentVolumeSpec, *SEALED)
_OF_PARAMETERS: Final = (StorageClass, OpaqueDeviceConfiguration, AllocatedDeviceStatus)
_EACH_COUNTS: Final = frozenset({"env", "envFrom", "options", "parameters", "userAnnotations", "volumeAttributes"})
"""Lists and mappings of which each entry is told of."""
_UNTOLD: Final = frozenset({"managedFields", "selfLink", "clusterName", "status"})
"""What an API server keeps for itself."""


_TIME: Final = re.compile(
    r"(?=.{1,40}\Z)(?:[-+0-9.:/, TZ]|UTC|GMT|[AP]M|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep"
    r"|Oct|Nov|Dec)[a-z]*)+"
)
"""However it is written: profiles may name their own layout."""


class _Object(NamedTuple):
    """Field → what it may hold; None: all of it."""

    fields: dict[str, _Shape]
    struct: type[msgspec.Struct] | None = None
    seals_annotations: bool = False
    """Those that go leave a seal."""


class _Values(NamedTuple):
    """A mapping with any keys."""

    inner: _Object


_Shape = _Object | _Values | None


def redacted(
    manifest: Manifest,
    removed: Removed | None = None,
    *,
    annotations: Collection[str] = KEPT_ANNOTATIONS,
    seal: Seal | None = None,
) -> dict[str, Any]:
    """What may be kept, in the version of its kind that is read. ``removed`` is added up.

    ``seal``: gives 16 hexadecimal digits; None: seals go, too, as whatever is shown has none. Malformed parts of what
    is kept stay as they are, for validation to name. ``manifest`` is not changed.
    """
    version, kind = manifest.get("apiVersion"), manifest.get("kind")
    shape = _UNREAD
    if isinstance(version, str) and isinstance(kind, str):
        manifest = as_current(manifest, version, kind) or manifest
        shape = _SHAPES.get((str(manifest["apiVersion"]), kind), _UNREAD)
    numbers = kind == Node.kind and shape is not _UNREAD
    walk = _Walk(Counter() if removed is None else removed, annotations, seal, keeps_numbers=numbers)
    kept = walk.object(manifest, shape)
    if shape is _UNREAD and len(kept) < len(manifest):
        walk.removed[CONTENTS] += 1
    return kept


def without_secrets(volume: dict[str, Any]) -> dict[str, Any]:
    """Of a pod's volume as JSON: what may leave the server, also of one that was stored when less was sealed."""

    def goes(struct: type[msgspec.Struct] | None, name: str, value: Any) -> bool:
        return is_sealed(value) or (struct is not None and bool(value) and not _is_open(struct, name, value))

    return without(volume, goes)


def annotations_dropped(metadata: ObjectMeta, annotations: Collection[str] = KEPT_ANNOTATIONS) -> int:
    """How many annotations ``redacted`` would take from an object with this metadata."""
    given = metadata.annotations
    return sum(not is_kept(key, annotations) for key in given) if given else 0


def is_kept(annotation: str, annotations: Collection[str]) -> bool:
    """``annotation``: its key. Those of SeccompProfiles are known by a part of it, as SySched knows them."""
    return annotation in annotations or SECCOMP_ANNOTATION in annotation


def without_keys(configuration: dict[str, Any]) -> dict[str, Any]:
    """A scheduler's configuration without keys and credentials of its extenders; changed in place."""
    extenders = configuration.get("extenders")
    for extender in extenders if isinstance(extenders, list) else ():
        if not isinstance(extender, dict):
            continue
        for key, hide in OF_EXTENDERS.items():
            if isinstance(extender.get(key), str):
                extender[key] = hide(extender[key])
        tls = extender.get("tlsConfig")
        if isinstance(tls, dict):
            for key in ("keyData", "certData"):
                if key in tls:
                    tls[key] = REDACTED
    return configuration


def removed_words(removed: Mapping[str, int]) -> list[Content]:
    """ "12 environment variables" and so on, of what went."""
    return [counted_sentence(*REMOVED[what], removed[what]) for what in REMOVED if removed.get(what)]


class _Walk:
    def __init__(
        self, removed: Removed, annotations: Collection[str], seal: Seal | None, *, keeps_numbers: bool
    ) -> None:
        """``keeps_numbers``: annotations stay whose value is a number or a time."""
        self.removed = removed
        self.annotations = annotations
        self.seal = seal
        self.keeps_numbers = keeps_numbers

    def object(self, value: Manifest, shape: _Object, *, told: bool = True) -> dict[str, Any]:
        """``told``: it is not a status, most of which its server writes about itself."""
        kept: dict[str, Any] = {}
        fields, struct, seals_annotations = shape
        for name, inner in value.items():
            if name not in fields:
                if struct is not None and name in SEALED.get(struct, ()) and (inner or inner in ("", None)):
                    if _is_open(struct, name, inner):
                        kept[name] = inner
                        continue
                    already = is_sealed(inner)
                    if self.seal is not None:
                        kept[name] = inner if already else _sealed(inner, self.seal)
                    if already:
                        continue
                if shape is not _UNREAD and (told or struct in _OF_PARAMETERS):
                    self._count(struct, name, inner)
            elif name == "annotations" and struct is ObjectMeta and isinstance(inner, Mapping):
                kept[name] = self._annotations(inner, seals_annotations)
            else:
                kept[name] = self._value(inner, fields[name], told and name != "status")
        return kept

    def _annotations(self, given: Mapping[str, Any], sealed: bool) -> dict[str, Any]:
        kept = {key: each for key, each in given.items() if self._keeps(key, each)}
        if len(kept) == len(given):
            return kept
        gone = {key: each for key, each in given.items() if key not in kept}
        already = sealed and is_sealed(gone.get(SEALED_ANNOTATIONS))
        self._add(ANNOTATIONS, len(gone) - already)
        if sealed and self.seal is not None:
            only = already and len(gone) == 1
            kept[SEALED_ANNOTATIONS] = gone[SEALED_ANNOTATIONS] if only else SEAL + self.seal(_bytes(gone))
        return kept

    def _value(self, value: Any, shape: _Shape, told: bool) -> Any:
        if shape is None:
            return value
        if isinstance(value, list):
            # Lists of lists occur nowhere: they stay for validation, and need no recursion.
            return [each if isinstance(each, list) else self._value(each, shape, told) for each in value]
        if not isinstance(value, Mapping):
            return value
        if isinstance(shape, _Values):
            return {key: self._value(each, shape.inner, told) for key, each in value.items()}
        return self.object(value, shape, told=told)

    def _keeps(self, annotation: str, value: Any) -> bool:
        if is_kept(annotation, self.annotations):
            return True
        if not self.keeps_numbers or not isinstance(value, str):
            return False
        return parse_float(value) is not None or _TIME.fullmatch(value) is not None

    def _count(self, struct: type[msgspec.Struct] | None, name: str, value: Any) -> None:
        if name in _UNTOLD or value in (None, "", [], {}):
            return
        if name in _OF_CONTAINERS:
            what = _OF_CONTAINERS[name]
        elif struct in _OF_VOLUMES:
            what = VOLUMES
        else:
            what = PARAMETERS if struct in _OF_PARAMETERS else FIELDS
        self._add(what, len(value) if name in _EACH_COUNTS and isinstance(value, list | Mapping) else 1)

    def _add(self, what: str, number: int) -> None:
        if number:
            self.removed[what] += number


def _is_open(struct: type[msgspec.Struct], name: str, value: Any) -> bool:
    """Whether everybody may read what stands at one of ``SEALED``."""
    if value in ("", None) or value == DEFAULTS[struct].get(name):
        return True
    if name in NAMESPACES:
        return isinstance(value, str) and not is_sealed(value)
    if name not in IF_CREDENTIALS or not isinstance(value, str) or is_sealed(value):
        return False
    return without_credentials(value) == value


def _sealed(value: Any, seal: Seal) -> Any:
    """A text in place of a text, else a mapping with one entry. Whatever is malformed is told by the seal alone."""
    found = SEAL + seal(_bytes(value))
    return {"redacted": found} if isinstance(value, Mapping) else found


def _bytes(value: Any) -> bytes:
    return msgspec.json.encode(value, order="sorted", enc_hook=str)


def _shape(struct: type[msgspec.Struct]) -> _Object:
    fields: dict[str, _Shape] = dict.fromkeys(_KEPT_TOO.get(struct, ()))
    for field in msgspec.structs.fields(struct):
        if field.encode_name not in _NOT_KEPT.get(struct, ()):
            fields[field.encode_name] = _shape_in(field.type)
    if struct is PersistentVolumeClaimTemplate:
        fields["metadata"] = _shape(ObjectMeta)._replace(seals_annotations=True)
    return _Object(fields, struct)


def _shape_in(type_: Any) -> _Shape:
    """Of a field: a Struct, a tuple of them, a mapping with them as values, any of these or None."""
    if isinstance(type_, type) and issubclass(type_, msgspec.Struct):
        return _shape(type_)
    for argument in typing.get_args(type_):
        inner = _shape_in(argument)
        if inner is not None:
            return _Values(inner) if isinstance(inner, _Object) and typing.get_origin(type_) is dict else inner
    return None


def _whole(spec: _Shape, status: _Shape) -> _Object:
    return _Object({"apiVersion": None, "kind": None, "metadata": _METADATA, "spec": spec, "status": status})


def _workloads() -> Iterator[tuple[tuple[str, str], _Object]]:
    """Their Structs leave open what templates hold."""
    template = _Object({"metadata": _METADATA, "spec": _shape(PodSpec)})
    claim = _Object(
        {"apiVersion": None, "kind": None, "metadata": _METADATA, "spec": _shape(PersistentVolumeClaimSpec)}
    )
    fields = {**_shape(WorkloadSpec).fields, "template": template, "volumeClaimTemplates": claim}
    for kind, (version, _) in KINDS.items():
        selector = None if kind == "ReplicationController" else _shape(LabelSelector)
        spec = _Object({**fields, "selector": selector})
        spec.fields["jobTemplate"] = _Object({"metadata": _METADATA, "spec": _Object({**spec.fields})})
        yield (version, kind), _whole(spec, _shape(WorkloadStatus))


_METADATA: Final = _shape(ObjectMeta)
_UNREAD: Final = _Object({"apiVersion": None, "kind": None, "metadata": _METADATA})
_SHAPES: Final[dict[tuple[str, str], _Object]] = {
    **{
        (kind.api_version, kind.kind): _Object({"apiVersion": None, "kind": None, **_shape(kind).fields}, kind)
        for kind in TYPED_KINDS
    },
    **dict(_workloads()),
}
