"""What a file's objects come to together: each is there once, controllers' pods are made, what is bad is refused.

Whoever reads keeps the objects and gives them a number, in their order; here stands what has to be known of all of them
at the end. A file may be read in parts: what was gathered of one takes over what was gathered of the next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from framework.objects import (
    KubeObject,
    KubernetesObject,
    Namespace,
    Node,
    Pod,
    PriorityClass,
    RuntimeClass,
    Unstructured,
)
from framework.objects.admission import AdmissionError, admit
from framework.objects.catalogue import ElasticQuota
from framework.objects.decode import decode_manifest, decode_object
from framework.objects.defaults import DEFAULT_NAMESPACE, with_defaults
from framework.objects.errors import ObjectError
from framework.objects.kinds import typed_kind
from framework.objects.older_versions import as_current
from framework.objects.shared_weight import weight_warning
from framework.objects.validation import check_object
from framework.reading.documents import FileRefused, Manifest
from framework.reading.redaction import redacted
from framework.reading.something_else import (
    NO_BREAK_SPACES,
    NOT_RENDERED,
    holds_a_template,
    indented_strangely,
    strange_object,
)
from framework.reading.unknown_fields import Sightings, UnknownField, reported, unknown_fields
from framework.reading.unknown_kinds import UnknownKinds
from framework.sentences import Sentence, Words, counted_sentence, sentence, words_of
from framework.workloads import Existing, Made, holds_a_pod_template, is_workload, make_pods, notes_of

O = TypeVar("O", bound=KubernetesObject)  # noqa: E741
Identity = tuple[str, str, str, str]
"""(group, kind, namespace, name)."""
MOST_PASSED_OVER: Final = 10
_RUNTIME_FIELDS: Final = ("overhead", "nodeSelector", "tolerations")
"""Of a pod's spec: what its RuntimeClass gives it."""


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """Why one object cannot be taken."""

    kind: str = ""
    namespace: str = ""
    name: str = ""
    words: Sentence | str


class Gathered(msgspec.Struct):
    """Numbers are those of the objects that were kept."""

    identities: list[Identity] = []
    existing: Existing = msgspec.field(default_factory=Existing)
    workloads: list[tuple[int, Manifest]] = []
    classes: list[int] = []
    """PriorityClasses and RuntimeClasses."""
    nodes: list[int] = []
    unadmitted: list[int] = []
    """Pods that no API server has seen, or that have no priority."""
    problems: list[Problem] = []
    unknown: Sightings = msgspec.field(default_factory=Sightings)
    kinds: UnknownKinds = msgspec.field(default_factory=UnknownKinds)
    templates: dict[str, int] = {}
    """Kind of objects with a pod template of which nobody here knows what their controller makes → how many."""
    passed_over: list[Sentence] = []
    """About what is written in an object and cannot be read, though the object can be taken; at most a few."""
    also_passed_over: int = 0


class Added(NamedTuple):
    manifest: Manifest
    maker: str = ""
    """Of a pod that a workload gave: ``kind/namespace/name`` of that one."""


@dataclass(slots=True)
class Finished:
    added: list[Added] = field(default_factory=list)
    """Namespaces that objects are in, and what controllers made."""
    changed: dict[int, Manifest] = field(default_factory=dict)
    refused: set[int] = field(default_factory=set)
    notes: list[Sentence] = field(default_factory=list)
    warnings: list[Sentence] = field(default_factory=list)
    """About kinds and fields that no API server knows."""


class Twice(Exception):
    """Two parts of a file have an object in common."""


def no_object(manifest: Manifest, field: str) -> Sentence:
    """The answer of another program, or a part of an object: it is told apart by its first keys."""
    keys = [str(key)[:40] for key in list(manifest)[:4]]
    return sentence(
        "{what} is no Kubernetes object: it has no {field}. Take what kubectl get -o json or -o yaml writes.",
        what=f"{{{', '.join(keys)}{', …' if len(manifest) > len(keys) else ''}}}",
        field=field,
    )


