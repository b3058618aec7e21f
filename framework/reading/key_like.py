"""Labels and names stay whatever they say, so what looks like a key in them is pointed out.

A text looks like a key when it begins as keys of known issuers do, when it stands under a label whose name says so, or
when it is long and its characters look drawn by chance. Hashes, uids and commits are hexadecimal and are not named.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import pairwise
from typing import Final

import msgspec

from framework.objects import ObjectMeta
from framework.objects.remembering import MOST_LABELS
from framework.sentences import Sentence, counted_sentence, sentence

MOST_TOLD: Final = 10
_KNOWN_MOST: Final = 1 << 15
_SHOWN: Final = 4
"""Characters of what may be a key that are said: it must not be told again in full."""
_ISSUED: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"(?:AKIA|ASIA|akia|asia)[A-Za-z0-9]{16}(?![A-Za-z0-9])"  # Amazon
    r"|AIza[A-Za-z0-9_-]{35}"  # Google
    r"|gh[opsur]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{20,}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}"  # Slack
    r"|sk-(?=[A-Za-z0-9_-]*[0-9])(?=[A-Za-z0-9_-]*[A-Z])[A-Za-z0-9_-]{16,}|sk-[a-z0-9]{20,}"
    r"|[rs]k_(?:live|test)_[A-Za-z0-9]{10,}"  # Stripe
    r"|hv[bs]\.[A-Za-z0-9_-]{20,}|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{16,}|dop_v1_[a-f0-9]{40,}"
    r"|SG\.[A-Za-z0-9_-]{16,}|eyJ[A-Za-z0-9_-]{13,}"
    r")"
)
_SAYS_SO: Final = re.compile(
    r"(?:pass(?:word|wd|phrase)?|secret|token|api[-_.]?key|access[-_.]?key|credential)s?$", re.I
)
"""The name of a label, without its prefix."""
_CHARACTERS: Final = re.compile(r"[A-Za-z0-9+/=]+")
_HEXADECIMAL: Final = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_LEAST: Final = 20
_LEAST_IN_ONE_CASE: Final = 32
_LEAST_UNDER_A_NAME: Final = 8
_TURNS: Final = 0.4
_TURNS_IN_ONE_CASE: Final = 0.25
"""From one character to the next, how often small letters, capitals and digits take turns: by chance 0.6 and 0.4."""
_BITS: Final = 3.8
"""Per character. Words have about 3, random letters and digits of this length 4 and more."""


def looks_like_a_key(text: str) -> bool:
    if len(text) < _LEAST:
        return False
    if _ISSUED.search(text):
        return True
    return any(map(_is_random, _CHARACTERS.findall(text)))


def _is_random(text: str) -> bool:
    cases = any(map(str.isupper, text)) + any(map(str.islower, text))
    digits = sum(map(str.isdigit, text))
    if len(text) < (_LEAST if cases == 2 else _LEAST_IN_ONE_CASE) or digits < 2 or digits == len(text):
        return False
    if _HEXADECIMAL.fullmatch(text):
        return False
    kinds = [each.isdigit() + 2 * each.isupper() for each in text]
    turns = sum(a != b for a, b in pairwise(kinds)) / (len(text) - 1)
    if turns < (_TURNS if cases == 2 else _TURNS_IN_ONE_CASE):
        return False
    counts = Counter(text).values()
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts) >= _BITS


class KeyLike(msgspec.Struct, array_like=True):
    where: Sentence | str
    object: str
    """Kind and name of the first object with it."""
    shown: str
    objects: int = 1


class KeyLikes(msgspec.Struct):
    """What was found in the objects that were looked at. Two of them may be added up (``add``)."""

    found: dict[str, KeyLike] = {}
    """By where it is and what it begins with."""
    others: int = 0

    def add(self, later: KeyLikes) -> None:
        for key, each in later.found.items():
            self.take(key, each)
        self.others += later.others

    def take(self, key: str, found: KeyLike) -> None:
        if (known := self.found.get(key)) is not None:
            known.objects += found.objects
        elif len(self.found) < MOST_TOLD:
            self.found[key] = found
        else:
            self.others += found.objects

    def sentences(self) -> list[Sentence]:
        told = [_sentence(each) for each in self.found.values()]
        if self.others:
            told.append(
                counted_sentence(
                    "{count} more label or name looks like a key.",
                    "{count} more labels and names look like keys.",
                    self.others,
                )
            )
        return told


class KeySearch:
    """Looks at objects one by one; replicas have their labels in common."""

    def __init__(self) -> None:
        self.likes = KeyLikes()
        self._harmless: set[str | tuple[str, str]] = set()

    def look(self, kind: str, metadata: ObjectMeta) -> None:
        harmless = self._harmless
        are_usual = len(metadata.labels) <= MOST_LABELS
        for each in metadata.labels.items():
            if each not in harmless and self._is_harmless(kind, metadata, each) and are_usual:
                self._remember(each)
        if metadata.namespace not in harmless:
            self._name(kind, metadata, metadata.namespace)
        self._name(kind, metadata, metadata.name)

    def _remember(self, harmless: str | tuple[str, str]) -> None:
        if len(self._harmless) < _KNOWN_MOST:
            self._harmless.add(harmless)

    def _is_harmless(self, kind: str, metadata: ObjectMeta, label: tuple[str, str]) -> bool:
        key, value = label
        name = key.rpartition("/")[2]
        if looks_like_a_key(value) or (len(value) >= _LEAST_UNDER_A_NAME and _SAYS_SO.search(name)):
            where = sentence("Label {label}", label=key)
            self._found(kind, metadata, where, f"label {key} {value}", value)
        elif looks_like_a_key(key):
            where = sentence("The name of a label")
            self._found(kind, metadata, where, f"label {key}", key)
        else:
            return True
        return False

    def _name(self, kind: str, metadata: ObjectMeta, name: str) -> None:
        if looks_like_a_key(name):
            self._found(kind, metadata, sentence("A name"), f"name {name}", name)
        elif name == metadata.namespace:
            self._remember(name)

    def _found(self, kind: str, metadata: ObjectMeta, where: Sentence, key: str, value: str) -> None:
        named = "/".join(
            _begun(part) if looks_like_a_key(part) else part for part in (metadata.namespace, metadata.name) if part
        )
        self.likes.take(key, KeyLike(where, f"{kind} {named}", _begun(value)))


def _begun(text: str) -> str:
    return f"{text[:_SHOWN]}…"


def _sentence(each: KeyLike) -> Sentence:
    others = each.objects - 1
    what = (
        counted_sentence("{first} and {count} other", "{first} and {count} others", others, first=each.object)
        if others
        else each.object
    )
    return sentence(
        "{what}: {where} looks like a key ({shown}). Labels and names are kept: if it is one, change it in the file.",
        what=what,
        where=each.where,
        shown=each.shown,
    )
