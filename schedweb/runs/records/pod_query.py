"""The filter grammar of every pod list (schedweb/engine/pod_filter.py), asked of the database."""

from __future__ import annotations

from django.db.models import Q, QuerySet, TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from schedweb.api.errors import ApiError
from schedweb.engine.pod_filter import FilterError, PodQuery, parse_query
from schedweb.runs.models import PodRecord


def query_of(text: str) -> PodQuery:
    try:
        return parse_query(text)
    except FilterError as error:
        raise ApiError(str(error), code="invalid", path="q") from None


def matching(word: str) -> Q:
    namespace, slash, name = word.partition("/")
    if slash:
        return Q(namespace__iexact=namespace, name__icontains=name)
    return Q(name__icontains=word) | Q(namespace__iexact=word)


def filter_pods(rows: QuerySet[PodRecord], text: str) -> QuerySet[PodRecord]:
    query = query_of(text)
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
