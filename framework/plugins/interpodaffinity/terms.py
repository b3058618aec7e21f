"""The incoming pod's terms with their namespaces looked up, and what placed pods' terms are held against."""

from __future__ import annotations

from typing import Final

from framework.interface import Handle
from framework.interface.affinity_terms import NO_LABELS, AffinityTerm, AffinityTerms
from framework.interface.columns import TermTarget
from framework.objects import Namespace, Pod
from framework.objects.selectors import LabelMatcher

ResolvedTerm = tuple[frozenset[str] | None, LabelMatcher]
"""(namespaces, None for all of them; selector)."""

NO_NAMESPACE_LABELS: Final[tuple[tuple[str, str], ...]] = ()


def resolved(term: AffinityTerm, handle: Handle) -> ResolvedTerm:
    """Which namespaces the incoming pod's term means now.

    Upstream adds the names of the namespaces that match, and means to forget the namespaceSelector after that, but
    forgets it on a copy. So the selector is then held against no labels at all, and one that asks only for absent
    labels means every namespace (spec: plugins-intree §12).
    """
    selector = term.namespace_selector
    if selector.matches(NO_LABELS):
        return None, term.selector
    if selector.nothing:
        return term.namespaces, term.selector
    found = (
        namespace.name for namespace in handle.objects.list(Namespace) if selector.matches(namespace.metadata.labels)
    )
    return term.namespaces.union(found), term.selector


def target_of(pod: Pod, handle: Handle) -> TermTarget:
    metadata = pod.metadata
    namespace = handle.objects.get(Namespace, "", metadata.namespace)
    labels = tuple(sorted(namespace.metadata.labels.items())) if namespace is not None else NO_NAMESPACE_LABELS
    return TermTarget(metadata.namespace, tuple(sorted(metadata.labels.items())), labels)


def parse_error(terms: AffinityTerms) -> str | None:
    """Upstream's text for a pod whose terms cannot be parsed."""
    if not terms.errors:
        return None
    return terms.errors[0] if len(terms.errors) == 1 else f"[{', '.join(terms.errors)}]"
