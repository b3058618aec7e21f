"""Replicas whose own anti-affinity or host port allows fewer of them than there are: what helps the workload."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from framework.advice.candidates import Case, Family, PossibleRemedy
from framework.advice.cluster_changes import scale_command
from framework.advice.edits import selector_words, spread_instead, term_preferred
from framework.advice.operations import operation
from framework.advice.patches import Patch
from framework.advice.played import owner_of
from framework.advice.workloads import OwnRule, own_terms
from framework.objects import Pod
from framework.sentences import Sentence, counted_sentence, forms, joined_with_and, sentence

PER: Final = {
    "kubernetes.io/hostname": forms(
        "One per node: {pods} holds the only node that it could use.",
        "One per node: {pods} hold all {count} nodes that it could use.",
    ),
    "topology.kubernetes.io/zone": forms(
        "One per zone: {pods} holds the only zone that it could use.",
        "One per zone: {pods} hold all {count} zones that it could use.",
    ),
    "topology.kubernetes.io/region": forms(
        "One per region: {pods} holds the only region that it could use.",
        "One per region: {pods} hold all {count} regions that it could use.",
    ),
}
OTHER_KEY: Final = forms(
    "One per {key}: {pods} holds the only value that it could use.",
    "One per {key}: {pods} hold all {count} values that it could use.",
)
HOLDERS_NAMED: Final = 6


def why_never_all(rule: OwnRule) -> Sentence:
    """One per zone: 6gfjf, dpmh8 and xlvtq hold all 3 zones that it could use."""
    names = [_tail(pod) for pod in rule.holders.values()]
    more = len(names) - HOLDERS_NAMED
    pods = (
        joined_with_and(names)
        if more <= 0
        else counted_sentence("{pods} and {count} more", "{pods} and {count} more", more, pods=names[:HOLDERS_NAMED])
    )
    return Sentence(PER.get(rule.key, OTHER_KEY), {"count": len(names), "pods": pods, "key": rule.key})


def _tail(pod: Pod) -> str:
    """Of its name: what tells it from others of its workload; all of it where that is but a number, kafka-0."""
    name = pod.metadata.name
    tail = name.removeprefix(f"{owner_of(pod)[2]}-")
    return name if tail.isdigit() else tail


def workload_changes(case: Case, rule: OwnRule) -> Iterator[Family]:
    """Of the whole workload, because the term of pods that run keeps new ones off as well."""
    if rule.index is not None:
        yield iter([_preferred(case, rule.index, rule.key)])
        yield iter([_spread(case, rule.key, rule.index)])
    if case.workload.kind and all(owner_of(each) == owner_of(case.live) for each in case.workload.placed):
        yield iter([_fewer(case)])


def softened(case: Case) -> Iterator[Family]:
    """Where others hold what its own pods do not: its rule against itself, of all its pods."""
    if case.workload.placed:
        for index, term in own_terms(case.pod):
            yield iter([_preferred(case, index, term.topology_key)])


def _preferred(case: Case, index: int, key: str) -> PossibleRemedy:
    text = sentence(
        "Make the required pod anti-affinity to {pods} per {key} preferred", pods=_selected(case, index), key=key
    )
    return case.with_all_pods("relax", text, term_preferred(case.pod, "pod_anti_affinity", index))


def _spread(case: Case, key: str, index: int) -> PossibleRemedy:
    text = sentence("Spread it over {key} instead of forbidding two: maxSkew 1", key=key)
    return case.with_all_pods("relax", text, spread_instead(case.pod, index))


def _selected(case: Case, index: int) -> Sentence:
    affinity = case.pod.spec.affinity
    assert affinity is not None
    assert affinity.pod_anti_affinity is not None
    terms = affinity.pod_anti_affinity.required_during_scheduling_ignored_during_execution
    return selector_words(terms[index].label_selector)


def _fewer(case: Case) -> PossibleRemedy:
    workload = case.workload
    text = sentence(
        "Run {count} of {size} replicas of {workload}",
        count=len(workload.placed),
        size=workload.size,
        workload=workload.reference,
    )
    operations = tuple(operation("remove", pod) for pod in workload.alike)
    patch = Patch((scale_command(workload, len(workload.placed)),))
    return PossibleRemedy("fewer", text, operations, patch, workload.alike, places=False)
