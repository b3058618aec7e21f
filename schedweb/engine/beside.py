"""Extenders that the engine asks for a shadow's judgements, while it stands in the middle of a command.

A judgement is on the state just before the real decision, so nothing goes on until they have answered. That is bounded:
what one command brings may take ``SECONDS`` of waiting in all. Nothing of it reaches the machine, so answers are no
entries of the journal; what they said is stored with the decision.
"""

from __future__ import annotations

import select
import time
from collections.abc import Sequence
from typing import BinaryIO, Final, NamedTuple

from msgspec.structs import replace

from framework.extenders import Answer, Request
from framework.scheduler import Scheduler
from framework.sentences import Words, sentence
from schedweb.engine import frames
from schedweb.engine.asked import AnswersBeside, AsksBeside, asking_of

SECONDS: Final = 10.0
GRACE: Final = 2.0
"""Seconds that the worker may take longer than the extenders may."""
TOOK_LONG: Final = sentence(
    "Extenders had taken {seconds} s for the decisions that came with this one, so none was asked about it: the run "
    "would fall behind its cluster.",
    seconds=round(SECONDS),
)
UNHEARD: Final = sentence("The worker did not say what the extenders answered.")
ENDS: Final = sentence("The run's engine ended while extenders were asked about it.")


class Said(NamedTuple):
    """A request and its answer."""

    request: Request
    answer: Answer
    microseconds: int
    together: int
    """Those that are asked at once have the same."""


class NotAsked(Exception):
    def __init__(self, words: Words) -> None:
        super().__init__(str(words))
        self.words = words


class AskingPipe(frames.Exactly):
    """The pipe to the engine. What comes while an answer is waited for is read afterwards, in its order."""

    def __init__(self, inward: BinaryIO, outward: frames.Writer) -> None:
        super().__init__(inward)
        self.outward = outward
        self._kept = bytearray()
        self._number = 0
        self._is_ending = False
        self._command: int | None = None
        self._until = 0.0
        self._poller = select.poll()
        self._poller.register(inward, select.POLLIN | select.POLLHUP)
        self.said: list[Said] = []
        """About the newest judgement, in the order of the requests."""

    def read(self, size: int) -> bytes:
        if not self._kept:
            return super().read(size)
        # Whole messages are kept, so what is read begins and ends with one.
        found = bytes(self._kept[:size])
        del self._kept[:size]
        return found

    @property
    def has_kept(self) -> bool:
        return bool(self._kept)

    def begin(self, command: int) -> None:
        """A judgement; those of one command (its position) share the time."""
        self.said = []
        if command != self._command:
            self._command, self._until = command, time.monotonic() + SECONDS

    def ask(self, scheduler: Scheduler, requests: Sequence[Request]) -> list[Answer]:
        """In the requests' order. Raises NotAsked, and Gone."""
        if self._is_ending:
            raise NotAsked(ENDS)
        left = self._until - time.monotonic()
        if left <= 0:
            raise NotAsked(TOOK_LONG)
        self._number += 1
        hurried = [replace(each, timeout=min(each.timeout, int(left * 1e9))) for each in requests]
        frames.write(self.outward, AsksBeside(self._number, asking_of(scheduler, hurried)))
        while (message := self._next(self._until + GRACE)) is not None:
            if message.number == self._number:
                told = zip(requests, message.answers, message.microseconds, strict=True)
                self.said += [Said(*each, together=self._number) for each in told]
                return message.answers
        raise NotAsked(UNHEARD)

    def _next(self, until: float) -> AnswersBeside | None:
        """None: nothing came in time. Raises NotAsked where the engine is to end."""
        while (left := until - time.monotonic()) > 0:
            if not self._poller.poll(left * 1000):
                return None
            raw = frames.read(_Plain(self))
            message = frames.to_child_of(raw)
            if isinstance(message, AnswersBeside):
                return message
            self._kept += frames.HEAD.pack(len(raw)) + raw
            if isinstance(message, frames.End):
                self._is_ending = True
                raise NotAsked(ENDS)
        return None


class _Plain:
    """The pipe without what is kept of it."""

    def __init__(self, pipe: AskingPipe) -> None:
        self._pipe = pipe

    def read(self, size: int, /) -> bytes:
        return frames.Exactly.read(self._pipe, size)
