"""How people and addresses name a kind: ``PodGroup``, or ``PodGroup.scheduling.k8s.io`` as kubectl does."""

from __future__ import annotations


def of_kind(text: str) -> dict[str, str]:
    """The fields that it asks for: without an API group the kind of any group, nothing for an empty text."""
    kind, _, group = text.partition(".")
    return {field: value for field, value in (("kind", kind), ("group", group)) if value}
