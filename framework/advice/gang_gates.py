"""Scheduling gates of a pod, and of those without whom its PodGroup is not tried."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from shlex import quote

from msgspec.structs import replace

from framework.advice.candidates import Case, Family, PossibleRemedy, pods_in_words
from framework.advice.operations import operation
from framework.advice.patches import PODS_NAMED, Patch, object_diff
from framework.advice.pod_groups import members_of
from framework.advice.trial import Edit
from framework.objects import Pod
from framework.sentences import counted_sentence


def ungated_gangs(case: Case) -> Iterator[Family]:
    """As few gates as let the PodGroup be tried; the pod's own are among them."""

    def family() -> Family:
        for remedy, pod, edits in without_gates(case):
            if case.fits(pod, edits):
                yield remedy

    yield family()


def without_gates(case: Case) -> Iterator[tuple[PossibleRemedy, Pod, tuple[Edit, ...]]]:
    """Of the pod and of more and more members: the change, the pod after it, what is done to the others in a trial."""
    members = members_of(case)
    gated = [pod for pod in members if pod.spec.scheduling_gates and pod.key != case.live.key]
    own = [case.live] if case.live.spec.scheduling_gates else []
    for count in range(1, len(gated) + 1):
        chosen = gated[:count]
        edits = []
        for pod in chosen:
            standing = case.trial.gang.get(pod.key) or case.trial.cluster.get(Pod, *pod.key.split("/"))
            if standing is not None:
                edits.append(Edit(standing, _without(standing)))
        yield _remedy(case, [*own, *chosen]), _without(case.pod), tuple(edits)


def _without(pod: Pod) -> Pod:
    return replace(pod, spec=replace(pod.spec, scheduling_gates=()))


def _remedy(case: Case, pods: Sequence[Pod]) -> PossibleRemedy:
    names = sorted({gate.name for pod in pods for gate in pod.spec.scheduling_gates})
    text = counted_sentence(
        "Remove the scheduling gate {gates} of {pods}",
        "Remove the scheduling gates {gates} of {pods}",
        len(names),
        gates=names,
        pods=pods_in_words(pods),
    )
    patch = quote(json.dumps({"spec": {"schedulingGates": None}}, separators=(",", ":")))
    commands = tuple(
        f"kubectl patch pod {quote(pod.metadata.name)} -n {quote(pod.metadata.namespace)} --type=merge -p {patch}"
        for pod in pods[:PODS_NAMED]
    )
    after = [_without(pod) for pod in pods]
    diff = "\n".join(object_diff(old, new) for old, new in zip(pods, after, strict=True))
    operations = tuple(operation("replace", pod) for pod in after)
    alike = {pod.key for pod in case.workload.alike}
    return PossibleRemedy(
        "gate", text, operations, Patch(commands, diff), tuple(pod for pod in pods if pod.key in alike)
    )
