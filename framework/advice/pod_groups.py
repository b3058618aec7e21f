"""A PodGroup that fits what there is: made where it lacks, of fewer members, or without an amount that all need
(docs/semantics/pod-groups.md#coscheduling)."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from framework.advice.candidates import Case, Family, PossibleRemedy
from framework.advice.catalogue import of_object
from framework.advice.operations import operation
from framework.advice.patches import Patch, applied, object_diff
from framework.objects import ObjectMeta, Pod, PodGroup
from framework.objects.cluster import PodGroupSpec
from framework.plugins.coscheduling.pod_groups import LABEL
from framework.sentences import sentence


def fitted_groups(case: Case) -> Iterator[Family]:
    """Largest groups first: they are played, so what comes out is as large as a gang can be here and now."""
    name, namespace = case.live.metadata.labels.get(LABEL), case.live.metadata.namespace
    if not name:
        return
    members = [
        pod
        for pod in case.cluster.list(Pod)
        if pod.metadata.namespace == namespace and pod.metadata.labels.get(LABEL) == name
    ]
    group = case.cluster.get(PodGroup, namespace, name)
    if group is None:
        yield (_created(namespace, name, size) for size in dict.fromkeys((len(members), 1)))
        return
    wanted = group.spec.min_member
    placed = sum(bool(case.now[pod.key].node) for pod in members if pod.key in case.now)
    sizes = dict.fromkeys(min(size, wanted) for size in (len(members), wanted - 1, placed + 1, 1) if size > 0)
    yield (_smaller(group, size) for size in sorted(sizes, reverse=True) if size < wanted)
    if group.spec.min_resources:
        yield iter([_without_amounts(group)])


def _created(namespace: str, name: str, size: int) -> PossibleRemedy:
    made = PodGroup(metadata=ObjectMeta(namespace=namespace, name=name), spec=PodGroupSpec(min_member=size))
    text = sentence("Create PodGroup {group} with minMember {count}", group=made.key, count=size)
    patch = Patch(applied(made), object_diff(None, made))
    return PossibleRemedy("create", text, (operation("add", made),), patch)


def _smaller(group: PodGroup, size: int) -> PossibleRemedy:
    after = replace(group, spec=replace(group.spec, min_member=size))
    text = sentence("Lower minMember of PodGroup {group} to {count}", group=group.key, count=size)
    return of_object("relax", text, group, after, {"spec": {"minMember": size}})


def _without_amounts(group: PodGroup) -> PossibleRemedy:
    after = replace(group, spec=replace(group.spec, min_resources=None))
    text = sentence("Leave minResources out of PodGroup {group}", group=group.key)
    return of_object("relax", text, group, after, {"spec": {"minResources": None}})
