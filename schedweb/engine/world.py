"""The simulated cluster of a run: made from a snapshot's objects, and what controllers would do in a real one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from framework.advice import Operation, perform
from framework.objects import KubeObject, Node, Pod, PodDisruptionBudget, Taint
from framework.objects.admission import AdmissionError, Unchanged, admit
from framework.objects.decode import decode_manifest, to_manifest
from framework.objects.errors import ObjectError
from framework.objects.selectors import compile_label_selector
from framework.objects.timestamps import SECOND, format_timestamp
from framework.reading.documents import FileRefused
from framework.reading.gathering import current
from framework.scheduler import Cluster, NotFound
from framework.scheduler.cluster import AlreadyExists
from framework.scheduler.controllers import dependents, made_of, replacement
from framework.sentences import SentenceError, sentence, words_of
from framework.workloads import KINDS
from schedweb.engine.names import SAFE

O = TypeVar("O", bound=KubeObject)  # noqa: E741
UNSCHEDULABLE: Final = "node.kubernetes.io/unschedulable"


class Refused(SentenceError, ValueError):
    """A command or an arrival that the cluster does not take. As a string the text is the API server's."""


class World:
    """The cluster with the names and uids it gives: they come from a counter, so replay gives them again."""

    def __init__(self, cluster: Cluster | None = None) -> None:
        self.cluster = Cluster() if cluster is None else cluster
        self.made = 0

    # --- the beginning ----------------------------------------------------------------------------------------------

    def load(self, objects: Iterable[KubeObject]) -> None:
        """Objects as a cluster exported them: admitted once already, so pods come last, after what they refer to."""
        pods: list[Pod] = []
        for obj in objects:
            if isinstance(obj, Pod):
                pods.append(obj)
            else:
                self.cluster.put(self._admitted(obj))
        unchanged = Unchanged()
        for pod in pods:
            known = pod.metadata.uid and unchanged.says(pod)
            self.cluster.put(pod if known else self._admitted_pod(pod, unchanged))

    def _admitted_pod(self, pod: Pod, unchanged: Unchanged) -> Pod:
        admitted = self._admitted(pod)
        if admitted is pod:
            unchanged.learn(pod)
        return admitted

    def _admitted(self, obj: O) -> O:
        admitted = admit(self._with_uid(obj), self.cluster, stored=True, validate=False)
        if isinstance(admitted, AdmissionError):
            raise Refused(f"{obj.kind} {obj.key}: {admitted.message}")
        return admitted

    def _with_uid(self, obj: O) -> O:
        if obj.metadata.uid:
            return obj
        return replace(obj, metadata=replace(obj.metadata, uid=self._uid(f"{obj.kind}/{obj.key}")))

    def _uid(self, about: str) -> str:
        digest = hashlib.blake2b(f"{self.made}/{about}".encode(), digest_size=16).hexdigest()
        return f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:]}"

    def _suffix(self) -> str:
        digest = hashlib.blake2b(f"{self.made}/name".encode(), digest_size=5).digest()
        return "".join(SAFE[byte % len(SAFE)] for byte in digest)

    # --- what people and controllers do -----------------------------------------------------------------------------

    def create(self, manifest: dict[str, Any], now: int) -> KubeObject:
        try:
            decoded = decode_manifest(manifest)
        except ObjectError as error:
            raise Refused(str(error)) from None
        return self.add(decoded, now)

    def add(self, obj: KubeObject, now: int, *, stored: bool = False) -> KubeObject:
        """`stored`: made from an object that was admitted before."""
        self.made += 1
        metadata = obj.metadata
        if isinstance(obj, Pod) and not metadata.namespace:
            metadata = replace(metadata, namespace="default")
        if not metadata.name and metadata.generate_name:
            metadata = replace(metadata, name=metadata.generate_name + self._suffix())
        if not metadata.creation_timestamp:
            metadata = replace(metadata, creation_timestamp=format_timestamp(now // SECOND * SECOND))
        named = replace(obj, metadata=metadata)
        if not metadata.uid:
            named = replace(named, metadata=replace(metadata, uid=self._uid(f"{named.kind}/{named.key}")))
        admitted = admit(named, self.cluster, stored=stored, comparisons=self.cluster.comparisons)
        if isinstance(admitted, AdmissionError):
            raise Refused(admitted.message)
        try:
            return self.cluster.create(admitted)
        except AlreadyExists as error:
            raise Refused(str(error)) from None

    def add_workload(self, manifest: dict[str, Any], now: int) -> tuple[KubeObject, int]:
        """(the workload, how many pods its controllers made). Nothing is there when it is refused."""
        try:
            made = made_of(self.cluster, current(manifest))
            if made.error is not None:
                raise Refused(words_of(made.error))
            workload, *others = map(decode_manifest, (made.workload, *made.beside, *made.pods))
        except (FileRefused, ObjectError) as error:
            raise Refused(words_of(error)) from None
        if self.cluster.find(workload) is not None:
            raise Refused(f'{KINDS[workload.kind][1]} "{workload.metadata.name}" already exists')
        if made.pods:
            refused = admit(others[-1], self.cluster, comparisons=self.cluster.comparisons)
            if isinstance(refused, AdmissionError):
                raise Refused(
                    sentence(
                        "{what}: its pods are refused: {why}",
                        what=f"{workload.kind} {workload.key}",
                        why=refused.message,
                    )
                )
        for each in (workload, *others):
            self.add(each, now)
        return workload, len(made.pods)

    def delete_workload(self, workload: KubeObject) -> int:
        """With all that it controls. How many pods went."""
        gone = dependents(self.cluster, workload)
        for each in (workload, *gone):
            if self.cluster.find(each) is not None:
                self.delete(each)
        return sum(isinstance(each, Pod) for each in gone)

    def pod(self, namespace: str, name: str) -> Pod:
        found = self.cluster.get(Pod, namespace, name)
        if found is None:
            raise Refused(f'pods "{name}" not found in namespace "{namespace}"')
        return found

    def node(self, name: str) -> Node:
        found = self.cluster.get(Node, "", name)
        if found is None:
            raise Refused(f'nodes "{name}" not found')
        return found

    def delete(self, obj: KubeObject) -> None:
        try:
            self.cluster.delete(obj)
        except NotFound as error:
            raise Refused(str(error)) from None

    def asked(self, manifest: dict[str, Any], version: str | None = None) -> tuple[KubeObject, KubeObject]:
        """(the object of that kind and name as it is, as the manifest has it). ``version``: which it must have."""
        try:
            asked = decode_manifest(manifest)
        except ObjectError as error:
            raise Refused(str(error)) from None
        known = self.cluster.find(asked)
        if known is None:
            raise Refused(f"{asked.kind} {asked.key} not found")
        if version is not None and version != known.metadata.resource_version:
            raise Refused(
                sentence(
                    "{kind} {name} has changed since it was read. Read it again, or change it as it is now.",
                    kind=known.kind,
                    name=known.key,
                )
            )
        return known, asked

    def replace(self, known: KubeObject, asked: KubeObject) -> None:
        """As an update: the object stays the same one, a pod keeps its node and its status.

        A pod that cannot be updated so is made anew under its name (framework/objects/pod_updates.py).
        """
        if isinstance(known, Pod) and isinstance(asked, Pod) and known.spec.node_name != asked.spec.node_name:
            raise Refused(sentence("pod {pod}: its node cannot be changed, only that of a new pod", pod=known.key))
        admitted = admit(asked, self.cluster, stored=True)
        if isinstance(admitted, AdmissionError):
            raise Refused(f"{asked.kind} {asked.key}: {admitted.message}")
        try:
            perform(self.cluster, Operation("replace", to_manifest(admitted)))
        except (ObjectError, ValueError) as error:
            raise Refused(str(error)) from None

    def budget_keeping(self, pod: Pod, spent: dict[str, int]) -> str | None:
        """The PodDisruptionBudget that allows no eviction of this pod any more; else the eviction is counted."""
        covering = [
            budget
            for budget in self.cluster.list(PodDisruptionBudget, pod.metadata.namespace)
            if budget.spec.selector is not None
            and compile_label_selector(budget.spec.selector).matches(pod.metadata.labels)
        ]
        for budget in covering:
            if budget.status.disruptions_allowed <= spent.get(budget.key, 0):
                return budget.metadata.name
        for budget in covering:
            spent[budget.key] = spent.get(budget.key, 0) + 1
        return None

    def cordon(self, name: str, *, cordoned: bool) -> None:
        """`kubectl cordon` sets spec.unschedulable; the node controller adds the taint."""
        node = self.node(name)
        others = tuple(taint for taint in node.spec.taints if taint.key != UNSCHEDULABLE)
        mark = (Taint(key=UNSCHEDULABLE, effect="NoSchedule"),) if cordoned else ()
        spec = replace(node.spec, unschedulable=cordoned, taints=(*others, *mark))
        if spec != node.spec:
            self.cluster.replace(replace(node, spec=spec))

    def pods_on(self, name: str) -> list[Pod]:
        return [pod for pod in self.cluster.list(Pod) if pod.spec.node_name == name]

    def replacement(self, pod: Pod) -> Pod | None:
        """The pod that its controller would make instead; None for a pod without one."""
        return replacement(self.cluster, pod)

    def evict(self, pod: Pod) -> bool:
        """The pod goes as by an eviction. Whether its controller makes it anew."""
        made_anew = self.replacement(pod) is not None
        try:
            self.cluster.evict(pod)
        except NotFound as error:
            raise Refused(str(error)) from None
        return made_anew