def current(manifest: Manifest) -> Manifest:
    """Of the version that is read, in the namespace that an API server would put it. Raises FileRefused."""
    kind = manifest.get("kind")
    if strange := strange_object(manifest):
        raise FileRefused(strange)
    if not isinstance(kind, str) or not kind:
        raise FileRefused(NO_BREAK_SPACES if indented_strangely(manifest) else no_object(manifest, "kind"))
    version = manifest.get("apiVersion")
    if not version:
        raise FileRefused(no_object(manifest, "apiVersion"))
    if isinstance(version, str) and (newer := as_current(manifest, version, kind)) is not None:
        manifest = dict(newer)
    metadata = manifest.get("metadata")
    known = typed_kind(str(manifest["apiVersion"]), kind)
    namespaced = is_workload(manifest) if known is None else known.namespaced
    if namespaced and isinstance(metadata, dict) and metadata.get("namespace") in (None, ""):
        manifest = {**manifest, "metadata": {**metadata, "namespace": DEFAULT_NAMESPACE}}
    return manifest


def decoded(manifest: Manifest, kept: Manifest | None = None, text: bytes | msgspec.Raw | None = None) -> KubeObject:
    """Checked as the API server checks it. Raises FileRefused.

    ``kept``: what may be kept of it; ``text``: that as JSON, if it came from JSON.
    """
    try:
        obj = decode_manifest(manifest if kept is None else kept) if text is None else decode_object(text)
        # Whether Gt and Lt tolerate anything is for the run's gates to say.
        check_object(with_defaults(obj), comparisons=True)
    except ObjectError as error:
        if holds_a_template(manifest):
            raise FileRefused(NOT_RENDERED) from None
        if indented_strangely(manifest):
            raise FileRefused(NO_BREAK_SPACES) from None
        raise FileRefused(words_of(error)) from None
    return obj


def from_a_cluster(obj: KubeObject) -> bool:
    """It was admitted there once; a manifest that somebody wrote was not."""
    return bool(obj.metadata.uid or obj.metadata.creation_timestamp)


def problem_of(manifest: Manifest, words: Words) -> Problem:
    metadata = manifest.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    kind, namespace, name = (
        str(each or "") for each in (manifest.get("kind"), metadata.get("namespace"), metadata.get("name"))
    )
    return Problem(kind=kind, namespace=namespace, name=name, words=words)


