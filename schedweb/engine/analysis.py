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
from collections.abc import Callable
from typing import Any, Final, TypeVar

import msgspec
from msgspec.structs import replace

from framework.advice import fits_on, how_many_fit, nodes_until_all_fit, what_would_help
from framework.objects import KubeObject, Node, Pod
from framework.objects.admission import AdmissionError, admit
from framework.objects.decode import decode_manifest
from framework.objects.errors import ObjectError
from framework.profiles import ProfileError
from schedweb.engine import frames, questions
from schedweb.engine.moment_view import packed, view_of
from schedweb.engine.moments import moment
from schedweb.engine.payload import PayloadUnreadable
from schedweb.engine.player import Player, RunRefused
from schedweb.engine.replay import Diverged
from schedweb.engine.world import Refused

O = TypeVar("O", bound=KubeObject)  # noqa: E741
NICE: Final = 5
"""Runs that play come first."""
ROOM: Final = 1 << 20
"""Bytes without which an analysis does not begin."""


class Ask(frames.Message, frozen=True, tag="ask"):
    begin: frames.Begin
    question: dict[str, Any]
    memory: int
    """Bytes of address space; 0: as much as there is."""


class Answer(frames.Message, frozen=True, tag="answer"):
    position: int
    """Where the machine really stood: of a position within an operation, after it."""
    content: bytes
    """JSON, or the blob of a moment."""


class NoAnswer(frames.Message, frozen=True, tag="no_answer"):
    """A sentence for whoever asked; `trace` when it is our fault."""

    text: str
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


def helping(player: Player, asked: questions.WhatWouldHelp) -> object:
    pod = player.world.pod(asked.namespace, asked.name)
    if pod.spec.node_name:
        raise Refused(f"Pod {pod.key} is on {pod.spec.node_name} already.")
    remedies = what_would_help(player.scheduler, pod)
    return {"pod": pod.key, "fits_on": "" if remedies else fits_on(player.scheduler, pod), "remedies": remedies}


def pods_that_fit(player: Player, asked: questions.CapacityPods) -> object:
    if asked.manifest is not None:
        template = admitted(player, asked.manifest, Pod)
    else:
        template = player.world.pod(asked.namespace, asked.name)
    return how_many_fit(player.scheduler, template, asked.limit)


def nodes_needed(player: Player, asked: questions.CapacityNodes) -> object:
    shape = player.world.node(asked.node) if asked.manifest is None else admitted(player, asked.manifest, Node)
    return nodes_until_all_fit(player.scheduler, shape, asked.limit)


def as_json(answers: Callable[[Player, Any], object]) -> Callable[[Player, Any], bytes]:
    return lambda player, asked: msgspec.json.encode(answers(player, asked))


ANSWERS: Final[dict[type[Any], Callable[[Player, Any], bytes]]] = {
    questions.WhatWouldHelp: as_json(helping),
    questions.CapacityPods: as_json(pods_that_fit),
    questions.CapacityNodes: as_json(nodes_needed),
    questions.Look: lambda player, asked: packed(view_of(player)),
}


def admitted(player: Player, manifest: dict[str, Any], kind: type[O]) -> O:
    """As the API server of the run's cluster would take it; it is not put there."""
    try:
        decoded = decode_manifest(manifest)
        if isinstance(decoded, Pod) and not decoded.metadata.namespace:
            decoded = replace(decoded, metadata=replace(decoded.metadata, namespace="default"))
        made = admit(decoded, player.world.cluster)
    except ObjectError as error:
        raise Refused(str(error)) from None
    if isinstance(made, AdmissionError):
        raise Refused(made.message)
    if not isinstance(made, kind):
        raise Refused(f"A {kind.__name__} is expected, not a {type(made).__name__}.")
    return made


def answer(ask: Ask) -> FromProcess:
    try:
        player = moment(ask.begin)
        question = questions.question_from(ask.question)
        return Answer(player.position, ANSWERS[type(question)](player, question))
    except (RunRefused, ProfileError, PayloadUnreadable, Diverged, Refused, ValueError) as error:
        return NoAnswer(str(error))


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
        said = answer(ask)
    except frames.Gone:
        return 0
    except MemoryError:
        said = NoAnswer("It needs more memory than an analysis may use.")
    except Exception as error:  # noqa: BLE001 - whatever it is, whoever asked has to be told
        said = NoAnswer(f"The analysis stopped: {type(error).__name__}: {error}", traceback.format_exc())
    frames.write(outward, said)
    return 0


if __name__ == "__main__":
    sys.exit(main())
