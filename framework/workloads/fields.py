"""What controllers read of a workload, and what the API server requires of it. The rest of a template stays as is."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import field

from framework.objects import LabelSelector, ObjectMeta, Pod
from framework.objects.affinity_validation import label_selector_errors
from framework.objects.decode import convert_manifest
from framework.objects.defaults import with_defaults
from framework.objects.errors import ObjectError
from framework.objects.field_errors import FieldError, invalid, required
from framework.objects.generated import generated_uid
from framework.objects.metadata import Manifest
from framework.objects.pod import PodSpec
from framework.objects.pod_validation import pod_errors
from framework.objects.selectors import compile_label_selector, matcher_from_labels
from framework.objects.validation import metadata_errors

ManifestDict = dict[str, Any]
"""A manifest."""

KINDS: Final[dict[str, tuple[str, str]]] = {
    "Deployment": ("apps/v1", "deployments"),
    "StatefulSet": ("apps/v1", "statefulsets"),
    "DaemonSet": ("apps/v1", "daemonsets"),
    "ReplicaSet": ("apps/v1", "replicasets"),
    "ReplicationController": ("v1", "replicationcontrollers"),
    "Job": ("batch/v1", "jobs"),
    "CronJob": ("batch/v1", "cronjobs"),
}
"""Kind → its version and its name in the API."""
_SELECTED: Final = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet")
"""Kinds whose selector must be given and must match their template."""
_AMOUNTS: Final = ("replicas", "parallelism", "completions")


def is_workload(manifest: ManifestDict) -> bool:
    """Others than Kubernetes have Jobs, too (batch.volcano.sh)."""
    kind = manifest.get("kind")
    return isinstance(kind, str) and kind in KINDS and manifest.get("apiVersion") == KINDS[kind][0]


def holds_a_pod_template(spec: object) -> bool:
    """Of an object of any kind: ``template``, or a list of parts that have one (Argo's Rollout, Volcano's Job)."""
    if not isinstance(spec, dict):
        return False
    parts = [spec, *(each for value in spec.values() if isinstance(value, list) for each in value)]
    templates = [part.get("template") for part in parts if isinstance(part, dict)]
    inner = [template.get("spec") for template in templates if isinstance(template, dict)]
    return any(isinstance(each, dict) and "containers" in each for each in inner)


class Template(Manifest, frozen=True, kw_only=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: dict[str, Any] = field(default_factory=dict)


class Ordinals(Manifest, frozen=True, kw_only=True):
    start: int = 0


class ClaimTemplate(Manifest, frozen=True, kw_only=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: dict[str, Any] = field(default_factory=dict)


class JobTemplate(Manifest, frozen=True, kw_only=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: dict[str, Any] = field(default_factory=dict)


class Spec(Manifest, frozen=True, kw_only=True):
    """The fields of all kinds."""

    replicas: int | None = None
    selector: dict[str, Any] | None = None
    template: Template | None = None
    service_name: str = ""
    volume_claim_templates: tuple[ClaimTemplate, ...] = ()
    ordinals: Ordinals = Ordinals()
    parallelism: int | None = None
    completions: int | None = None
    completion_mode: str = ""
    suspend: bool = False
    job_template: JobTemplate = JobTemplate()


class Condition(Manifest, frozen=True, kw_only=True):
    type: str = ""
    status: str = ""


class Status(Manifest, frozen=True, kw_only=True):
    succeeded: int = 0
    update_revision: str = ""
    conditions: tuple[Condition, ...] = ()


class _Fields(Manifest, frozen=True, kw_only=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: Spec = Spec()
    status: Status = Status()


class _SelectingSpec(Manifest, frozen=True, kw_only=True):
    selector: LabelSelector | None = None


class _Selecting(Manifest, frozen=True, kw_only=True):
    """Of all kinds but ReplicationController, whose selector is labels."""

    spec: _SelectingSpec = _SelectingSpec()


class _PodTemplate(Manifest, frozen=True, kw_only=True):
    spec: PodSpec = PodSpec()


class _TemplatedSpec(Manifest, frozen=True, kw_only=True):
    template: _PodTemplate = _PodTemplate()


class _Templated(Manifest, frozen=True, kw_only=True):
    """The template as a pod's spec has it."""

    spec: _TemplatedSpec = _TemplatedSpec()


