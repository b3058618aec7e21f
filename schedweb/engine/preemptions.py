"""Who had to leave for whom: heard while victims are deleted, told when the attempt that evicted them has ended.

DefaultPreemption deletes its victims within PostFilter; that attempt's trace, which names them, comes after that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from framework.objects import Pod
from framework.sentences import Content, Sentence, counted_sentence, sentence
from framework.trace.attempt import AttemptTrace, PostFilterOutcome
from schedweb.engine import feed as lines
from schedweb.engine.feed import Feed
from schedweb.engine.pod_view import PodView

#: More victims of one preemption than this are counted in the feed; the pod's page names all.
SHOWN: Final = 3


def was_preempted(pod: Pod) -> bool:
    """Kube-scheduler says so on a victim before it deletes it (docs/semantics/preemption.md#eviction)."""
    return any(
        each.type == "DisruptionTarget" and each.status == "True" and each.reason == "PreemptionByScheduler"
        for each in pod.status.conditions
    )


@dataclass(frozen=True, slots=True)
class PreemptionView:
    """`victim` had to leave `node` for `by`, in the attempt `number` of the run as its victim `place`."""

    number: int
    place: int
    attempt: int
    at: int
    node: str
    by: PodView
    victim: PodView


class Preemptions:
    def __init__(self) -> None:
        self.made: list[PreemptionView] = []
        """Since the last batch."""
        self._gone: dict[str, PodView] = {}
        """namespace/name → pods that a preemption deleted in the cycle under way."""

    def deleted(self, pod: Pod, view: PodView) -> None:
        if was_preempted(pod):
            self._gone[view.key] = view

    def ended(
        self, view: PodView, trace: AttemptTrace, at: int, named: Callable[[str], PodView | None], feed: Feed
    ) -> list[PodView]:
        """The victims of this failed attempt. ``named`` finds those that stayed: one that waited is only refused."""
        gone, self._gone = self._gone, {}
        everyone: list[PodView] = []
        for outcome in trace.post_filter:
            if not outcome.nominated_node or not outcome.victims:
                continue
            victims = [victim for key in outcome.victims if (victim := gone.get(key) or named(key))]
            for place, victim in enumerate(victims):
                node = outcome.nominated_node
                self.made.append(PreemptionView(trace.cycle, place, trace.attempt, at, node, view, victim))
                victim.step(at, sentence("Preempted by {pod}", pod=view.key), strong=True)
            _tell(feed, at, view, outcome, victims)
            everyone += victims
        return everyone

    def take(self) -> list[PreemptionView]:
        made, self.made = self.made, []
        return made


def _tell(feed: Feed, at: int, view: PodView, outcome: PostFilterOutcome, victims: list[PodView]) -> None:
    node = outcome.nominated_node or ""
    more = len(victims) - SHOWN
    about: dict[str, Content] = {
        "pod": lines.pod(view),
        "victims": [lines.pod(each) for each in victims[:SHOWN]],
        "node": lines.node(node),
    }
    if any(each.node not in ("", node) for each in victims):
        words = _across(more, about)
    elif more > 0:
        words = counted_sentence(
            "{pod} preempted {victims} and {count} more on {node}.",
            "{pod} preempted {victims} and {count} more on {node}.",
            more,
            **about,
        )
    else:
        words = sentence("{pod} preempted {victims} on {node}.", **about)
    feed.line(at, "preemption", words, state="in_flight", nodes=(node,), views=[view, *victims])


def _across(more: int, about: dict[str, Content]) -> Sentence:
    """Of pods that left several nodes."""
    if more <= 0:
        return sentence("{pod} preempted {victims} on several nodes, for room on {node}.", **about)
    return counted_sentence(
        "{pod} preempted {victims} and {count} more on several nodes, for room on {node}.",
        "{pod} preempted {victims} and {count} more on several nodes, for room on {node}.",
        more,
        **about,
    )
