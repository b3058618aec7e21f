"""The process of an analysis: `python -m schedweb.engine.analysis`, one question in, one answer out, and it ends.

It makes the machine of a run at a position and may use it up: nothing leads back to the run. Like the engine's process
it knows neither the database nor Django.
"""

from __future__ import annotations

import mmap
import os
import resource
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

import msgspec
import numpy as np
from msgspec import to_builtins
from msgspec.structs import replace

from framework.advice import (
    estimate,
    how_many_fit,
    nodes_until_all_fit,
    place_again,
    what_would_help,
    with_all_nodes,
)
from framework.advice.trial import Trial
from framework.objects import KubeObject, Node, Pod, PodGroup
from framework.objects.admission import AdmissionError, admit
from framework.objects.decode import decode_manifest
from framework.objects.errors import ObjectError
from framework.plugins.coscheduling.pod_groups import LABEL
from framework.profiles import ProfileError, TieRule
from framework.reports.dump import debugger_log
from framework.sentences import Content, sentence, words_of
from framework.trace.attempt import AttemptTrace
from framework.trace.encoding import AttemptChunk, encode_attempts
from schedweb.engine import frames, questions
from schedweb.engine.message import Message
from schedweb.engine.moment_view import packed, view_of
from schedweb.engine.moments import advance, machine, moment
from schedweb.engine.moved import figures, packed_rows
from schedweb.engine.outcomes import score_of
from schedweb.engine.payload import PayloadUnreadable
from schedweb.engine.played_on import PlayedOn
from schedweb.engine.player import Player, RunRefused
from schedweb.engine.replay import Diverged
from schedweb.engine.unfollowed import unfollow
from schedweb.engine.world import Refused

O = TypeVar("O", bound=KubeObject)  # noqa: E741
ENDED: Final = ("Succeeded", "Failed")
NICE: Final = 10
"""Runs that play come first."""
ROOM: Final = 1 << 20
"""Bytes without which an analysis does not begin."""


class Recorded(Message, frozen=True, tag="recorded"):
    """For questions that stored attempts answer."""

    ties: TieRule
    attempts: int
    """The number of the last one that counts."""
    chunks: list[tuple[int, bytes]]
    """(number of the first attempt, chunk), ascending."""


class Ask(Message, frozen=True, tag="ask"):
    begin: frames.Begin | Recorded
    question: dict[str, Any]
    memory: int
    """Bytes of address space; 0: as much as there is."""


class Answer(Message, frozen=True, tag="answer"):
    content: bytes
    """JSON; empty of a moment."""
    blob: bytes = b""
    """What is read in windows: a moment's rows, or those of an answer."""


class NoAnswer(Message, frozen=True, tag="no_answer"):
    """A sentence for whoever asked; `trace` when it is our fault."""

    text: Content
    trace: str = ""


FromProcess = Answer | NoAnswer
_ASK: Final = msgspec.msgpack.Decoder(Ask)
_ANSWER: Final = msgspec.msgpack.Decoder(FromProcess)


def read_ask(pipe: frames.Reader) -> Ask:
    return _ASK.decode(frames.read(pipe))


def read_answer(pipe: frames.Reader) -> FromProcess:
    """Raises Gone."""
    answer: FromProcess = _ANSWER.decode(frames.read(pipe))
    return answer


# --- the questions ----------------------------------------------------------------------------------------------------


def tried_out(player: Player, found: object) -> dict[str, Any]:
    """An answer, which says whether extenders were left out of what was tried (docs/extenders.md#what-is-kept)."""
    return {**to_builtins(found), "without_extenders": bool(player.scheduler.configuration.extenders)}


def helping(player: Player, asked: questions.WhatWouldHelp) -> object:
    pod = player.world.pod(asked.namespace, asked.name)
    if pod.spec.node_name:
        raise Refused(sentence("Pod {pod} is on {node} already.", pod=pod.key, node=pod.spec.node_name))
    found = what_would_help(player.scheduler, pod, PlayedOn(player))
    return {"pod": pod.key, **tried_out(player, found)}


