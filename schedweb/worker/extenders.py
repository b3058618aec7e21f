"""Asking extenders for an engine (schedweb/engine/asked.py): what they say becomes a command of its run's journal."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

from schedweb.calling import Allowed
from schedweb.engine.asked import SHOWN, AnswersBeside, Asked, AsksBeside, packed
from schedweb.engine.commands import ExtenderAnswer, ExtenderAnswers
from schedweb.engine.frames import Gone
from schedweb.extender_calls import Called, call_all
from schedweb.worker.process import EngineProcess


def ask_in_background(asked: Asked, policy: Allowed, done: Callable[[ExtenderAnswers], None]) -> None:
    """Asks all extenders at once, in threads of their own; ``done`` is called from one of them."""
    threading.Thread(target=lambda: done(answers_to(asked, policy)), name="extenders", daemon=True).start()


def answers_to(asked: Asked, policy: Allowed) -> ExtenderAnswers:
    answers = tuple(map(_kept, call_all(asked.requests, policy)))
    return ExtenderAnswers(asked=asked.position, pod=asked.pod, answers=answers)


def ask_beside(asks: AsksBeside, policy: Allowed, engine: EngineProcess | None) -> None:
    """For a judgement of this engine's shadow, which is told from a thread: no entry of the journal."""
    assert engine is not None

    def ask() -> None:
        called = call_all(asks.requests, policy)
        with contextlib.suppress(Gone):
            engine.send(
                AnswersBeside(asks.number, [each.answer for each in called], [each.microseconds for each in called])
            )

    threading.Thread(target=ask, name="extenders", daemon=True).start()


def _kept(called: Called) -> ExtenderAnswer:
    request, answer = called.asking.request, called.answer
    return ExtenderAnswer(
        extender=request.name,
        verb=request.verb,
        status=answer.status,
        body=packed(answer.body),
        error=answer.error,
        microseconds=called.microseconds,
        request=packed(request.body[:SHOWN]),
        request_bytes=len(request.body),
    )
