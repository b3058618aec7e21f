"""Pods that a change would give a node, but that nothing has tried again: made anew, they are.

A plugin says which events may help a pod that it refused; of what it leaves out the queue hears nothing, and the pod
waits for the flush of leftovers (docs/semantics/queue.md). NetworkOverhead hears of no AppGroup, Coscheduling of no
node.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace as replace_remedy
from shlex import quote
from typing import Final

from framework.advice.candidates import Case, Family, PossibleRemedy
from framework.advice.operations import Operation, operation
from framework.advice.patches import Patch
from framework.advice.workloads import made_again
from framework.objects import Pod
from framework.objects.decode import decode_manifest
from framework.sentences import counted_sentence

IN_PLACE: Final = "gate"
"""The kind of change that the API server takes of a pod that is there."""


def tried_again(case: Case) -> Iterator[Family]:
    """Where it fits as it is: something helped it that no event told of."""
    if case.asleep and case.fits(case.pod):
        pods = case.workload.alike
        text = counted_sentence(
            "Make the pod anew: it fits, but no event has it tried again",
            "Make the {count} pods anew: they fit, but no event has them tried again",
            len(pods),
        )
        yield iter([PossibleRemedy("again", text, _anew(pods, pods), Patch(_commands(case)), pods)])


def made_anew(case: Case, remedy: PossibleRemedy) -> PossibleRemedy:
    """The same change, and then all pods of the workload that are alike, as the change leaves them, are made anew."""
    pods = case.workload.alike
    own = {pod.key for pod in pods}
    changed = {pod.key: pod for each in remedy.operations if (pod := _put(each)) is not None and pod.key in own}
    others = (each for each in remedy.operations if (pod := _put(each)) is None or pod.key not in own)
    operations = (*others, *_anew(pods, [changed.get(pod.key, pod) for pod in pods]))
    if changed and remedy.kind != IN_PLACE:
        # Its commands make them anew already: of the template that they change.
        return replace_remedy(remedy, operations=operations)
    text = counted_sentence(
        "{change}, and make the pod anew, as no event has it tried again",
        "{change}, and make the {count} pods anew, as no event has them tried again",
        len(pods),
        change=remedy.text,
    )
    # Where the change is nothing that kubectl makes, half of it would mislead.
    commands = (*remedy.patch.commands, *_commands(case)) if remedy.patch.commands else ()
    patch = Patch(commands, remedy.patch.diff)
    return replace_remedy(remedy, text=text, operations=operations, patch=patch, changed=remedy.changed or pods)


def _anew(pods: Sequence[Pod], after: Sequence[Pod]) -> tuple[Operation, ...]:
    return (
        *(operation("remove", each) for each in pods),
        *(operation("add", made_again(each)) for each in after),
    )


def _put(asked: Operation) -> Pod | None:
    """None where it is about something else, or takes something away."""
    if asked.verb not in ("add", "replace") or asked.manifest.get("kind") != Pod.kind:
        return None
    found = decode_manifest(asked.manifest)
    return found if isinstance(found, Pod) else None


def _commands(case: Case) -> tuple[str, ...]:
    """A pod of a controller comes again by itself."""
    workload = case.workload
    where = f"-n {quote(workload.namespace)}"
    names = [quote(pod.metadata.name) for pod in workload.alike]
    if workload.kind:
        return (f"kubectl delete pod {' '.join(names)} {where}",)
    return tuple(f"kubectl get pod {name} {where} -o json | kubectl replace --force -f -" for name in names)
