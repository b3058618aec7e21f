"""The filter grammar of pods: words must occur, `!word` must not, `-l key=value` selects by label.

After `-l` also `key!=value`, `key` (has the label) and `!key`, separated by commas. A word is part of the name, or is
a namespace; `namespace/word` wants both.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass


class FilterError(ValueError):
    """A filter that says nothing; the text says why."""


@dataclass(frozen=True)
class LabelTerm:
    key: str
    value: str | None
    negated: bool


@dataclass(frozen=True)
class PodQuery:
    words: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    labels: tuple[LabelTerm, ...] = ()

    def matches(self, namespace: str, name: str, labels: Mapping[str, str]) -> bool:
        """Like schedweb/runs/records/pod_query.py, which asks the database the same."""
        return (
            all(occurs(word, namespace, name) for word in self.words)
            and not any(occurs(word, namespace, name) for word in self.excluded)
            and all(selects(term, labels) for term in self.labels)
        )


def occurs(word: str, namespace: str, name: str) -> bool:
    wanted, slash, rest = word.lower().partition("/")
    if slash:
        return namespace.lower() == wanted and rest in name.lower()
    return wanted in name.lower() or namespace.lower() == wanted


def selects(term: LabelTerm, labels: Mapping[str, str]) -> bool:
    has = term.key in labels if term.value is None else labels.get(term.key) == term.value
    return has is not term.negated


def label_terms(text: str) -> list[LabelTerm]:
    terms = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        if "!=" in part:
            key, _, value = part.partition("!=")
            terms.append(LabelTerm(key.strip(), value.strip(), negated=True))
        elif "=" in part:
            key, _, value = part.replace("==", "=").partition("=")
            terms.append(LabelTerm(key.strip(), value.strip(), negated=False))
        else:
            terms.append(LabelTerm(part.removeprefix("!"), None, negated=part.startswith("!")))
    if any(not term.key for term in terms):
        raise FilterError("A label term needs a key: -l app=shop")
    return terms


def parse_query(text: str) -> PodQuery:
    """Raises FilterError."""
    try:
        tokens = shlex.split(text)
    except ValueError:
        tokens = text.split()
    words: list[str] = []
    excluded: list[str] = []
    labels: list[LabelTerm] = []
    rest = iter(tokens)
    for token in rest:
        if token == "-l":
            labels += label_terms(next(rest, ""))
        elif token.startswith("!") and len(token) > 1:
            excluded.append(token[1:])
        else:
            words.append(token)
    return PodQuery(tuple(words), tuple(excluded), tuple(labels))
