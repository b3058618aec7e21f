"""Why nothing was found that helps a pod: a true sentence for every way in which that happens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from framework.advice.candidates import Case, pods_in_words
from framework.advice.pod_changes import without_own_gates
from framework.advice.scratch import why_not_placed
from framework.advice.trial import Outcome
from framework.objects import Pod
from framework.scheduler import Scheduler
from framework.sentences import Sentence, counted_sentence, joined_with_and, sentence

ENDED: Final = ("Succeeded", "Failed")
ERROR: Final = "SchedulerError"


def why_it_is_not_asked(pod: Pod) -> Sentence | None:
    """None of a pod that the scheduler would place."""
    if pod.metadata.deletion_timestamp is not None:
        return sentence("It is being deleted, and is not scheduled any more.")
    if pod.status.phase in ENDED:
        return sentence("It has ended, and is not scheduled any more.")
    return None


def why_nothing_helps(
    scheduler: Scheduler, case: Case, alone: Outcome | None, placed: Sequence[Pod], *, leaves: bool
) -> Sentence:
    """``alone``: what became of it where it was tried beside nobody else; None where that was not done. ``placed``: who
    is pending with it and gets a node without any change. ``leaves``: whether it is gone at the end of the run."""
    if leaves:
        return sentence("It leaves before it has a node: what is still to come in the run deletes it.")
    asked = case.live.spec.scheduler_name
    if scheduler.profiles.get(asked) is None:
        return sentence(
            "No profile of the configuration is called {name}, and it was given no node under another name either.",
            name=asked,
        )
    if alone is None:
        return sentence("There was no time to try anything: playing the run on takes too long.")
    gates = [gate.name for gate in case.live.spec.scheduling_gates]
    if not gates:
        return _of_try(scheduler, case, alone, placed)
    ((_, pod),) = without_own_gates(case.pod)
    with case.as_if(pod):
        said = _of_try(scheduler, case, case.trial.schedule(preempting=True), placed)
    return counted_sentence(
        "Its scheduling gate {gates} holds it back, and without it this is so: {said}",
        "Its scheduling gates {gates} hold it back, and without them this is so: {said}",
        len(gates),
        gates=joined_with_and(list(gates)),
        said=said,
    )


def _of_try(scheduler: Scheduler, case: Case, tried: Outcome, placed: Sequence[Pod]) -> Sentence:
    attempt = tried.attempt
    if tried.node:
        return _of_who_fits_alone(case, tried.node, placed)
    if attempt is None:
        return _held_back(scheduler, case.pod)
    if attempt.reason == ERROR:
        return sentence("An attempt to schedule it ends with an error: {message}", message=attempt.message)
    message = why_not_placed(attempt)
    if not attempt.unschedulable_plugins:
        return sentence("Nothing that was tried helps: {message}", message=message)
    plugins = joined_with_and(list(attempt.unschedulable_plugins))
    others = {pod.key for pod in placed}
    gained = [pod for pod in case.ever_first.values() if pod.key not in others]
    if not gained:
        return sentence(
            "Nothing that was tried helps. As things are it is refused by {plugins}: {message}",
            plugins=plugins,
            message=message,
        )
    return sentence(
        "Nothing that was tried helps: a node is found for {pods} then, not for it. As things are it is refused by "
        "{plugins}: {message}",
        pods=pods_in_words(gained),
        plugins=plugins,
        message=message,
    )


def _of_who_fits_alone(case: Case, node: str, placed: Sequence[Pod]) -> Sentence:
    others = tuple({pod.key: pod for pod in (*placed, *case.ever_first.values())}.values())
    if not others:
        return sentence(
            "Alone it would go to {node}; played to its end beside all others it has no node, and nothing that was "
            "tried changes that.",
            node=node,
        )
    return sentence(
        "Alone it would go to {node}. Beside {pods}, for which a node is found, it has none, and nothing that was "
        "tried changes that.",
        node=node,
        pods=pods_in_words(others),
    )


def _held_back(scheduler: Scheduler, pod: Pod) -> Sentence:
    """By a PreEnqueue plugin, before any attempt."""
    for plugin in scheduler.profiles[pod.spec.scheduler_name].enabled.pre_enqueue:
        status = plugin.pre_enqueue(pod)
        if status is not None and not status.is_success:
            return sentence(
                "{plugin} keeps it out of the queue, and nothing that was tried changes that: {message}",
                plugin=plugin.name,
                message=status.message,
            )
    return sentence("It is not tried on any node, and nothing that was tried changes that.")
