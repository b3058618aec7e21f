"""Arguments of v1 plugins that old plugins, predicates and priorities turn into."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from framework.configuration.errors import PathPart
from framework.configuration.older.findings import Findings, Path
from framework.sentences import sentence

FIT: Final = "NodeResourcesFit"
_MOST_SPECIFIC: Final = ("RequestedToCapacityRatio", "MostAllocated", "LeastAllocated")
DEFAULT_SHAPE: Final = ({"utilization": 0, "score": 10}, {"utilization": 100, "score": 0})
"""What RequestedToCapacityRatioPriority did without an argument: it liked empty nodes."""

ARGUMENTS: Final = ("apiVersion", "kind", "resources", "shape")
"""Of the plugins and priorities that became a strategy."""


def tell_unknown(args: Any, known: Iterable[str], at: Path, findings: Findings) -> None:
    """Names what of a mapping nobody read, then as now."""
    for name in args if isinstance(args, dict) else ():
        if name not in known:
            words = sentence("No version of kube-scheduler reads {field} here.", field=name)
            findings.dropped(str(name), (*at, name), words)


@dataclass(frozen=True, slots=True)
class Strategy:
    """One of the plugins that scored by requests and capacity; NodeResourcesFit has room for one."""

    type: str
    weight: int
    what: str
    """Its old name."""
    at: tuple[PathPart, ...]
    resources: Sequence[Any] = ()
    shape: Sequence[Any] = ()

    def scoring(self) -> dict[str, Any]:
        scoring: dict[str, Any] = {"type": self.type}
        if self.resources:
            scoring["resources"] = list(self.resources)
        if self.type == "RequestedToCapacityRatio":
            scoring["requestedToCapacityRatio"] = {"shape": list(self.shape)}
        return scoring


def chosen(strategies: Sequence[Strategy]) -> Strategy | None:
    """The one with the highest weight; among equals the one that says most."""
    return min(strategies, key=lambda each: (-each.weight, _MOST_SPECIFIC.index(each.type)), default=None)


def required_labels(present: Iterable[str], absent: Iterable[str]) -> list[dict[str, str]]:
    """NodeLabel's filter as expressions of a node selector term, which have to hold together."""
    return [
        *({"key": label, "operator": "Exists"} for label in present),
        *({"key": label, "operator": "DoesNotExist"} for label in absent),
    ]


def with_expressions(added: Any, expressions: list[dict[str, str]]) -> dict[str, Any]:
    """``addedAffinity`` with these expressions in every one of its terms, of which one has to hold."""
    affinity = dict(added) if isinstance(added, dict) else {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    terms = required.get("nodeSelectorTerms") if isinstance(required, dict) else None
    listed = [each for each in terms or [{}] if isinstance(each, dict)]
    affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {
        "nodeSelectorTerms": [
            {**each, "matchExpressions": [*(each.get("matchExpressions") or []), *expressions]} for each in listed
        ]
    }
    return affinity
