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
        # Trying a large group costs time: the number is doubled until it is enough, then halved in between.
        steps, too_few, count = Steps(case), 0, 1
        if not steps.most:
            return
        while count <= steps.most and not case.fits(*steps.change(count)):
            if count == steps.most:
                return
            too_few, count = count, min(2 * count, steps.most)
        while count - too_few > 1:
            middle = (too_few + count) // 2
            if case.fits(*steps.change(middle)):
                count = middle
            else:
                too_few = middle
        yield from (steps.remedy(number) for number in dict.fromkeys((count, steps.most)) if number)

    yield family()


class Steps:
    """Of the pod's own gates together with those of more and more members."""

    def __init__(self, case: Case) -> None:
        self._case = case
        others = [pod for pod in members_of(case) if pod.key != case.live.key]
        self._gated = [pod for pod in others if pod.spec.scheduling_gates]
        self.most = len(self._gated)

    def change(self, count: int) -> tuple[Pod, tuple[Edit, ...]]:
        """The pod as it is then, and what is done to the others in a trial."""
        trial, edits = self._case.trial, []
        for pod in self._gated[:count]:
            standing = trial.gang.get(pod.key) or trial.cluster.get(Pod, *pod.key.split("/"))
            if standing is not None:
                edits.append(Edit(standing, _without(standing)))
        return _without(self._case.pod), tuple(edits)

    def remedy(self, count: int) -> PossibleRemedy:
        own = [self._case.live] if self._case.live.spec.scheduling_gates else []
        return _remedy(self._case, [*own, *self._gated[:count]])


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
