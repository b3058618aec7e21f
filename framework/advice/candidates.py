"""What a remedy is before it was played: a change, and the pod it is for with all that is known of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from framework.advice.operations import Operation, operation
from framework.advice.patches import Patch, pod_patch
from framework.advice.played import PlayedPod
from framework.advice.trial import Edit, Outcome, Trial
from framework.advice.workloads import OwnRule, Workload, changed_like, made_again
from framework.objects import Pod
from framework.scheduler import Cluster
from framework.sentences import Content, Sentence, Words, counted_sentence, joined_with_and

Kind = Literal[
    "again",
    "create",
    "claim",
    "profile",
    "rename",
    "gate",
    "uncordon",
    "quota",
    "threshold",
    "zone",
    "network",
    "node",
    "resize",
    "move",
    "label",
    "tolerate",
    "untaint",
    "relax",
    "lower",
    "priority",
    "fewer",
    "free",
]
"""In the order in which people do these things, other costs being equal."""
PODS_NAMED: Final = 3
PODS_PATCHED: Final = 20
NO_PATCH: Final = Patch()


@dataclass(frozen=True, slots=True)
class PossibleRemedy:
    kind: Kind
    text: Sentence
    operations: tuple[Operation, ...]
    patch: Patch = NO_PATCH
    changed: tuple[Pod, ...] = ()
    """Pods of the workload that are changed, the one that is asked about among them."""
    places: bool = True
    """Whether the pod is to have a node afterwards; with fewer replicas it is no longer wanted."""
    scales: bool = False
    """Whether others leave because their workload wants fewer: no eviction, so no PodDisruptionBudget counts it."""


@dataclass(slots=True)
class Case:
    """A pod without a node, and the cluster in which it is."""

    trial: Trial
    live: Pod
    """As the cluster holds it: what operations are about."""
    workload: Workload
    cluster: Cluster
    """Of the run; nothing is changed in it."""
    now: Mapping[str, PlayedPod]
    """``namespace/name`` → where every pod is."""
    rejected_by: tuple[str, ...] = ()
    asleep: bool = False
    """Whether it is not tried again before something changes, though the run goes on to its end."""
    ahead: frozenset[str] = frozenset()
    """``namespace/name`` of pods that come before it in the queue."""
    came_first: tuple[Pod, ...] = ()
    """Pending pods that got a node when the change that was played last did not give it one."""
    siblings: tuple[Pod, ...] = ()
    """Other pods of its PodGroup that are pending, too: what is large enough for it alone helps none of them."""
    ever_first: dict[str, Pod] = field(default_factory=dict)
    """Of all plays together, by ``namespace/name``."""
    given: tuple[Edit, ...] = ()
    """Of whatever is tried these are a part."""
    rule: OwnRule | None = None
    """The anti-affinity to its own workload, or the host port, that keeps it from every node left."""

    @property
    def pod(self) -> Pod:
        """As it is tried: pending, without a history."""
        return self.trial.pod

    @contextmanager
    def as_if(self, pod: Pod, edits: tuple[Edit, ...] = ()) -> Iterator[None]:
        """What is tried meanwhile is tried for the pod in this shape, and after ``edits``."""
        before, self.trial.pod = self.trial.pod, pod
        given, self.given = self.given, (*self.given, *edits)
        known, rule, asleep = self.rejected_by, self.rule, self.asleep
        self.asleep = False
        try:
            yield
        finally:
            self.trial.pod, self.given, self.rejected_by, self.rule = before, given, known, rule
            self.asleep = asleep

    def fits(self, pod: Pod, edits: Iterable[Edit] = ()) -> Outcome | None:
        """Where it would go in this shape, beside nobody else."""
        outcome = self.trial.schedule(pod, edits=(*self.given, *edits))
        return outcome if outcome.node else None

    def fits_after(self, edits: Iterable[Edit], then: tuple[Pod, ...] = ()) -> Outcome | None:
        outcome = self.trial.schedule(edits=(*self.given, *edits), then=then)
        return outcome if outcome.node else None

    def with_pods(self, kind: Kind, text: Sentence, edited: Pod, *, in_place: bool = False) -> PossibleRemedy:
        """All pods of the workload that are alike, changed as ``edited`` differs from the pod."""
        changed = [changed_like(each, self.pod, edited) for each in self.workload.alike]
        operations = tuple(operation("replace", each) for each in changed)
        patch = pod_patch(self.workload, self.live, changed[0], in_place=in_place)
        return PossibleRemedy(kind, text, operations, patch, self.workload.alike)

    def with_all_pods(self, kind: Kind, text: Sentence, edited: Pod) -> PossibleRemedy:
        """Also those that have a node: a new template makes the whole workload anew."""
        base = self.with_pods(kind, text, edited)
        workload, patch = self.workload, base.patch
        after = [changed_like(each, self.pod, edited) for each in workload.placed]
        if not workload.kind:
            own = (replace(workload, alike=(each,)) for each in workload.placed)
            others = [pod_patch(of, of.alike[0], pod, in_place=False) for of, pod in zip(own, after, strict=True)]
            commands = (each for other in others[:PODS_PATCHED] for each in other.commands)
            patch = Patch((*patch.commands, *commands), patch.diff)
        operations = (
            *(operation("remove", each) for each in workload.placed),
            *base.operations,
            *(operation("add", made_again(each)) for each in after),
        )
        return PossibleRemedy(kind, text, operations, patch, (*workload.alike, *workload.placed))


def pods_in_words(pods: Iterable[Pod]) -> Content:
    return few([pod.key for pod in pods])


def few(words: list[Words]) -> Content:
    """a, b and c; a, b, c and 2 more."""
    more = len(words) - PODS_NAMED
    if more <= 0:
        return joined_with_and(words)
    return counted_sentence("{pods} and {count} more", "{pods} and {count} more", more, pods=words[:PODS_NAMED])


def beside_others(case: Case) -> Iterator[tuple[Pod, ...]]:
    """For whom a change has to be large enough beside the pod, if it was played in between and was too small: its
    PodGroup, then those who got what it was to have and come before it in the queue, then all who did."""
    others = {pod.key: pod for pod in case.siblings}
    yield tuple(others.values())
    while took := [pod for pod in case.came_first if pod.key not in others]:
        others |= {pod.key: pod for pod in [pod for pod in took if pod.key in case.ahead] or took}
        yield tuple(others.values())


def with_others(text: Sentence, others: Sequence[Pod]) -> Sentence:
    if not others:
        return text
    return counted_sentence(
        "{change}: enough for {pods} as well, which comes first",
        "{change}: enough for {pods} as well, which come first",
        len(others),
        change=text,
        pods=pods_in_words(others),
    )


Family = Iterator[PossibleRemedy]
"""Changes of one kind, the smallest first: the first one that works is meant."""
