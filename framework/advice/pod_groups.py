"""A PodGroup that fits what there is: made where it lacks, of fewer members, or without an amount that all need
(docs/semantics/pod-groups.md#coscheduling)."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from framework.advice.candidates import Case, Family, PossibleRemedy
from framework.advice.catalogue import of_object
from framework.advice.operations import operation
from framework.advice.patches import Patch, applied, object_diff
from framework.advice.trial import Edit
from framework.objects import ObjectMeta, Pod, PodGroup
from framework.objects.cluster import PodGroupSpec
from framework.objects.scheduling import (
    GangSchedulingPolicy,
    PodGroupSchedulingPolicy,
    SchedulingPodGroup,
    SchedulingPodGroupSpec,
)
from framework.plugins.coscheduling.pod_groups import LABEL
from framework.sentences import sentence


def fitted_groups(case: Case) -> Iterator[Family]:
    """Largest groups first: they are played, so what comes out is as large as a gang can be here and now."""
    members = members_of(case)
    if (missing := _missing(case)) is not None:
        yield (_created(case, missing, size) for size in dict.fromkeys((len(members), 1)))
    if (group := _own(case)) is None:
        return
    wanted = group.spec.min_member
    placed = sum(bool(case.now[pod.key].node) for pod in members if pod.key in case.now)
    have_room = case.trial.beside_its_group([Edit(group, _of(group, 1))]).in_place
    sizes = dict.fromkeys(size for size in (len(members), wanted - 1, have_room, placed + 1, 1) if size > 0)
    yield (_smaller(group, size) for size in sorted(sizes, reverse=True) if size < wanted)
    if group.spec.min_resources:
        yield (_without_amounts(group, size) for size in sorted({*sizes, wanted}, reverse=True))


def _own(case: Case) -> PodGroup | None:
    """scheduler-plugins' group of the pod."""
    name = case.live.metadata.labels.get(LABEL)
    return case.cluster.get(PodGroup, case.live.metadata.namespace, name) if name else None


def _missing(case: Case) -> type[PodGroup] | type[SchedulingPodGroup] | None:
    """The API in which the pod names a group that is not there."""
    pod = case.live
    namespace, named = pod.metadata.namespace, pod.spec.scheduling_group
    if pod.metadata.labels.get(LABEL) and _own(case) is None:
        return PodGroup
    if named is not None and named.pod_group_name:
        return None if case.cluster.get(SchedulingPodGroup, namespace, named.pod_group_name) else SchedulingPodGroup
    return None


def members_of(case: Case) -> list[Pod]:
    """All pods of the pod's PodGroup, of either API, this one included; none of a pod without a group."""
    pod = case.live
    name, group = pod.metadata.labels.get(LABEL), pod.spec.scheduling_group
    return [
        each
        for each in case.cluster.list(Pod, pod.metadata.namespace)
        if (name and each.metadata.labels.get(LABEL) == name) or (group and each.spec.scheduling_group == group)
    ]


def first_of_group(case: Case) -> Iterator[PossibleRemedy]:
    """What is the matter with the PodGroup itself, whatever else there is: it is not there, has too few members, or
    wants an amount for all of them."""
    size = len(members_of(case))
    if (missing := _missing(case)) is not None:
        yield _created(case, missing, size)
    elif (group := _own(case)) is None:
        return
    elif group.spec.min_resources:
        yield _without_amounts(group, min(size, group.spec.min_member))
    elif size < group.spec.min_member:
        yield _smaller(group, size)


def _created(case: Case, of: type[PodGroup] | type[SchedulingPodGroup], size: int) -> PossibleRemedy:
    about, named = case.live.metadata, case.live.spec.scheduling_group
    made: PodGroup | SchedulingPodGroup
    if of is PodGroup:
        metadata = ObjectMeta(namespace=about.namespace, name=about.labels[LABEL])
        made = PodGroup(metadata=metadata, spec=PodGroupSpec(min_member=size))
        text = sentence("Create PodGroup {group} with minMember {count}", group=made.key, count=size)
    else:
        assert named is not None
        metadata = ObjectMeta(namespace=about.namespace, name=named.pod_group_name or "")
        policy = PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=size))
        made = SchedulingPodGroup(metadata=metadata, spec=SchedulingPodGroupSpec(scheduling_policy=policy))
        text = sentence("Create PodGroup {group} with minCount {count}", group=made.key, count=size)
    patch = Patch(applied(made), object_diff(None, made))
    return PossibleRemedy("create", text, (operation("add", made),), patch)


def _of(group: PodGroup, size: int) -> PodGroup:
    return replace(group, spec=replace(group.spec, min_member=size))


def _smaller(group: PodGroup, size: int) -> PossibleRemedy:
    after = _of(group, size)
    text = sentence("Lower minMember of PodGroup {group} to {count}", group=group.key, count=size)
    return of_object("relax", text, group, after, {"spec": {"minMember": size}})


def _without_amounts(group: PodGroup, size: int) -> PossibleRemedy:
    """``size``: what its minMember is to be as well."""
    after = replace(group, spec=replace(group.spec, min_resources=None))
    text = sentence("Leave minResources out of PodGroup {group}", group=group.key)
    merged: dict[str, object] = {"minResources": None}
    if size != group.spec.min_member:
        after = replace(after, spec=replace(after.spec, min_member=size))
        text = sentence(
            "Leave minResources out of PodGroup {group} and lower its minMember to {count}", group=group.key, count=size
        )
        merged["minMember"] = size
    return of_object("relax", text, group, after, {"spec": merged})
