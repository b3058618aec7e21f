"""Who may be written to: the contexts that whoever starts the server names in PLAYGROUND_MAY_SCHEDULE.

Nothing that writes can be made without such a permission, and no command or click makes one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from framework.sentences import sentence
from schedweb.clusters.reading.problems import ClusterProblem

VARIABLE: Final = "PLAYGROUND_MAY_SCHEDULE"


@dataclass(frozen=True, slots=True)
class Permission:
    context: str


def is_allowed(context: str, variables: Mapping[str, str] = os.environ) -> bool:
    """Whether whoever started this process named the context."""
    return context in {each.strip() for each in variables.get(VARIABLE, "").split(",")}


def permission(context: str, named: str, variables: Mapping[str, str] = os.environ) -> Permission:
    """``named``: the cluster's name as a person typed it. Raises ClusterProblem (not_allowed)."""
    if not is_allowed(context, variables):
        words = sentence(
            "This server may not schedule in {context}. Whoever runs it names the contexts in {variable}.",
            context=context,
            variable=VARIABLE,
        )
        raise ClusterProblem(words, "not_allowed")
    if named != context:
        words = sentence("The name that was typed is {named}, not {context}.", named=named, context=context)
        raise ClusterProblem(words, "not_allowed")
    return Permission(context)
