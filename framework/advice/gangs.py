"""A PodGroup of scheduling.k8s.io whose gang needs fewer pods (docs/semantics/pod-groups.md#gangscheduling).

Its schedulingPolicy is immutable, so it is made anew. That it comes is also the one change of it that GangScheduling
hears of.
"""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from msgspec.structs import replace

from framework.advice.candidates import Case, Family, PossibleRemedy
from framework.advice.operations import operation
from framework.advice.patches import Patch, applied, object_diff
from framework.advice.pod_groups import members_of
from framework.advice.trial import Edit
from framework.objects import ObjectMeta
from framework.objects.scheduling import GangSchedulingPolicy, PodGroupSchedulingPolicy, SchedulingPodGroup
from framework.sentences import sentence


def gang_of(case: Case) -> tuple[SchedulingPodGroup, GangSchedulingPolicy] | None:
    """The pod's group and its policy; None of a pod whose group is no gang, or not there."""
    named = case.live.spec.scheduling_group
    if named is None or not named.pod_group_name:
        return None
    group = case.cluster.get(SchedulingPodGroup, case.live.metadata.namespace, named.pod_group_name)
    gang = None if group is None else group.spec.scheduling_policy.gang
    return None if group is None or gang is None else (group, gang)


def fitted_gangs(case: Case) -> Iterator[Family]:
    """Largest first: they are played, so what comes out is as large as the gang can be here and now."""
    if (found := gang_of(case)) is None:
        return
    group, gang = found
    members = members_of(case)
    placed = sum(bool(case.now[pod.key].node) for pod in members if pod.key in case.now)
    have_room = case.trial.schedule(edits=(*case.given, Edit(group, _of(group, 1)))).in_place
    sizes = {size for size in (len(members), gang.min_count - 1, have_room, placed + 1, 1) if size > 0}
    yield (smaller_gang(group, size) for size in sorted(sizes, reverse=True) if size < gang.min_count)


def too_large_gang(case: Case) -> Iterator[PossibleRemedy]:
    """It needs more pods than it has, whatever else there is."""
    if (found := gang_of(case)) is not None:
        group, gang = found
        size = len(members_of(case))
        if size < gang.min_count:
            yield smaller_gang(group, size)


def smaller_gang(group: SchedulingPodGroup, size: int) -> PossibleRemedy:
    after = _of(group, size)
    text = sentence(
        "Lower minCount of PodGroup {group} to {count}: make it anew, as its schedulingPolicy cannot be changed",
        group=group.key,
        count=size,
    )
    kind, name = "podgroups.scheduling.k8s.io", quote(group.metadata.name)
    where = f"-n {quote(group.metadata.namespace)}"
    commands = (
        # A finalizer keeps it as long as pods name it, and these go on doing so.
        f"kubectl delete {kind} {name} {where} --wait=false",
        f"""kubectl patch {kind} {name} {where} --type=merge -p '{{"metadata":{{"finalizers":null}}}}'""",
        *applied(after),
    )
    operations = (operation("remove", group), operation("add", after))
    return PossibleRemedy("relax", text, operations, Patch(commands, object_diff(group, after)))


def _of(group: SchedulingPodGroup, size: int) -> SchedulingPodGroup:
    """Without history: what it was told of the group before is not of this one."""
    about = group.metadata
    metadata = ObjectMeta(
        namespace=about.namespace,
        name=about.name,
        labels=about.labels,
        annotations=about.annotations,
        owner_references=about.owner_references,
    )
    policy = PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=size))
    return SchedulingPodGroup(metadata=metadata, spec=replace(group.spec, scheduling_policy=policy))
