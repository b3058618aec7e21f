"""DecisionView: what somebody decided about a pod that waits for a person, or about an eviction."""

from __future__ import annotations

from dataclasses import dataclass

from framework.sentences import Words
from schedweb.engine.pod_view import PodView


@dataclass(slots=True)
class DecisionView:
    """A decision about a waiting pod; its outcome is told when the pod has moved on."""

    number: int
    view: PodView
    decision: str
    by: Words
    plugin: str
    reason: str
    at: int
    node: str
    entry: str = ""
    outcome: Words = ""