def why_pending(ask: Ask, asked: questions.WhyPending) -> Answer:
    player = looked_at(ask)
    pod = player.world.pod(asked.namespace, asked.name)
    if pod.spec.node_name:
        raise Refused(sentence("Pod {pod} is on {node} already.", pod=pod.key, node=pod.spec.node_name))
    if player.scheduler.profiles.get(pod.spec.scheduler_name) is None:
        raise Refused(sentence("No profile of the configuration is called {name}.", name=pod.spec.scheduler_name))
    tried = Trial(player.scheduler, pod).beside_its_group()
    group = player.scheduler.cluster.get(PodGroup, pod.metadata.namespace, pod.metadata.labels.get(LABEL, ""))
    found = {
        "pod": pod.key,
        "uid": pod.metadata.uid,
        "node": tried.node,
        "evicts": [each.key for each in tried.evicted],
        "message": "" if tried.attempt is None or tried.waits_for else tried.attempt.message,
        "waits_for": list(tried.waits_for),
        "in_place": tried.in_place,
        "min_member": 0 if group is None else group.spec.min_member,
    }
    return Answer(
        msgspec.json.encode(tried_out(player, found)),
        b"" if tried.attempt is None else encode_attempts([tried.attempt]),
    )


def placed_anew(player: Player, asked: questions.PlacedAgainAsked) -> object:
    pod = player.world.pod(asked.namespace, asked.name)
    if pod.status.phase in ENDED:
        raise Refused(sentence("Pod {pod} has ended: it is on no node any more.", pod=pod.key))
    if player.scheduler.profiles.get(pod.spec.scheduler_name) is None:
        raise Refused(sentence("No profile of the configuration is called {name}.", name=pod.spec.scheduler_name))
    return tried_out(player, place_again(player.scheduler, pod))


def pods_that_fit(player: Player, asked: questions.CapacityPods) -> object:
    if asked.manifest is not None:
        template = admitted(player, asked.manifest, Pod)
    else:
        template = player.world.pod(asked.namespace, asked.name)
    return tried_out(player, how_many_fit(player.scheduler, template, asked.limit))


def nodes_needed(player: Player, asked: questions.CapacityNodes) -> object:
    shape = player.world.node(asked.node) if asked.manifest is None else admitted(player, asked.manifest, Node)
    return tried_out(player, nodes_until_all_fit(player.scheduler, shape, asked.limit))


def at_moment(answers: Callable[[Player, Any], object]) -> Callable[[Ask, Any], Answer]:
    def answered(ask: Ask, asked: Any) -> Answer:
        return Answer(msgspec.json.encode(answers(looked_at(ask), asked)))

    return answered


def looked_at(ask: Ask) -> Player:
    player = moment(machine_of(ask))
    if player.is_of_real_cluster:
        unfollow(player)  # our scheduler says what it would do, as on a snapshot
    return player


def machine_of(ask: Ask) -> frames.Begin:
    assert isinstance(ask.begin, frames.Begin)
    return ask.begin


def look(ask: Ask, asked: questions.Look) -> Answer:
    return Answer(b"", packed(view_of(moment(machine_of(ask)))))


def other_weights(ask: Ask, asked: questions.OtherWeights) -> Answer:
    stored = ask.begin
    assert isinstance(stored, Recorded)
    found = estimate(attempts_of(stored), asked.weights, profile=asked.profile, rule=stored.ties, silent=asked.silent)
    return Answer(msgspec.json.encode(figures(found)), packed_rows(found.moved))


def attempts_of(stored: Recorded) -> Iterator[tuple[int, AttemptTrace]]:
    for first, blob in stored.chunks:
        chunk = AttemptChunk(blob)
        for index in range(min(len(chunk), stored.attempts - first + 1)):
            yield first + index, chunk[index]


class _Reached(Exception):
    """The replay stands in the attempt that is asked about."""


