"""Sentences about pods whose PodGroup of scheduling.k8s.io was tried in one cycle and did not run: what all of its pods
came to there decides about each (docs/semantics/pod-groups.md#group-cycle)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from framework.interface import Code
from framework.trace.attempt import AttemptTrace, PodGroupOutcome
from schedweb.api.errors import ApiError
from schedweb.runs.attempts.selectors import stored_attempt
from schedweb.runs.filtering.filters import FilterView
from schedweb.runs.filtering.standing import Standing, StandingPod
from schedweb.runs.models import Attempt, Run
from schedweb.runs.models.packed import text_of
from schedweb.runs.objects.claims import Objects
from schedweb.runs.pending.answers import pending_answer
from schedweb.runs.pending.in_the_way import some
from schedweb.runs.records.manifests import manifest_of
from schedweb.sentences import both, counted, one_after_another, say

Explanation = tuple[str, str]
POD_GROUP: Final = "PodGroup.scheduling.k8s.io"


def gang_answer(
    run: Run, latest: Attempt, manifest: Mapping[str, Any], objects: Objects, standing: Standing
) -> Explanation | None:
    """(headline, detail) of a pod that has no node because too few of its gang found one; None where that is not so, or
    what the plugins said in attempt ``latest`` is no longer stored."""
    if not (manifest.get("spec") or {}).get("schedulingGroup"):
        return None
    try:
        view = FilterView(stored_attempt(run, latest.number))
    except ApiError:
        return None
    outcome = view.trace.pod_group
    needed = None if outcome is None else _needed(outcome, objects)
    if outcome is None or needed is None:
        return None
    about = {"group": outcome.group, "needed": needed}
    if outcome.waiting_on_preemption:
        return say("Its pod group {group} waits for pods that are evicted for it to leave.", **about), ""
    if outcome.placements:
        return _in_no_placement(outcome, needed), ""
    cycle = _of_cycle(run, latest, outcome)
    found = [pod for pod, row in cycle.items() if row.node]
    others = _members(outcome, standing)
    count = len(found) + sum(bool(each.node) for each in others)
    if not latest.node:
        headline, detail = pending_answer(view, manifest, objects, standing)
        if not count:
            return headline, one_after_another([detail, _too_few(count, about)])
        short = counted(
            "Its pod group {group} needs {needed} pods at once; {count} of them found a node, and beside it there is "
            "none for this one.",
            "Its pod group {group} needs {needed} pods at once; {count} of them found a node, and beside these there "
            "is none for this one.",
            count,
            **about,
        )
        return short, one_after_another([headline, detail])
    lacking = [pod for pod, row in cycle.items() if not row.node]
    waited_for = [each for each in others if not each.node]
    if lacking:
        headline = counted(
            "Its pod group {group} needs {needed} pods at once; {count} of them found a node, {pods} found none.",
            "Its pod group {group} needs {needed} pods at once; {count} of them found a node, {pods} found none.",
            count,
            pods=some(lacking),
            **about,
        )
    elif waited_for:
        headline = counted(
            "Its pod group {group} needs {needed} pods at once; {count} of them found a node, {pods} could not be "
            "tried.",
            "Its pod group {group} needs {needed} pods at once; {count} of them found a node, {pods} could not be "
            "tried.",
            count,
            pods=some([each.key for each in waited_for]),
            **about,
        )
    else:
        headline = _too_few(count, about)
    had = say("It found {node}, and did not keep it.", node=latest.node)
    whys = [_why(run, cycle[pod], objects, standing) for pod in lacking[:1]]
    return headline, one_after_another([had, *whys, *(_held(each) for each in waited_for)])


def tried_in_vain(trace: AttemptTrace, objects: Objects) -> str:
    """Of a member whose group was tried where nothing is known of the others; "" of any other pod."""
    outcome = trace.pod_group
    needed = None if outcome is None else _needed(outcome, objects)
    if outcome is None or needed is None:
        return ""
    return say(
        "Its pod group {group} needs {needed} pods at once, and too few of them find a node.",
        group=outcome.group,
        needed=needed,
    )


def _needed(outcome: PodGroupOutcome, objects: Objects) -> int | None:
    """None where the group could run, where an error ended its cycle, and of a group that is no gang."""
    if outcome.status.is_success or outcome.status.code is Code.ERROR:
        return None
    group = objects.get(POD_GROUP, *outcome.group.split("/", 1)) or {}
    gang = ((group.get("spec") or {}).get("schedulingPolicy") or {}).get("gang") or {}
    needed: int | None = gang.get("minCount")
    return needed


def _in_no_placement(outcome: PodGroupOutcome, needed: int) -> str:
    return counted(
        "Its pod group {group} needs {needed} pods at once in one placement; in the only one not so many find a node.",
        "Its pod group {group} needs {needed} pods at once in one placement; in none of {count} so many find a node.",
        len(outcome.placements),
        group=outcome.group,
        needed=needed,
    )


def _too_few(count: int, about: Mapping[str, Any]) -> str:
    if not count:
        return say("Its pod group {group} needs {needed} pods at once, and none of them found a node.", **about)
    return counted(
        "Its pod group {group} needs {needed} pods at once, and only {count} of them found a node.",
        "Its pod group {group} needs {needed} pods at once, and only {count} of them found a node.",
        count,
        **about,
    )


def _of_cycle(run: Run, latest: Attempt, outcome: PodGroupOutcome) -> dict[str, Attempt]:
    """``namespace/name`` → its attempt in the cycle of ``latest``, in the order in which they were tried out. Attempts
    of one cycle have the same time and follow each other."""
    size = len(outcome.pods)
    near = Attempt.objects.filter(
        run=run, at=latest.at, number__gt=latest.number - size, number__lt=latest.number + size
    )
    by_pod: dict[str, Attempt] = {}
    for row in sorted(near, key=lambda each: -abs(each.number - latest.number)):
        by_pod[f"{row.namespace}/{row.name}"] = row
    return {pod: by_pod[pod] for pod in outcome.pods if pod in by_pod}


def _members(outcome: PodGroupOutcome, standing: Standing) -> list[StandingPod]:
    """Pods of the group that had no part in the cycle."""
    namespace, name = outcome.group.split("/", 1)
    return [
        each
        for each in standing.pods
        if each.namespace == namespace
        and each.key not in outcome.pods
        and b"podGroupName" in text_of(each.stored)
        and (group := each.pod.spec.scheduling_group) is not None
        and group.pod_group_name == name
    ]


def _why(run: Run, row: Attempt, objects: Objects, standing: Standing) -> str:
    key = f"{row.namespace}/{row.name}"
    stored = next((each.stored for each in standing.pods if each.key == key), None)
    if stored is None:
        return ""
    try:
        view = FilterView(stored_attempt(run, row.number))
    except ApiError:
        return ""
    headline, _ = pending_answer(view, manifest_of(stored), objects, standing)
    return say("Of {pod}: {text}", pod=key, text=headline)


def _held(member: StandingPod) -> str:
    gates: Sequence[str] = [gate.name for gate in member.pod.spec.scheduling_gates]
    if not gates:
        return ""
    return counted(
        "{pod} has the scheduling gate {gates}.",
        "{pod} has the scheduling gates {gates}.",
        len(gates),
        pod=member.key,
        gates=both(gates),
    )
