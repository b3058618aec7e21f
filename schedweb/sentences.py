"""Sentences in the reader's language: that of Accept-Language while a request is answered, English otherwise.

The English text is the key; scripts/catalogs.py collects the texts, schedweb/locale has them in other languages.
Kubernetes' own words and kube-scheduler's messages are not translated (docs/languages.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from string import Formatter
from typing import Any, Final

from django.utils.formats import get_format
from django.utils.translation import gettext, ngettext

from framework.sentences import Content, Part, in_parts, in_words, joined_with_and, joined_with_or
from framework.sentences import forms as forms
from framework.sentences import noted as noted


def say(text: str, /, **values: object) -> str:
    """``text`` with its ``{placeholders}``."""
    return _SPOKEN.vformat(gettext(text), (), values)


def say_noted(text: str) -> str:
    """A text of a table that has no placeholders: braces, which plugins of packages may write, stay; so does ""."""
    return gettext(text) if text else ""


def counted(one: str, many: str, count: int, /, **values: object) -> str:
    """The form for ``count``, which is a placeholder too."""
    return _SPOKEN.vformat(ngettext(one, many, count), (), {"count": count, **values})


def figure(written: str) -> str:
    """A number as Python writes it, ``"1,234.5"``, with the reader's separators and the minus sign, U+2212."""
    marks = {",": get_format("THOUSAND_SEPARATOR") or ",", ".": get_format("DECIMAL_SEPARATOR"), "-": "\N{MINUS SIGN}"}
    return "".join(marks.get(letter, letter) for letter in written)


def amount(count: int) -> str:
    """Bytes as people read them: 4.2 MB."""
    size, unit = float(count), "B"
    for larger in ("KB", "MB", "GB", "TB"):
        if size < 1000:
            break
        size, unit = size / 1000, larger
    return f"{figure(f'{size:,.0f}' if unit == 'B' or size >= 100 else f'{size:.1f}')} {unit}"


class _Spoken(Formatter):
    """Whole numbers, ``{most:.1f}`` and the like follow the reader's language; what is no amount is given as text."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if not format_spec and isinstance(value, int) and not isinstance(value, bool):
            format_spec = ","
        text: str = format(value, format_spec)
        return figure(text) if format_spec else text


_SPOKEN: Final = _Spoken()


class Reader:
    """The voice of the reader's language."""

    def words(self, text: str | tuple[str, str], count: int, /) -> str:
        return gettext(text) if isinstance(text, str) else ngettext(*text, count)

    def number(self, value: float, spec: str, /) -> str:
        return figure(format(value, spec))


READER: Final = Reader()


def translated(content: Content) -> str:
    """What the engine or the advice said (framework/sentences.py), as it was made or as it was stored."""
    return in_words(content, READER)


def translated_parts(content: Content) -> list[Part]:
    """The same as the parts of a line; one that an earlier version stored is parts already."""
    return content if isinstance(content, list) else in_parts(content, READER)


def both(words: Sequence[str]) -> str:
    """a, b and c."""
    return translated(joined_with_and(words))


def either(words: Sequence[str]) -> str:
    """a, b or c."""
    return translated(joined_with_or(words))


def clauses(parts: Sequence[str]) -> str:
    """``3 have no room, 1 is cordoned``: each says something of its own."""
    return reduce(lambda before, then: say("{before}, {then}", before=before, then=then), parts) if parts else ""


def one_after_another(sentences: Sequence[str]) -> str:
    """Sentences, without those that are empty."""
    given = [each for each in sentences if each]
    return reduce(lambda first, second: say("{first} {second}", first=first, second=second), given) if given else ""
