"""What is asked about a run, checked, with everything that whoever answers it has to know."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from framework.objects import Node, Pod
from framework.trace.attempt import AttemptTrace
from schedweb.api.errors import ApiError
from schedweb.engine.questions import (
    NAMES,
    AllNodes,
    AnyQuestion,
    CapacityNodes,
    CapacityPods,
    OtherWeights,
    question_from,
)
from schedweb.runs.attempts.selectors import stored_attempt, was_sampled
from schedweb.runs.models import Run
from schedweb.runs.playing.manifests import typed_manifest
from schedweb.runs.records.analyses import checked_position
from schedweb.runs.records.gone import refuse_if_gone
from schedweb.runs.records.profiles import profile_at
from schedweb.sentences import say


def refused(message: str, path: str = "") -> ApiError:
    return ApiError(message, code="invalid_question", path=path or None)


def question_asked(
    *, run: Run, name: str, arguments: dict[str, Any], position: int | None = None
) -> tuple[AnyQuestion, int]:
    """(the question, the position that it is about)."""
    question = question_of(name, arguments)
    match question:
        case OtherWeights():
            where = checked_position(run, position)
            return completed_weights(run, question, where), where
        case AllNodes():
            return completed_sample(run, question)
    return question, checked_position(run, position)


def question_of(name: str, arguments: dict[str, Any]) -> AnyQuestion:
    if name not in NAMES:
        raise refused(
            say("{name} must be one of {known}, not {value!r}.", name="name", known=", ".join(NAMES), value=name),
            "name",
        )
    content = {key: value for key, value in arguments.items() if value is not None}
    if "manifest" in content:
        content["manifest"] = typed_manifest(content["manifest"], Node if name == "capacity_nodes" else Pod)
    try:
        question = question_from({**content, "question": name})
    except msgspec.ValidationError as error:
        text, _, where = str(error).partition(" - at `$")
        path = f"arguments{where.rstrip('`')}"
        raise refused(f"{path}: {text}", path) from None
    if isinstance(question, CapacityPods) and (question.manifest is None) == (question.name == ""):
        raise refused(say("Name a pod of the run, or give a manifest: one of the two."), "arguments")
    if isinstance(question, CapacityNodes) and (question.manifest is None) == (question.node == ""):
        raise refused(say("Name a node of the run, or give a manifest: one of the two."), "arguments")
    return question


def completed_weights(run: Run, question: OtherWeights, position: int) -> OtherWeights:
    refuse_if_gone(run)
    scorers = profile_at(run, position, question.profile).weights.keys()
    unknown = sorted(question.weights.keys() - scorers)
    if unknown:
        raise refused(
            say("{plugin} does not score in {profile}.", plugin=unknown[0], profile=question.profile),
            "arguments.weights",
        )
    off = {plugin for plugin, weight in question.weights.items() if weight == 0}
    return replace(question, silent=scorers <= off)


def why_not_sampled(trace: AttemptTrace, attempt: int) -> str:
    """Of an attempt in which no node was left out to save time."""
    if trace.filter is None:
        return say("Attempt {attempt:,} ended before any node was looked at.", attempt=attempt)
    if trace.nominated_node_used:
        return say(
            "Attempt {attempt:,} looked at {node} only, to which the pod was nominated.",
            attempt=attempt,
            node=trace.nominated_node_used,
        )
    if trace.batched_with:
        return say(
            "Attempt {attempt:,} took the node that {pod}, a pod like it, left for it, and looked at no other.",
            attempt=attempt,
            pod=trace.batched_with,
        )
    if any(each.node_names is not None for each in trace.pre_filter):
        return say("Attempt {attempt:,} looked at every node that came into question.", attempt=attempt)
    return say("Attempt {attempt:,} looked at every node.", attempt=attempt)


def completed_sample(run: Run, question: AllNodes) -> tuple[AllNodes, int]:
    """About the moment within the attempt's cycle."""
    stored = stored_attempt(run.pk, question.attempt)
    if not was_sampled(stored.trace):
        raise refused(why_not_sampled(stored.trace, question.attempt), "arguments.attempt")
    if not stored.row.node:
        raise refused(
            say("Attempt {attempt:,} found no node, so none won it.", attempt=question.attempt), "arguments.attempt"
        )
    if stored.trace.pod_group is not None:
        raise refused(say("A pod of a group is tried with its group, not alone."), "arguments.attempt")
    if stored.row.position is None:
        raise refused(
            say("Where attempt {attempt:,} was made is not stored.", attempt=question.attempt), "arguments.attempt"
        )
    return replace(question, node=stored.row.node), stored.row.position - 1
