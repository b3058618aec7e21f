"""The pods that controllers would make now, and what they make beside them: ReplicaSets, Jobs, claims.

All replicas are made at once, also those of a StatefulSet that starts them one after another. A Job gets the pods that
run at a time. A CronJob from a manifest that no cluster has seen gets the pods of one run, since what it asks for is
the question; one that a cluster exported gets none, because its jobs that run are in the export.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from framework.objects import Node, ObjectMeta, Pod
from framework.objects.decode import decode_manifest
from framework.objects.errors import ObjectError
from framework.objects.field_errors import FieldError
from framework.objects.generated import generated_name
from framework.sentences import Sentence, counted_sentence, forms, joined_with_and
from framework.workloads.daemons import eligible, for_node, with_tolerations
from framework.workloads.existing import Existing, Orphan
from framework.workloads.fields import (
    KINDS,
    ClaimTemplate,
    ManifestDict,
    Template,
    Workload,
    owner_reference,
    read_workload,
    with_uid,
)

MOST_PODS: Final = 100_000
"""Of one file: a number of replicas is written quickly, and takes the memory of that many pods."""
_HASH: Final = "pod-template-hash"
_REVISION: Final = "controller-revision-hash"
DEPLOYMENT_REVISION: Final = "deployment.kubernetes.io/revision"
COMPLETION_INDEX: Final = "batch.kubernetes.io/job-completion-index"
_LETTERS: Final = frozenset("bcdfghjklmnpqrstvwxz2456789")
_INDEXED: Final = "Indexed"
_COUNTED: Final = {
    "Deployment": forms("{count} Deployment", "{count} Deployments"),
    "StatefulSet": forms("{count} StatefulSet", "{count} StatefulSets"),
    "DaemonSet": forms("{count} DaemonSet", "{count} DaemonSets"),
    "ReplicaSet": forms("{count} ReplicaSet", "{count} ReplicaSets"),
    "ReplicationController": forms("{count} ReplicationController", "{count} ReplicationControllers"),
    "Job": forms("{count} Job", "{count} Jobs"),
    "CronJob": forms("{count} CronJob", "{count} CronJobs"),
}


@dataclass(slots=True)
class Made:
    """What one workload gave, or why it gave nothing."""

    workload: ManifestDict
    """As it is kept: with a uid, once pods name it."""
    beside: list[ManifestDict] = field(default_factory=list)
    """ReplicaSets, Jobs, claims."""
    pods: list[ManifestDict] = field(default_factory=list)
    error: ObjectError | None = None
    waits: bool = False
    """A CronJob whose time has not come."""
    later: int = 0
    """Pods of a Job that come when others have finished."""


def make_pods(
    workloads: Iterable[ManifestDict],
    existing: Existing,
    nodes: Sequence[Node],
    taken: Collection[tuple[str, str, str]],
) -> list[Made]:
    """``workloads``: manifests of KINDS, with their namespaces. ``taken``: (kind, namespace, name) of all objects."""
    return _Making(existing, nodes, taken).make(list(workloads))


def notes_of(made: Iterable[Made]) -> list[Sentence]:
    """What became of the workloads, as sentences."""
    pods: dict[str, int] = defaultdict(int)
    from_: dict[str, int] = defaultdict(int)
    waiting = later = 0
    for each in made:
        kind = each.workload["kind"]
        if each.pods:
            from_[kind] += 1
            pods[kind] += len(each.pods)
        waiting += each.waits
        later += each.later
    found: list[Sentence] = []
    if from_:
        workloads = [counted_sentence(*_COUNTED[kind], number) for kind, number in sorted(from_.items(), key=_by_kind)]
        found.append(
            counted_sentence(
                "{count} pod was made from {workloads}, as its controller would make it.",
                "{count} pods were made from {workloads}, as their controllers would make them.",
                sum(pods.values()),
                workloads=joined_with_and(workloads),
            )
        )
    if later:
        found.append(
            counted_sentence(
                "{count} further pod of Jobs comes only when another has finished; it is not made.",
                "{count} further pods of Jobs come only when others have finished; they are not made.",
                later,
            )
        )
    if waiting:
        found.append(
            counted_sentence(
                "{count} CronJob makes no pod until its time comes; what runs of it now is in the export.",
                "{count} CronJobs make no pods until their time comes; what runs of them now is in the export.",
                waiting,
            )
        )
    return found


def _by_kind(item: tuple[str, int]) -> int:
    return list(KINDS).index(item[0])


class _Making:
    def __init__(self, existing: Existing, nodes: Sequence[Node], taken: Collection[tuple[str, str, str]]) -> None:
        self._existing = existing
        self._nodes = nodes
        self._taken = taken
        self._new: set[tuple[str, str, str]] = set()
        self._orphans: dict[str, list[Orphan]] = defaultdict(list)
        for orphan in existing.orphans:
            self._orphans[orphan.namespace].append(orphan)
        self._sets_of: dict[str, list[Workload]] = defaultdict(list)
        """Key of a Deployment → its ReplicaSets that are there as objects."""
        self._nameless: dict[str, list[tuple[str, int]]] = defaultdict(list)
        """Key of a Deployment → (name, active pods) of ReplicaSets that only their pods tell of."""
        self._left = MOST_PODS

    def make(self, manifests: list[ManifestDict]) -> list[Made]:
        read: list[tuple[ManifestDict, Workload | None, ObjectError | None]] = []
        for manifest in manifests:
            try:
                read.append((manifest, read_workload(manifest), None))
            except ObjectError as error:
                read.append((manifest, None, error))
        known = {each.key: each for _, each, _ in read if each is not None}
        owners = {each.key: _owner(each.metadata) for each in known.values()}
        for key, workload in known.items():
            if workload.kind == "ReplicaSet" and (owner := owners[key]) in known:
                self._sets_of[owner].append(workload)
        for namespace, name, active in self._existing.owned_by("ReplicaSet"):
            deployment, _, tail = name.rpartition("-")
            owner = f"Deployment/{namespace}/{deployment}"
            if f"ReplicaSet/{namespace}/{name}" not in known and owner in known and _LETTERS.issuperset(tail):
                self._nameless[owner].append((name, active))
        made: list[Made] = []
        for manifest, each, wrong in read:
            if each is None:
                made.append(Made(manifest, error=wrong))
            elif each.kind == "ReplicaSet" and owners[each.key] in known:
                # Its Deployment answers for it.
                made.append(Made(manifest))
            else:
                made.append(self._made(each))
        return made

    def _made(self, workload: Workload) -> Made:
        made = Made(workload.manifest)
        if workload.metadata.deletion_timestamp is not None:
            return made
        try:
            _MAKERS[workload.kind](self, workload, made)
        except _TooManyError as error:
            text = f"{error.pods:,} pods are asked for, and {MOST_PODS:,} are the most that are made of one file"
            path = "spec.completions" if workload.kind == "Job" else "spec.replicas"
            key = f"{workload.namespace}/{workload.name}"
            return Made(workload.manifest, error=ObjectError(workload.kind, key, (FieldError(path, text),)))
        return made

    # --- kinds ------------------------------------------------------------------------------------------------------

    def deployment(self, workload: Workload, made: Made) -> None:
        sets = self._sets_of[workload.key]
        nameless = self._nameless[workload.key]
        active = sum(self._existing.active.get(each.key, 0) for each in sets) + sum(number for _, number in nameless)
        active += self._adopted(workload, lambda labels: _HASH in labels)
        missing = self._counted(workload.replicas - active)
        if missing <= 0:
            return
        made.workload = with_uid(workload.manifest)
        if sets:
            newest = max(sets, key=lambda each: (each.replicas > 0, _revision(each), each.name))
            owner = newest.manifest
            template = newest.template
        else:
            name = max(nameless, key=lambda each: each[1])[0] if nameless else ""
            owner = self._replica_set(workload, made.workload, name)
            made.beside.append(owner)
            template = read_workload(owner).template
        self._alike(made, with_uid(owner), template, missing)

    def replica_set(self, workload: Workload, made: Made) -> None:
        active = self._existing.active.get(workload.key, 0) + self._adopted(workload, lambda _: True)
        missing = self._counted(workload.replicas - active)
        if missing > 0:
            made.workload = with_uid(workload.manifest)
            self._alike(made, made.workload, workload.template, missing)

    def stateful_set(self, workload: Workload, made: Made) -> None:
        start = workload.spec.ordinals.start
        self._counted(workload.replicas)
        made.workload = with_uid(workload.manifest)
        revision = workload.status.update_revision or _hashed(workload.name, workload.template)
        for ordinal in range(start, start + workload.replicas):
            name = f"{workload.name}-{ordinal}"
            if self._is_there("Pod", workload.namespace, name):
                continue
            own = {
                "statefulset.kubernetes.io/pod-name": name,
                "apps.kubernetes.io/pod-index": str(ordinal),
                _REVISION: revision,
            }
            claims = [self._claim(workload, claim, name) for claim in workload.spec.volume_claim_templates]
            for claim in claims:
                if not self._is_there("PersistentVolumeClaim", workload.namespace, claim["metadata"]["name"]):
                    made.beside.append(claim)
            spec = _with_claims(workload, claims)
            spec = {**spec, "hostname": name}
            if workload.spec.service_name:
                spec["subdomain"] = workload.spec.service_name
            made.pods.append(self._pod(made.workload, workload.template, spec, name=name, labels=own))

    def daemon_set(self, workload: Workload, made: Made) -> None:
        there = set(self._existing.nodes.get(workload.key, ()))
        there |= {each.node for each in self._orphans[workload.namespace] if workload.matches(each.labels)}
        spec = with_tolerations(workload.template.spec)
        probe = decode_manifest({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "any"}, "spec": spec})
        assert isinstance(probe, Pod)
        chosen = [node.metadata.name for node in eligible(probe, self._nodes) if node.metadata.name not in there]
        self._counted(len(chosen))
        if chosen:
            made.workload = with_uid(workload.manifest)
        own = {_REVISION: _hashed(workload.name, workload.template)}
        for node in chosen:
            made.pods.append(self._pod(made.workload, workload.template, for_node(spec, node), about=node, labels=own))

    def job(self, workload: Workload, made: Made) -> None:
        spec, status = workload.spec, workload.status
        over = any(each.type in ("Complete", "Failed") and each.status == "True" for each in status.conditions)
        if spec.suspend or over:
            return
        parallelism = 1 if spec.parallelism is None else spec.parallelism
        succeeded = max(status.succeeded, self._existing.succeeded.get(workload.key, 0))
        active = self._existing.active.get(workload.key, 0)
        wanted = parallelism
        if spec.completions is not None:
            wanted = min(parallelism, max(spec.completions - succeeded, 0))
            made.later = max(spec.completions - succeeded - max(wanted, active), 0) if wanted else 0
        elif succeeded:
            wanted = active  # a work queue is closed once a pod has succeeded
        missing = self._counted(wanted - active)
        if missing <= 0:
            return
        made.workload = with_uid(workload.manifest)
        uid = made.workload["metadata"]["uid"]
        own = {
            "batch.kubernetes.io/controller-uid": uid,
            "batch.kubernetes.io/job-name": workload.name,
            "controller-uid": uid,
            "job-name": workload.name,
        }
        indexed = spec.completion_mode == _INDEXED
        for number in range(missing):
            index = str(succeeded + active + number)
            labels = {**own, **({COMPLETION_INDEX: index} if indexed else {})}
            pod = self._pod(
                made.workload,
                workload.template,
                {**workload.template.spec, **({"hostname": f"{workload.name}-{index}"} if indexed else {})},
                about=index,
                labels=labels,
                base=f"{workload.name}-{index}-" if indexed else "",
            )
            if indexed:
                annotations = pod["metadata"].setdefault("annotations", {})
                annotations[COMPLETION_INDEX] = index
            made.pods.append(pod)

    def cron_job(self, workload: Workload, made: Made) -> None:
        if workload.spec.suspend:
            return
        if workload.metadata.uid:
            made.waits = True
            return
        made.workload = with_uid(workload.manifest)
        template = workload.manifest["spec"]["jobTemplate"]
        metadata = template.get("metadata") or {}
        job = with_uid(
            {
                "apiVersion": KINDS["Job"][0],
                "kind": "Job",
                "metadata": {
                    **{key: metadata[key] for key in ("labels", "annotations") if metadata.get(key)},
                    "name": self._name("Job", workload.namespace, f"{workload.name}-", "run"),
                    "namespace": workload.namespace,
                    "ownerReferences": [owner_reference(made.workload)],
                },
                "spec": template["spec"],
            }
        )
        try:
            read = read_workload(job)
        except ObjectError as error:
            made.error = ObjectError(workload.kind, f"{workload.namespace}/{workload.name}", error.errors)
            return
        of_job = Made(job)
        self.job(read, of_job)
        made.beside, made.pods, made.later = [job], of_job.pods, of_job.later

    # --- parts ------------------------------------------------------------------------------------------------------

    def _counted(self, number: int) -> int:
        if number > self._left:
            raise _TooManyError(number)
        self._left -= max(number, 0)
        return number

    def _is_there(self, kind: str, namespace: str, name: str) -> bool:
        identity = (kind, namespace, name)
        return identity in self._taken or identity in self._new

    def _adopted(self, workload: Workload, fits: Callable[[dict[str, str]], bool]) -> int:
        """Pods that nobody controls and that match; nobody else adopts them then."""
        before = self._orphans[workload.namespace]
        rest = [each for each in before if not (fits(each.labels) and workload.matches(each.labels))]
        self._orphans[workload.namespace] = rest
        return len(before) - len(rest)

    def _replica_set(self, deployment: Workload, owner: ManifestDict, name: str) -> ManifestDict:
        metadata = deployment.manifest["metadata"]
        name = name or f"{deployment.name}-{_hashed(deployment.name, deployment.template)}"
        own = {_HASH: name.rpartition("-")[2]}
        spec = deployment.manifest["spec"]
        selector, template = spec["selector"], spec["template"]
        its = template.get("metadata") or {}
        labels = {**(its.get("labels") or {}), **own}
        return with_uid(
            {
                "apiVersion": KINDS["ReplicaSet"][0],
                "kind": "ReplicaSet",
                "metadata": {
                    "name": name,
                    "namespace": deployment.namespace,
                    "labels": labels,
                    "annotations": {
                        DEPLOYMENT_REVISION: (metadata.get("annotations") or {}).get(DEPLOYMENT_REVISION) or "1",
                    },
                    "ownerReferences": [owner_reference(owner)],
                },
                "spec": {
                    "replicas": deployment.replicas,
                    "selector": {**selector, "matchLabels": {**(selector.get("matchLabels") or {}), **own}},
                    "template": {**template, "metadata": {**its, "labels": labels}},
                },
            }
        )

    def _alike(self, made: Made, owner: ManifestDict, template: Template, number: int) -> None:
        for place in range(number):
            made.pods.append(self._pod(owner, template, template.spec, about=str(place)))

    def _pod(
        self,
        owner: ManifestDict,
        template: Template,
        spec: dict[str, Any],
        *,
        name: str = "",
        about: str = "",
        base: str = "",
        labels: dict[str, str] | None = None,
    ) -> ManifestDict:
        """``about``: what tells it from its siblings, when it has no name of its own."""
        namespace = owner["metadata"].get("namespace", "")
        base = base or f"{owner['metadata']['name']}-"
        metadata: ManifestDict = {
            "name": name or self._name("Pod", namespace, base, about),
            **({} if name else {"generateName": base}),
            "namespace": namespace,
            "labels": {**template.metadata.labels, **(labels or {})},
            "ownerReferences": [owner_reference(owner)],
        }
        if template.metadata.annotations:
            metadata["annotations"] = dict(template.metadata.annotations)
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}

    def _name(self, kind: str, namespace: str, base: str, about: str) -> str:
        for attempt in range(100):
            name = generated_name(base, namespace, about, str(attempt))
            if not self._is_there(kind, namespace, name):
                break
        self._new.add((kind, namespace, name))
        return name

    def _claim(self, workload: Workload, template: ClaimTemplate, pod: str) -> ManifestDict:
        metadata = template.metadata
        labels = {**metadata.labels, **(workload.selector.match_labels if workload.selector else {})}
        return {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {
                "name": f"{metadata.name}-{pod}",
                "namespace": workload.namespace,
                "labels": labels,
                **({"annotations": dict(metadata.annotations)} if metadata.annotations else {}),
            },
            "spec": template.spec,
        }


_MAKERS: Final = {
    "Deployment": _Making.deployment,
    "StatefulSet": _Making.stateful_set,
    "DaemonSet": _Making.daemon_set,
    "ReplicaSet": _Making.replica_set,
    "ReplicationController": _Making.replica_set,
    "Job": _Making.job,
    "CronJob": _Making.cron_job,
}


class _TooManyError(Exception):
    def __init__(self, pods: int) -> None:
        super().__init__(pods)
        self.pods = pods


def _owner(metadata: ObjectMeta) -> str:
    """Key of its controller; "" without one."""
    owner = next((each for each in metadata.owner_references if each.controller), None)
    return "" if owner is None else f"{owner.kind}/{metadata.namespace}/{owner.name}"


def _revision(replica_set: Workload) -> int:
    text = replica_set.metadata.annotations.get(DEPLOYMENT_REVISION, "")
    return int(text) if text.isdecimal() else 0


def _hashed(name: str, template: Template) -> str:
    """Ten letters as a template's hash has them; other templates give others."""
    text = json.dumps([template.spec, template.metadata.labels], sort_keys=True, default=str)
    return generated_name("", name, text, "front") + generated_name("", name, text, "back")


def _with_claims(workload: Workload, claims: Iterable[ManifestDict]) -> dict[str, Any]:
    """The template's spec with its claims as volumes, in place of volumes of their names."""
    spec = workload.template.spec
    own: dict[str, ManifestDict] = {}
    for template, claim in zip(workload.spec.volume_claim_templates, claims, strict=True):
        name = template.metadata.name
        own[name] = {"name": name, "persistentVolumeClaim": {"claimName": claim["metadata"]["name"]}}
    others = [each for each in spec.get("volumes") or () if each.get("name") not in own]
    return {**spec, "volumes": [*own.values(), *others]} if own else dict(spec)