def all_nodes(ask: Ask, asked: questions.AllNodes) -> Answer:
    """The journal is played up to the attempt's first extension point, where nothing of it has been decided."""
    begin = machine_of(ask)
    player, pace = machine(begin)

    def look_for_it() -> None:
        if player.under_way is not None and player.under_way.cycle == asked.attempt:
            raise _Reached

    try:
        advance(player, pace, begin.journal, begin.position + 1, each=look_for_it)
    except _Reached:
        assert player.under_way is not None
        pod = player.world.pod(*player.under_way.pod.split("/"))
        tried = with_all_nodes(player.scheduler, pod)
        return Answer(msgspec.json.encode(tried_out(player, winner_of(tried, asked.node))))
    raise Refused(
        sentence(
            "Attempt {attempt:,} is not met again on the way to step {position:,}.",
            attempt=asked.attempt,
            position=begin.position,
        )
    )


def winner_of(trace: AttemptTrace, node: str) -> dict[str, Any]:
    """``node``: that of the real attempt. Totals are those among all nodes: normalising over more nodes moves them."""
    best, margin, tied = score_of(trace) or (0, 0, 0)
    node_total = None
    if trace.scores is not None and trace.filter is not None:
        place = np.flatnonzero(trace.scores.positions == trace.filter.nodes.index(node))
        node_total = int(trace.scores.total[place[0]])
    return {
        "node": trace.selected,
        "checked": trace.evaluated_nodes,
        "feasible": trace.feasible_nodes,
        "of": trace.nodes_total,
        "total": best,
        "margin": margin,
        "tied": tied,
        "node_total": node_total,
    }


def debugger(player: Player, asked: questions.DebuggerLog) -> dict[str, Any]:
    lines = [line for entry in debugger_log(player.scheduler) for line in entry.split("\n")]
    mismatches = sum('"Cache mismatch"' in line for line in lines)
    return {"lines": lines, "mismatches": mismatches}


ANSWERS: Final[dict[type[Any], Callable[[Ask, Any], Answer]]] = {
    questions.WhatWouldHelp: at_moment(helping),
    questions.WhyPending: why_pending,
    questions.PlacedAgainAsked: at_moment(placed_anew),
    questions.CapacityPods: at_moment(pods_that_fit),
    questions.CapacityNodes: at_moment(nodes_needed),
    questions.OtherWeights: other_weights,
    questions.AllNodes: all_nodes,
    questions.DebuggerLog: at_moment(debugger),
    questions.Look: look,
}


def admitted(player: Player, manifest: dict[str, Any], kind: type[O]) -> O:
    """As the API server of the run's cluster would take it; it is not put there."""
    try:
        decoded = decode_manifest(manifest)
        if isinstance(decoded, Pod) and not decoded.metadata.namespace:
            decoded = replace(decoded, metadata=replace(decoded.metadata, namespace="default"))
        cluster = player.world.cluster
        made = admit(decoded, cluster, comparisons=cluster.comparisons)
    except ObjectError as error:
        raise Refused(str(error)) from None
    if isinstance(made, AdmissionError):
        raise Refused(made.message)
    if not isinstance(made, kind):
        raise Refused(
            sentence("A {expected} is expected, not a {given}.", expected=kind.__name__, given=type(made).__name__)
        )
    return made


def answer(ask: Ask) -> FromProcess:
    try:
        question = questions.question_from(ask.question)
        return ANSWERS[type(question)](ask, question)
    except (RunRefused, ProfileError, PayloadUnreadable, Diverged, Refused, ValueError) as error:
        return NoAnswer(words_of(error))


def _need_room() -> None:
    """A limit below what the process has already is met at once, not when the heap happens to grow."""
    try:
        mmap.mmap(-1, ROOM).close()
    except OSError as error:
        raise MemoryError from error


def main() -> int:
    # What a plugin prints must not end up in the answer.
    inward, outward = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    os.nice(NICE)
    try:
        ask = read_ask(inward)
        if ask.memory:
            resource.setrlimit(resource.RLIMIT_AS, (ask.memory, ask.memory))
            _need_room()
        spoken = answer(ask)
    except frames.Gone:
        return 0
    except MemoryError:
        spoken = NoAnswer(sentence("It needs more memory than an analysis may use."))
    except Exception as error:  # noqa: BLE001 - whatever it is, whoever asked has to be told
        words = sentence("The analysis stopped: {error}: {why}", error=type(error).__name__, why=str(error))
        spoken = NoAnswer(words, traceback.format_exc())
    frames.write(outward, spoken)
    return 0


if __name__ == "__main__":
    sys.exit(main())
