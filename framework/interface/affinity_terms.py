"""Pod affinity terms, compiled (docs/semantics/plugins.md#interpodaffinity; upstream ``AffinityTerm``).

A term belongs to the pod that names it. Whose labels it is held against depends on the side: a placed pod's term is
held against the incoming pod and the labels of its namespace; an incoming pod's term against placed pods, whose
namespaces were looked up before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from framework.objects import (
    LabelSelector,
    LabelSelectorRequirement,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    PodAntiAffinity,
    WeightedPodAffinityTerm,
)
from framework.objects.selectors import LabelMatcher, SelectorError, compile_label_selector

NO_LABELS: Final[Mapping[str, str]] = {}


@lru_cache(maxsize=4096)
def _compiled(labels: tuple[tuple[str, str], ...], expressions: tuple[LabelSelectorRequirement, ...]) -> LabelMatcher:
    return compile_label_selector(LabelSelector(match_labels=dict(labels), match_expressions=expressions))


def compiled(selector: LabelSelector | None) -> LabelMatcher:
    """``compile_label_selector``, remembered: pods of one workload bring the same selector again and again."""
    if selector is None:
        return compile_label_selector(None)
    return _compiled(tuple(selector.match_labels.items()), selector.match_expressions)


class AffinityTerm(NamedTuple):
    namespaces: frozenset[str]
    selector: LabelMatcher
    topology_key: str
    namespace_selector: LabelMatcher

    def matches(self, namespace: str, labels: Mapping[str, str], namespace_labels: Mapping[str, str]) -> bool:
        if namespace in self.namespaces or self.namespace_selector.matches(namespace_labels):
            return self.selector.matches(labels)
        return False


def compile_term(pod: Pod, term: PodAffinityTerm) -> AffinityTerm:
    """Raises SelectorError. Without namespaces and namespaceSelector the term means its pod's own namespace."""
    own = not term.namespaces and term.namespace_selector is None
    return AffinityTerm(
        frozenset((pod.metadata.namespace,) if own else term.namespaces),
        compiled(term.label_selector),
        term.topology_key,
        compiled(term.namespace_selector),
    )


@dataclass(frozen=True, slots=True)
class AffinityTerms:
    """All of a pod's pod (anti-)affinity; preferred terms with their weights.

    ``errors``: what is wrong with selectors that cannot be parsed. A list with such a term counts as empty.
    """

    required: tuple[AffinityTerm, ...] = ()
    required_anti: tuple[AffinityTerm, ...] = ()
    preferred: tuple[tuple[int, AffinityTerm], ...] = ()
    preferred_anti: tuple[tuple[int, AffinityTerm], ...] = ()
    errors: tuple[str, ...] = ()


NO_TERMS: Final = AffinityTerms()
NO_AFFINITY: Final = PodAffinity()
NO_ANTI_AFFINITY: Final = PodAntiAffinity()


def compile_terms(pod: Pod) -> AffinityTerms:
    affinity = pod.spec.affinity
    if affinity is None or (affinity.pod_affinity is None and affinity.pod_anti_affinity is None):
        return NO_TERMS
    errors: list[str] = []

    def listed(what: str, terms: tuple[PodAffinityTerm, ...]) -> tuple[AffinityTerm, ...]:
        if not terms:
            return ()
        try:
            return tuple([compile_term(pod, term) for term in terms])
        except SelectorError as error:
            errors.append(f"{what}: {error}")
            return ()

    def weighted(what: str, terms: tuple[WeightedPodAffinityTerm, ...]) -> tuple[tuple[int, AffinityTerm], ...]:
        if not terms:
            return ()
        compiled_terms = listed(what, tuple([term.pod_affinity_term for term in terms]))
        return tuple(zip([term.weight for term in terms], compiled_terms, strict=False))

    near, apart = affinity.pod_affinity or NO_AFFINITY, affinity.pod_anti_affinity or NO_ANTI_AFFINITY
    return AffinityTerms(
        listed("requiredAffinityTerms", near.required_during_scheduling_ignored_during_execution),
        listed("requiredAntiAffinityTerms", apart.required_during_scheduling_ignored_during_execution),
        weighted("preferredAffinityTerms", near.preferred_during_scheduling_ignored_during_execution),
        weighted("preferredAntiAffinityTerms", apart.preferred_during_scheduling_ignored_during_execution),
        tuple(errors),
    )
