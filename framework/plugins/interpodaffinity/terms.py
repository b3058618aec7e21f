"""The incoming pod's terms with their namespaces looked up, and what placed pods' terms are held against."""

from __future__ import annotations

from typing import Any, Final

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
    labels means every namespace (docs/semantics/plugins.md#interpodaffinity).
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


class Targets:
    """What placed pods' terms are held against, remembered for the last pod: PreFilter and PreScore ask alike."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._last: tuple[Pod, Namespace | None, TermTarget] | None = None

    def target_of(self, pod: Pod) -> TermTarget:
        metadata = pod.metadata
        namespace = self._handle.objects.get(Namespace, "", metadata.namespace)
        last = self._last
        if last is not None and last[0] is pod and last[1] is namespace:
            return last[2]
        labels = tuple(sorted(namespace.metadata.labels.items())) if namespace is not None else NO_NAMESPACE_LABELS
        target = TermTarget(metadata.namespace, tuple(sorted(metadata.labels.items())), labels)
        self._last = (pod, namespace, target)
        return target

    def __getstate__(self) -> dict[str, Any]:
        return {"_handle": self._handle, "_last": None}


def parse_error(terms: AffinityTerms) -> str | None:
    """Upstream's text for a pod whose terms cannot be parsed."""
    if not terms.errors:
        return None
    return terms.errors[0] if len(terms.errors) == 1 else f"[{', '.join(terms.errors)}]"
