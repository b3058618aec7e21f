"""What extenders said of nodes that they refused: which of them, of how many nodes, and with which words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from framework.extenders import EXTENDER
from framework.trace.attempt import AttemptTrace, ExtenderCall
from framework.trace.extended import LEFT_OUT
from schedweb.runs.filtering.filters import GroupKey
from schedweb.sentences import both, counted, forms, say

MOST_WORDS: Final = 3
"""Of one extender that are told."""
_REFUSED: Final = forms(
    "{count} is refused by the extender at {extender} ({words})",
    "{count} are refused by the extender at {extender} ({words})",
)
_LEFT_OUT: Final = forms(
    "{count} is left out by the extender at {extender}", "{count} are left out by the extender at {extender}"
)
_WORDLESS: Final = LEFT_OUT.all_reasons
"""Ours, of a node that its answer does not name."""


class Refusal(NamedTuple):
    extender: str
    """Its urlPrefix without credentials."""
    words: tuple[tuple[str, int], ...]
    """(what it said, of how many nodes), the most first."""
    wordless: int
    """Nodes that it left out without a word."""

    @property
    def nodes(self) -> int:
        return self.wordless + sum(count for _, count in self.words)


def refusals(trace: AttemptTrace, usable: Mapping[GroupKey, Iterable[str]]) -> list[Refusal]:
    """Who refused most comes first. ``usable``: nodes by who refused them, of which those of extenders count.

    A call names the first of its nodes (``MOST_LEFT_OUT``); those beyond are told apart by what was said of them and
    by how many each left out.
    """
    calls = [call for call in trace.extender_calls if call.verb == "filter" and not call.error]
    owner: dict[str, str] = {}
    unnamed: Counter[str] = Counter()
    for call in calls:
        owner.update(dict.fromkeys(_named(call), call.extender))
        unnamed[call.extender] += max(call.sent - call.kept - len(call.left_out), 0)
    said: dict[str, Counter[str]] = {call.extender: Counter() for call in calls}
    beyond: list[str] = []
    for (plugin, _, reasons), names in usable.items():
        words = "" if reasons == _WORDLESS else "; ".join(reasons).rstrip(".")
        for name in names if plugin == EXTENDER else ():
            if name in owner:
                said[owner[name]][words] += 1
            else:
                beyond.append(words)
    for words in beyond:
        by = max(unnamed, key=lambda each: (unnamed[each] > 0 and words in said[each], unnamed[each]))
        unnamed[by] -= 1
        said[by][words] += 1
    found = [
        Refusal(extender, tuple((words, count) for words, count in told.most_common() if words), told[""])
        for extender, told in said.items()
        if told.total()
    ]
    return sorted(found, key=lambda each: -each.nodes)


def _named(call: ExtenderCall) -> list[str]:
    """Nodes that plugins had refused are no longer there to be left out, and it may speak of them all the same."""
    return [*(name for name, _ in call.failed), *call.left_out]


def refused_by_extender(found: Refusal) -> str:
    """The headline of a pod whose nodes this one refused, every one of them."""
    about = {"extender": found.extender}
    if not found.words:
        return counted(
            "The extender at {extender} leaves {count} node out without a word.",
            "The extender at {extender} leaves {count} nodes out without a word.",
            found.wordless,
            **about,
        )
    return counted(
        "The extender at {extender} refuses {count} node: {words}.",
        "The extender at {extender} refuses {count} nodes: {words}.",
        found.nodes,
        words=_words(found),
        **about,
    )


def extenders_in_short(found: Iterable[Refusal]) -> list[tuple[int, str]]:
    """(how many nodes, ``2 are refused by the extender at … (no license)``)."""
    return [
        (
            each.nodes,
            counted(*(_REFUSED if each.words else _LEFT_OUT), each.nodes, extender=each.extender, words=_words(each)),
        )
        for each in found
    ]


def _words(found: Refusal) -> str:
    """``no license``; with how often each was said where there is more than one."""
    if len(found.words) == 1 and not found.wordless:
        return found.words[0][0]
    parts = [say("{words} ({count})", words=words, count=count) for words, count in found.words[:MOST_WORDS]]
    others = sum(count for _, count in found.words[MOST_WORDS:])
    if others:
        parts.append(counted("{count} for another reason", "{count} for other reasons", others))
    if found.wordless:
        parts.append(counted("{count} without a word", "{count} without a word", found.wordless))
    return both(parts)
