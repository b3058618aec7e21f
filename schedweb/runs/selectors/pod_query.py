"""The filter grammar of every pod list: words must occur, `!word` must not, `-l key=value` selects by label.

After `-l` also `key!=value`, `key` (has the label) and `!key`, separated by commas.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from django.db.models import Q, QuerySet, TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from schedweb.api.errors import ApiError
from schedweb.runs.models import PodRecord


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
        raise ApiError("A label term needs a key: -l app=shop", code="invalid", path="q")
    return terms


def parse_query(text: str) -> PodQuery:
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


def matching(word: str) -> Q:
    namespace, slash, name = word.partition("/")
    if slash:
        return Q(namespace__iexact=namespace, name__icontains=name)
    return Q(name__icontains=word) | Q(namespace__iexact=word)


def filter_pods(rows: QuerySet[PodRecord], text: str) -> QuerySet[PodRecord]:
    query = parse_query(text)
    for word in query.words:
        rows = rows.filter(matching(word))
    for word in query.excluded:
        rows = rows.exclude(matching(word))
    for index, term in enumerate(query.labels):
        alias = f"label_{index}"
        # As plain text: compared as JSON, the value would have to be JSON too.
        rows = rows.alias(**{alias: Cast(KeyTextTransform(term.key, "labels"), TextField())})
        has = Q(**{f"{alias}__isnull": False}) if term.value is None else Q(**{alias: term.value})
        if term.negated:
            missing = Q(**{f"{alias}__isnull": True})
            rows = rows.filter(missing if term.value is None else missing | ~has)
        else:
            rows = rows.filter(has)
    return rows
