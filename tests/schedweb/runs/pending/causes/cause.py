"""One cause: a cluster, and what the page of the pod shop/it says first."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.schedweb.engine.worlds import DEFAULT
from tests.schedweb.runs.pending.causes.manifests import Manifest


@dataclass(frozen=True)
class Cause:
    name: str
    objects: list[Manifest]
    headline: str
    """Of the pod shop/it."""
    detail: str = ""
    configuration: str = DEFAULT
    profile_wants: dict[str, str] = field(default_factory=dict)
    """Labels of nodes for which the configuration's profile asks."""
