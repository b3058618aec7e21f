"""Sentences in the reader's language: that of Accept-Language while a request is answered, English otherwise.

The English text is the key; scripts/catalogs.py collects the texts, schedweb/locale has them in other languages.
Kubernetes' own words and kube-scheduler's messages are not translated (docs/languages.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext

from framework.said import Content, Part, in_parts, in_words, said_both, said_either
from framework.said import forms as forms
from framework.said import noted as noted


def say(text: str, /, **values: object) -> str:
    """``text`` with its ``{placeholders}``."""
    return gettext(text).format(**values)


def say_noted(text: str) -> str:
    """A text of a table that has no placeholders: braces, which plugins of packages may write, stay; so does ""."""
    return gettext(text) if text else ""


def counted(one: str, many: str, count: int, /, **values: object) -> str:
    """The form for ``count``, which is a placeholder too."""
    return ngettext(one, many, count).format(count=count, **values)


class Reader:
    """The voice of the reader's language."""

    def words(self, text: str | tuple[str, str], count: int, /) -> str:
        return gettext(text) if isinstance(text, str) else ngettext(*text, count)

    def number(self, value: float, /) -> str:
        return number_format(value, 1)


READER: Final = Reader()


def told(content: Content) -> str:
    """What the engine or the advice said (framework/said.py), as it was made or as it was stored."""
    return in_words(content, READER)


def told_parts(content: Content) -> list[Part]:
    """The same as the parts of a line; one that an earlier version stored is parts already."""
    return content if isinstance(content, list) else in_parts(content, READER)


def both(words: Sequence[str]) -> str:
    """a, b and c."""
    return told(said_both(words))


def either(words: Sequence[str]) -> str:
    """a, b or c."""
    return told(said_either(words))
