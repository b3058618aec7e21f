"""What can be asked about a moment of a run, as types: the web validates against them, the process answers them.

What a question needs from outside (a manifest) is in it, so that equal questions have equal arguments and one answer.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

import msgspec

from schedweb.engine.commands import Name, Namespace

POD_LIMIT: Final = 1000
NODE_LIMIT: Final = 200
MAX_WEIGHT: Final = 1_000_000


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="question"):
    """`question` is the `name` in the API, the other fields are its `arguments`."""


class WhatWouldHelp(Question, frozen=True, tag="what_would_help"):
    """The smallest changes after which this pending pod finds a node."""

    namespace: Namespace
    name: Name


class WhyPending(Question, frozen=True, tag="why_pending"):
    """What our scheduler would say of this pod if it tried it now, everything else in its place: of a pod that nobody
    tried in this run, as in one that follows a real cluster. Its blob is that attempt."""

    namespace: Namespace
    name: Name


class PlacedAgainAsked(Question, frozen=True, tag="placed_again"):
    """Where this pod, which has a node, would go if it came now, everything else in its place."""

    namespace: Namespace
    name: Name


class CapacityPods(Question, frozen=True, tag="capacity_pods"):
    """How many more pods like this one fit: a pod of the run, or a manifest."""

    namespace: str = ""
    name: str = ""
    manifest: dict[str, Any] | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = POD_LIMIT


class CapacityNodes(Question, frozen=True, tag="capacity_nodes"):
    """How many nodes of a shape until everybody has one: the shape of a node of the run, or a manifest."""

    node: str = ""
    manifest: dict[str, Any] | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)] = NODE_LIMIT


Weight = Annotated[int, msgspec.Meta(ge=0, le=MAX_WEIGHT)]
"""0: the plugin does not score."""


class OtherWeights(Question, frozen=True, tag="other_weights"):
    """Which attempts of a profile would have chosen another node with these weights, each ranked as it stood."""

    profile: Name
    weights: Annotated[dict[str, Weight], msgspec.Meta(min_length=1)]
    silent: bool = False
    """No Score plugin of the profile is left; the web knows the profile and says so."""


class AllNodes(Question, frozen=True, tag="all_nodes"):
    """Who would have won an attempt that looked at some of the nodes, had it looked at all of them."""

    attempt: Annotated[int, msgspec.Meta(ge=1)]
    node: str = ""
    """Which it chose; the web knows it."""


class DebuggerLog(Question, frozen=True, tag="debugger"):
    """What kube-scheduler would write into its log on SIGUSR2: the comparison, the cache, the queue."""


class Look(Question, frozen=True, tag="moment"):
    """What the pages show there. Its answer is a blob, not JSON."""


AnyQuestion = (
    WhatWouldHelp
    | WhyPending
    | PlacedAgainAsked
    | CapacityPods
    | CapacityNodes
    | OtherWeights
    | AllNodes
    | DebuggerLog
    | Look
)
MOMENT: Final = "moment"
OTHER_WEIGHTS: Final = "other_weights"
WHAT_WOULD_HELP: Final = "what_would_help"
WHY_PENDING: Final = "why_pending"
NAMES: Final = (
    "what_would_help",
    "why_pending",
    "placed_again",
    "capacity_pods",
    "capacity_nodes",
    "other_weights",
    "all_nodes",
    "debugger",
)
"""Those whose answer is JSON."""


def question_from(content: object) -> AnyQuestion:
    """Raises msgspec.ValidationError with a sentence that names the field."""
    question: AnyQuestion = msgspec.convert(content, AnyQuestion)
    return question
