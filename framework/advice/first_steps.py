"""Changes that are not enough alone, and what is tried on top of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from framework.advice.candidates import Case, PossibleRemedy
from framework.advice.catalogue import quota_for_all
from framework.advice.edits import relaxations
from framework.advice.gang_gates import Steps
from framework.advice.gangs import too_large_gang
from framework.advice.operations import WAIT, Operation
from framework.advice.patches import Patch
from framework.advice.pod_changes import without_own_gates
from framework.advice.pod_groups import first_of_group
from framework.advice.trial import Edit
from framework.objects import Pod
from framework.objects.decode import decode_manifest
from framework.sentences import sentence


@dataclass(frozen=True, slots=True)
class FirstStep:
    remedy: PossibleRemedy
    pod: Pod
    """As it is tried from then on."""
    edits: tuple[Edit, ...] = ()
    """What else is different from then on."""


def first_steps(case: Case) -> Iterator[FirstStep]:
    """What keeps it from being tried at all comes first; rules of its own are softened where nothing of that is so."""
    found = False
    for step in (*_gates(case), *_of_objects(case)):
        found = True
        yield step
    if not found:
        for steps in relaxations(case.pod):
            yield FirstStep(case.with_pods("relax", steps[-1].text, steps[-1].pod), steps[-1].pod)


def _gates(case: Case) -> Iterator[FirstStep]:
    for text, pod in without_own_gates(case.pod):
        yield FirstStep(case.with_pods("gate", text, pod, in_place=True), pod)
    steps = Steps(case)
    if steps.most:
        yield FirstStep(steps.remedy(steps.most), *steps.change(steps.most))


def _of_objects(case: Case) -> Iterator[FirstStep]:
    for remedy in (*first_of_group(case), *too_large_gang(case), *quota_for_all(case)):
        edits = []
        for each in remedy.operations:
            if each.verb == "remove":
                continue  # what is made anew is put in its place
            changed = decode_manifest(each.manifest)
            edits.append(Edit(case.trial.cluster.find(changed), changed))
        yield FirstStep(remedy, case.pod, tuple(edits))


def both(first: PossibleRemedy, second: PossibleRemedy) -> PossibleRemedy:
    known = {pod.key for pod in first.changed}
    return PossibleRemedy(
        first.kind,
        sentence("{first}. {second}.", first=first.text, second=second.text),
        (*second.operations, *first.operations),
        # Nodes are nothing that kubectl adds.
        Patch(
            (*first.patch.commands, *second.patch.commands),
            "\n".join(diff for diff in (first.patch.diff, second.patch.diff) if diff),
        ),
        (*first.changed, *(pod for pod in second.changed if pod.key not in known)),
    )


def touches(remedy: PossibleRemedy, other: PossibleRemedy) -> bool:
    """Whether both are about one object: the second would undo what the first did."""
    return not objects_of(remedy).isdisjoint(objects_of(other))


def objects_of(remedy: PossibleRemedy) -> frozenset[tuple[str, str, str, str]]:
    """(apiVersion, kind, namespace, name) of all that it changes."""
    return frozenset(_about(each) for each in remedy.operations if each.verb != WAIT)


def _about(asked: Operation) -> tuple[str, str, str, str]:
    manifest, metadata = asked.manifest, asked.manifest["metadata"]
    return manifest["apiVersion"], manifest["kind"], metadata.get("namespace", ""), metadata["name"]