class Gathering:
    def __init__(self) -> None:
        self.gathered = Gathered()
        self._known: dict[Identity, None] = {}

    def keep(self, number: int, group: str, obj: KubeObject) -> bool:
        """Whether it is new, and so to be kept as object ``number``. One that is there twice is told as a problem."""
        metadata, known = obj.metadata, self._known
        identity = (group, obj.kind, metadata.namespace, metadata.name)
        before = len(known)
        known[identity] = None
        if len(known) == before:
            self._refuse(obj, sentence("{kind} {name} is there twice.", kind=obj.kind, name=_key(obj)))
            return False
        if isinstance(obj, Pod):
            self.gathered.existing.take(obj)
            if obj.spec.priority is None or not (metadata.uid or from_a_cluster(obj)):
                self.gathered.unadmitted.append(number)
        elif isinstance(obj, Node):
            self.gathered.nodes.append(number)
        elif isinstance(obj, PriorityClass | RuntimeClass):
            self.gathered.classes.append(number)
        elif isinstance(obj, ElasticQuota) and (warning := weight_warning(obj)) is not None:
            self._pass_over([warning])
        return True

    def _pass_over(self, warnings: Sequence[Sentence], also: int = 0) -> None:
        mine = self.gathered
        room = max(MOST_PASSED_OVER - len(mine.passed_over), 0)
        mine.passed_over += warnings[:room]
        mine.also_passed_over += also + len(warnings[room:])

    def look_at(self, number: int, manifest: Manifest, obj: KubeObject, kept: Manifest | None = None) -> None:
        """After ``keep``; of what was not parsed whole ``sight`` tells the fields.

        ``manifest``: as it was written; ``kept``: what may be kept of it.
        """
        exported = from_a_cluster(obj)
        if is_workload(manifest):
            # What goes must not reach the names of pods either, which follow from their template.
            self.gathered.workloads.append((number, redacted(manifest) if kept is None else kept))
        elif not exported and isinstance(obj, Unstructured):
            is_reported = self.gathered.kinds.take(manifest, _key(obj))
            if not is_reported and holds_a_pod_template(manifest.get("spec")):
                templates = self.gathered.templates
                templates[obj.kind] = templates.get(obj.kind, 0) + 1
        self.sight(obj, reported(unknown_fields(manifest), exported=exported))

    def sight(self, obj: KubeObject, fields: Sequence[UnknownField]) -> None:
        if fields:
            self.gathered.unknown.take(obj.kind, _key(obj), fields)

    def _refuse(self, obj: KubeObject, words: Words) -> None:
        metadata = obj.metadata
        self.gathered.problems.append(
            Problem(kind=obj.kind, namespace=metadata.namespace, name=metadata.name, words=words)
        )

    # --- parts ------------------------------------------------------------------------------------------------------

    def part(self) -> Gathered:
        self.gathered.identities = list(self._known)
        return self.gathered

    def add_part(self, part: Gathered) -> None:
        """What follows on what was gathered here. Raises Twice before anything is taken over."""
        if any(identity in self._known for identity in part.identities):
            raise Twice
        mine, before = self.gathered, len(self._known)
        self._known.update(dict.fromkeys(part.identities))
        mine.existing.add(part.existing)
        mine.workloads += [(number + before, manifest) for number, manifest in part.workloads]
        for name in ("classes", "nodes", "unadmitted"):
            getattr(mine, name).extend(number + before for number in getattr(part, name))
        mine.problems += part.problems
        self._pass_over(part.passed_over, part.also_passed_over)
        mine.unknown.add(part.unknown)
        mine.kinds.add(part.kinds)
        for kind, number in part.templates.items():
            mine.templates[kind] = mine.templates.get(kind, 0) + number

    # --- the end ----------------------------------------------------------------------------------------------------

    def finish(self, object_of: Callable[[int], KubeObject], manifest_of: Callable[[int], Manifest]) -> Finished:
        """When everything is kept. What an API server would refuse is told as a problem, too."""
        finished = Finished()
        store = _Classes()
        for number in self.gathered.classes:
            obj = object_of(number)
            assert isinstance(obj, PriorityClass | RuntimeClass)
            admitted = admit(obj, store, stored=from_a_cluster(obj), validate=False)
            if isinstance(admitted, AdmissionError):
                self._refuse(obj, admitted.message)
                finished.refused.add(number)
            else:
                store.put(admitted)
        for number in self.gathered.unadmitted:
            self._admit(number, object_of(number), manifest_of, store, finished)
        self._make(object_of, store, finished)
        finished.warnings = [
            *self.gathered.kinds.sentences(),
            *self.gathered.unknown.sentences(),
            *self._warnings_of_passed_over(),
            *(
                counted_sentence(
                    "{count} {kind} gives no pods: what the controller makes of it is not known here. Add its pods.",
                    "{count} {kind} give no pods: what the controller makes of them is not known here. Add their pods.",
                    number,
                    kind=kind,
                )
                for kind, number in self.gathered.templates.items()
            ),
        ]
        here = {name for group, kind, _, name in self._known if kind == "Namespace" and not group}
        used = dict.fromkeys(
            namespace
            for number, (_, _, namespace, _) in enumerate(self._known)
            if namespace and number not in finished.refused
        )
        finished.added[:0] = [
            Added({"apiVersion": "v1", "kind": Namespace.kind, "metadata": {"name": name}})
            for name in used
            if name not in here
        ]
        return finished

    def _warnings_of_passed_over(self) -> list[Sentence]:
        more = self.gathered.also_passed_over
        rest = counted_sentence(
            "{count} more ElasticQuota has such an annotation.",
            "{count} more ElasticQuotas have such annotations.",
            more,
        )
        return [*self.gathered.passed_over, *([rest] if more else [])]

    def _admit(
        self,
        number: int,
        pod: KubeObject,
        manifest_of: Callable[[int], Manifest],
        store: _Classes,
        finished: Finished,
    ) -> None:
        assert isinstance(pod, Pod)
        admitted = admit(pod, store, stored=from_a_cluster(pod), validate=False)
        if isinstance(admitted, AdmissionError):
            self._refuse(pod, admitted.message)
            finished.refused.add(number)
        elif pod.spec.runtime_class_name is not None and admitted.spec is not pod.spec:
            finished.changed[number] = _with_runtime_class(manifest_of(number), admitted)

    def _make(self, object_of: Callable[[int], KubeObject], store: _Classes, finished: Finished) -> None:
        workloads = self.gathered.workloads
        if not workloads:
            return
        nodes = [each for each in map(object_of, self.gathered.nodes) if isinstance(each, Node)]
        taken = {(kind, namespace, name) for _, kind, namespace, name in self._known}
        made = make_pods([manifest for _, manifest in workloads], self.gathered.existing, nodes, taken)
        given: list[Made] = []
        for (number, manifest), each in zip(workloads, made, strict=True):
            if each.error is not None:
                self.gathered.problems.append(problem_of(manifest, str(each.error)))
                finished.refused.add(number)
            elif each.pods and (refusal := _refusal(each.pods[0], store)):
                words = sentence("{what}: its pods are refused: {why}", what=_named(manifest), why=refusal)
                self.gathered.problems.append(problem_of(manifest, words))
                finished.refused.add(number)
            else:
                given.append(each)
                if each.workload is not manifest:
                    finished.changed[number] = each.workload
                finished.added += map(Added, each.beside)
                maker = f"{manifest['kind']}/{_place(manifest)}"
                finished.added += (Added(_as_admitted(pod, store), maker) for pod in each.pods)
        finished.notes = notes_of(given)


