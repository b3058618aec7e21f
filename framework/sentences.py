"""Sentences that are kept and put into words for whoever reads them: a template, and what it is about.

As JSON ``{"say": "Bound to {node}", "with": {"node": "node-7"}}``; ``str()`` says it in English. The English template
is the key by which schedweb/sentences.py finds other languages, so it is written where the sentence is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from string import Formatter
from typing import Any, Final, Protocol, Union

import msgspec

Part = dict[str, str]
"""A name or a number that the browser shows as more than text: ``{"t": "pod", "v": "shop/web-1"}``."""
Words = Union["Sentence", str]
"""A string is itself in every language: a name, kube-scheduler's message, what a person wrote."""
Content = Any
"""Words, a number, a Part, a list of these; or a Sentence as JSON has it."""


class Sentence(msgspec.Struct, frozen=True, omit_defaults=True, rename={"text": "say", "values": "with"}):
    text: str | tuple[str, str]
    """With ``{placeholders}``; of a sentence that is counted the forms for one and for many."""
    values: dict[str, Content] = {}
    """By placeholder; of a sentence that is counted ``count`` decides."""

    def __str__(self) -> str:
        return in_words(self, ENGLISH)

    def __hash__(self) -> int:
        return hash((self.text, *map(str, self.values.values())))


def sentence(text: str, /, **values: Content) -> Sentence:
    return Sentence(text, values)


def counted_sentence(one: str, many: str, count: int, /, **values: Content) -> Sentence:
    return Sentence((one, many), {"count": count, **values})


class SentenceError(Exception):
    """Carries what it says as a sentence; ``str()`` says it in English."""

    def __init__(self, words: Words) -> None:
        super().__init__(words)
        self.words = words


def words_of(error: BaseException) -> Words:
    return error.words if isinstance(error, SentenceError) else str(error)


def noted(text: str) -> str:
    """Marks a template of a table, which is said later."""
    return text


def forms(one: str, many: str) -> tuple[str, str]:
    """Marks both forms of a template of a table, which is counted later."""
    return one, many


SEPARATOR: Final = sentence(", ")


def joined_with_and(words: Sequence[Content]) -> Content:
    """a, b and c."""
    return sentence("{words} and {last}", words=words[:-1], last=words[-1]) if len(words) > 1 else next(iter(words), "")


def joined_with_or(words: Sequence[Content]) -> Content:
    """a, b or c."""
    return sentence("{words} or {last}", words=words[:-1], last=words[-1]) if len(words) > 1 else next(iter(words), "")


class Voice(Protocol):
    """A language."""

    def words(self, text: str | tuple[str, str], count: int, /) -> str:
        """The template in this language; ``count`` is 0 of a sentence that is not counted."""

    def number(self, value: float, spec: str, /) -> str:
        """By a format specification of Python; ``,`` without one. With the minus sign, U+2212.

        What is no amount is given as text.
        """


class English:
    def words(self, text: str | tuple[str, str], count: int, /) -> str:
        return text if isinstance(text, str) else text[count != 1]

    def number(self, value: float, spec: str, /) -> str:
        return format(value, spec).replace("-", "\N{MINUS SIGN}")


ENGLISH: Final = English()


def in_words(content: Content, voice: Voice) -> str:
    return "".join(piece if isinstance(piece, str) else piece["v"] for piece in pieces(content, voice))


def in_parts(content: Content, voice: Voice) -> list[Part]:
    """Text between what is more than text: the parts of a line of the feed."""
    parts: list[Part] = []
    for piece in pieces(content, voice):
        if not isinstance(piece, str):
            parts.append(piece)
        elif parts and parts[-1]["t"] == "text":
            parts[-1] = {"t": "text", "v": parts[-1]["v"] + piece}
        elif piece:
            parts.append({"t": "text", "v": piece})
    return parts


def pieces(content: Content, voice: Voice) -> Iterator[str | Part]:
    """Raises KeyError for a sentence that lacks a value."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, Sentence):
        yield from _sentence(content.text, content.values, voice)
    elif isinstance(content, Mapping):
        if "say" in content:
            yield from _sentence(content["say"], content.get("with", {}), voice)
        else:
            yield dict(content)
    elif isinstance(content, list | tuple):
        for place, each in enumerate(content):
            if place:
                yield from pieces(SEPARATOR, voice)
            yield from pieces(each, voice)
    elif isinstance(content, int | float) and not isinstance(content, bool):
        yield voice.number(content, ",.1f" if isinstance(content, float) else ",")
    else:
        yield str(content)


def _sentence(text: str | tuple[str, str], values: Mapping[str, Content], voice: Voice) -> Iterator[str | Part]:
    form = (text[0], text[1]) if not isinstance(text, str) else text
    for literal, name, spec in template(voice.words(form, values.get("count", 0) if form is not text else 0)):
        if literal:
            yield literal
        if name is not None:
            value = values[name]
            if spec and isinstance(value, int | float):
                yield voice.number(value, spec)
            else:
                yield from pieces(value, voice)


@lru_cache(maxsize=2048)
def template(text: str) -> tuple[tuple[str, str | None, str | None], ...]:
    """(literal text, placeholder behind it, how a number is written there: ``,`` of ``{most:,}``), …"""
    return tuple((literal, name, spec) for literal, name, spec, _ in Formatter().parse(text))