class Workload(msgspec.Struct, frozen=True, kw_only=True):
    """``selector``: None of kinds whose pods are told by their controller alone."""

    kind: str
    manifest: ManifestDict
    metadata: ObjectMeta
    spec: Spec
    status: Status
    selector: LabelSelector | None

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def namespace(self) -> str:
        return self.metadata.namespace

    @property
    def key(self) -> str:
        return f"{self.kind}/{self.namespace}/{self.name}"

    @property
    def template(self) -> Template:
        assert self.spec.template is not None
        return self.spec.template

    @property
    def replicas(self) -> int:
        return 1 if self.spec.replicas is None else self.spec.replicas

    def matches(self, labels: dict[str, str]) -> bool:
        return self.selector is not None and compile_label_selector(self.selector).matches(labels)


def read_workload(manifest: ManifestDict) -> Workload:
    """Raises ObjectError."""
    kind = manifest["kind"]
    fields = convert_manifest(manifest, _Fields)
    selector = _selector(kind, manifest, fields.spec)
    workload = Workload(
        kind=kind,
        manifest=manifest,
        metadata=fields.metadata,
        spec=fields.spec,
        status=fields.status,
        selector=selector,
    )
    if errors := _errors(workload):
        raise ObjectError(kind, f"{workload.namespace}/{workload.name}", tuple(errors))
    return workload


def _selector(kind: str, manifest: ManifestDict, spec: Spec) -> LabelSelector | None:
    if kind == "ReplicationController":
        labels = spec.selector or (spec.template.metadata.labels if spec.template else {})
        return LabelSelector(match_labels={key: str(value) for key, value in labels.items()})
    return convert_manifest(manifest, _Selecting).spec.selector if kind in _SELECTED else None


def _errors(workload: Workload) -> list[FieldError]:
    spec, errors = workload.spec, metadata_errors(workload.metadata, namespaced=True)
    for name in _AMOUNTS:
        value = getattr(spec, name)
        if value is not None and value < 0:
            errors.append(invalid(f"spec.{name}", value, "must be greater than or equal to 0"))
    if workload.kind == "CronJob":
        if not spec.job_template.spec:
            errors.append(required("spec.jobTemplate"))
        return errors
    if spec.template is None:
        return [*errors, required("spec.template")]
    labels = spec.template.metadata.labels
    pod = Pod(spec=convert_manifest(workload.manifest, _Templated).spec.template.spec)
    for error in pod_errors(with_defaults(pod), comparisons=True):
        errors.append(FieldError(f"spec.template.{error.path}", error.detail))
    if workload.kind in _SELECTED:
        selector = workload.selector
        if unreadable := list(label_selector_errors(selector, "spec.selector")):
            errors += unreadable
        elif selector is None or not (selector.match_labels or selector.match_expressions):
            errors.append(required("spec.selector"))
        elif not workload.matches(labels):
            errors.append(
                invalid("spec.template.metadata.labels", labels, "`selector` does not match template `labels`")
            )
    elif workload.kind == "ReplicationController" and not matcher_from_labels(
        workload.selector.match_labels if workload.selector else None
    ).matches(labels):
        errors.append(invalid("spec.template.metadata.labels", labels, "`selector` does not match template `labels`"))
    return errors


def with_uid(manifest: ManifestDict) -> ManifestDict:
    """The workload as what it makes names it: with the uid that an API server would have given it."""
    metadata = manifest["metadata"]
    if metadata.get("uid"):
        return manifest
    uid = generated_uid(manifest["kind"], metadata.get("namespace", ""), metadata["name"])
    return {**manifest, "metadata": {**metadata, "uid": uid}}


def owner_reference(owner: ManifestDict) -> ManifestDict:
    metadata = owner["metadata"]
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
