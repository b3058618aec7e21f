"""Sentences in the reader's language: that of Accept-Language while a request is answered, English otherwise.

The English text is the key; scripts/catalogs.py collects the texts, schedweb/locale has them in other languages.
Kubernetes' own words and kube-scheduler's messages are not translated (docs/languages.md).
"""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext, ngettext


def say(text: str, /, **values: object) -> str:
    """``text`` with its ``{placeholders}``."""
    return gettext(text).format(**values)


def counted(one: str, many: str, count: int, /, **values: object) -> str:
    """The form for ``count``, which is a placeholder too."""
    return ngettext(one, many, count).format(count=count, **values)


def both(words: Sequence[str]) -> str:
    """a, b and c."""
    return _listed(words, noted("{words} and {last}"))


def either(words: Sequence[str]) -> str:
    """a, b or c."""
    return _listed(words, noted("{words} or {last}"))


def _listed(words: Sequence[str], text: str) -> str:
    if len(words) < 2:
        return "".join(words)
    return say(text, words=", ".join(words[:-1]), last=words[-1])


def noted(text: str) -> str:
    """Marks a text of a table, which is said later."""
    return text


def forms(one: str, many: str) -> tuple[str, str]:
    """Marks both forms of a text of a table, which is counted later."""
    return one, many