class _Classes:
    """What admission looks up; the store that it asks."""

    def __init__(self) -> None:
        self._kept: dict[tuple[type[KubernetesObject], str], Any] = {}

    def put(self, obj: KubernetesObject) -> None:
        self._kept[type(obj), obj.metadata.name] = obj

    def get(self, kind: type[O], namespace: str, name: str) -> O | None:
        return self._kept.get((kind, name))

    def list(self, kind: type[O], namespace: str | None = None) -> Sequence[O]:
        return [obj for (its, _), obj in self._kept.items() if its is kind]


def _refusal(manifest: Manifest, store: _Classes) -> Words:
    """Of one pod of several that are alike; "" when it is taken."""
    try:
        admitted = admit(decode_manifest(manifest), store, comparisons=True)
    except ObjectError as error:
        return words_of(error)
    return admitted.message if isinstance(admitted, AdmissionError) else ""


def _as_admitted(manifest: Manifest, store: _Classes) -> Manifest:
    if manifest["spec"].get("runtimeClassName") is None:
        return manifest
    pod = decode_manifest(manifest)
    admitted = admit(pod, store, validate=False)
    assert isinstance(admitted, Pod)
    return _with_runtime_class(manifest, admitted)


def _with_runtime_class(manifest: Manifest, admitted: Pod) -> Manifest:
    """A run takes its pods as a cluster exported them, to which this was done already."""
    spec = dict(manifest["spec"])
    given = msgspec.to_builtins(admitted.spec)
    spec.update({name: given[name] for name in _RUNTIME_FIELDS if given.get(name)})
    return {**manifest, "spec": spec}


def _key(obj: KubeObject) -> str:
    metadata = obj.metadata
    return f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name


def _named(manifest: Manifest) -> str:
    return f"{manifest['kind']} {_place(manifest)}"


def _place(manifest: Manifest) -> str:
    metadata = manifest["metadata"]
    return f"{metadata.get('namespace', '')}/{metadata['name']}"


def workloads_of(makers: Iterable[str]) -> dict[str, int]:
    """Kind → how many workloads, of the makers of pods ("" of a pod that was there), told pod by pod."""
    kinds = Counter(maker.partition("/")[0] for maker in {*makers} if maker)
    return dict(sorted(kinds.items()))
