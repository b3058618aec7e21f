"""What an engine has its worker ask extenders, and how answers are kept in the journal."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import msgspec
import zstandard

from framework.configuration.types import Extender
from framework.extenders import Answer, Request
from schedweb.engine.message import Message

if TYPE_CHECKING:
    from framework.scheduler import Scheduler
    from schedweb.engine.player import Player

LARGEST_ANSWER: Final = 64 * 1024 * 1024
"""Bytes: the node objects of a very large cluster."""

SHOWN: Final = 4096
"""Bytes of a request that are kept, and of an answer that are shown."""


class Asking(msgspec.Struct, frozen=True):
    """A request, and the extender's entry in the configuration, which says how it is reached."""

    request: Request
    extender: Extender


class Asked(msgspec.Struct, frozen=True):
    position: int
    """At which it was asked: the answers name it."""
    pod: str
    requests: list[Asking]


class AsksBeside(Message, frozen=True, tag="asks_beside"):
    """What extenders are to be asked for a judgement, now: the engine stands until AnswersBeside (beside.py)."""

    number: int
    requests: list[Asking]


class AnswersBeside(Message, frozen=True, tag="answers_beside"):
    """To AsksBeside of that number, in the order of its requests; each with what it took."""

    number: int
    answers: list[Answer]
    microseconds: list[int]


def asked_by(player: Player) -> Asked | None:
    """What waits for an answer now."""
    asking = asking_of(player.scheduler)
    if player.asked_at is None or not asking:
        return None
    return Asked(player.asked_at, asking[0].request.pod, asking)


def asking_of(scheduler: Scheduler, requests: Sequence[Request] | None = None) -> list[Asking]:
    """``requests``: None for those that the cycle under way waits for."""
    configured = scheduler.configuration.extenders
    return [Asking(each, configured[each.extender]) for each in (scheduler.asks if requests is None else requests)]


def packed(body: bytes) -> str:
    """For the journal, whose rows are JSON."""
    return base64.b64encode(zstandard.ZstdCompressor(level=3).compress(body)).decode() if body else ""


def unpacked(text: str) -> bytes:
    if not text:
        return b""
    return zstandard.ZstdDecompressor().decompress(base64.b64decode(text), max_output_size=LARGEST_ANSWER)


def beginning(text: str) -> tuple[bytes, int]:
    """The first ``SHOWN`` bytes of what was packed, and how many there are in all. No more than them is unpacked."""
    if not text:
        return b"", 0
    content = base64.b64decode(text)
    with zstandard.ZstdDecompressor().stream_reader(content) as reader:
        return reader.read(SHOWN), zstandard.frame_content_size(content)
