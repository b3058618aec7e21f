"""How far a shadow agrees with the real scheduler: counts, the curve over time, and the decisions one by one.

Agreement is of bindings: a tie is agreement, for kube-scheduler draws among equal nodes. Decisions without a node
(PodScheduled=False) stand beside it, for a pod that stays pending is decided again and again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, cast

from django.db.models import BigIntegerField, Count, ExpressionWrapper, F, Max, Min, Q, QuerySet, Value
from django.db.models.functions import Concat

from framework.advice.shadow import ALIKE
from schedweb.api.errors import not_found
from schedweb.api.windows import Window, check_choice, window_answer
from schedweb.engine.judged import NOT_JUDGED
from schedweb.engine.times import iso
from schedweb.runs.models import Followed, Run, ShadowJudgement
from schedweb.runs.shadowing.extenders import in_short
from schedweb.sentences import say, translated

MINUTE: Final = 60 * 10**9
HOUR: Final = 60 * MINUTE
WIDTHS: Final = tuple(each * MINUTE for each in (1, 2, 5, 10, 15, 30, 60, 180, 360, 720, 1440))
MOST_BUCKETS: Final = 72
MOST_NAMES: Final = 200
"""Namespaces, profiles and workloads that can be chosen."""
DIFFERENT: Final = ("other_node", "stays_pending", "preempts")
"""Kinds of a binding that ours would not have made."""
KINDS: Final = (*DIFFERENT, "left_pending", NOT_JUDGED, "all")
BATCH: Final = 2000
JUDGED: Final = ~Q(kind=NOT_JUDGED)
BOUND: Final = Q(bound=True) & JUDGED
AGREED: Final = BOUND & Q(kind__in=ALIKE)
NOT_ALIKE: Final = BOUND & ~Q(kind__in=ALIKE)
LEFT_PENDING: Final = Q(bound=False) & JUDGED & ~Q(kind__in=ALIKE)
"""Pods without a node there, about which ours decides otherwise."""


@dataclass(frozen=True)
class Asked:
    """ "" is all."""

    namespace: str = ""
    profile: str = ""
    workload: str = ""
    kind: str = ""
    plugin: str = ""
    query: str = ""


def shadow_of(run: Run) -> Followed:
    row = Followed.objects.filter(run=run, shadow=True).first()
    if row is None:
        raise not_found(say("{run} has no shadow.", run=run))
    if run.own_world:
        raise not_found(say("{run} is a shadow on its own: it has no decisions step by step.", run=run))
    return row


def of_asked(run: Run, asked: Asked) -> QuerySet[ShadowJudgement]:
    """By namespace, profile and workload only."""
    rows = ShadowJudgement.objects.filter(run=run)
    for name in ("namespace", "profile", "workload"):
        if wanted := getattr(asked, name):
            rows = rows.filter(**{name: wanted})
    return rows


def summary_body(run: Run, asked: Asked) -> dict[str, Any]:
    row = shadow_of(run)
    rows = of_asked(run, asked)
    figures = rows.aggregate(
        decisions=Count("pk", filter=BOUND),
        same=Count("pk", filter=BOUND & Q(kind="same")),
        tie=Count("pk", filter=BOUND & Q(kind="tie")),
        different=Count("pk", filter=NOT_ALIKE),
        **{kind: Count("pk", filter=BOUND & Q(kind=kind)) for kind in DIFFERENT},
        left_pending=Count("pk", filter=LEFT_PENDING),
        placed_here_pods=Count("uid", distinct=True, filter=LEFT_PENDING & Q(kind="placed_here")),
        not_judged=Count("pk", filter=~JUDGED),
        first=Min("at"),
        last=Max("at"),
    )
    first, last = figures.pop("first"), figures.pop("last")
    hour = last_hour(run, row)
    return {
        **figures,
        "kept_since": None if first is None else iso(first),
        "left_out": row.judgements_dropped,
        "alert_below": row.alert_below,
        **hour,
        **curve(rows, first, last),
        "plugins": [
            {"plugin": each["plugin"], "count": each["count"]}
            for each in rows.filter(NOT_ALIKE).values("plugin").annotate(count=Count("pk")).order_by("-count", "plugin")
        ],
        "namespaces": names(run, "namespace"),
        "profiles": names(run, "profile"),
        "workloads": names(run, "workload"),
    }


def last_hour(run: Run, row: Followed) -> dict[str, Any]:
    """Of the last hour up to the newest decision, whatever is filtered: what the alert goes by."""
    of_run = ShadowJudgement.objects.filter(run=run)
    newest = of_run.filter(BOUND).aggregate(newest=Max("at"))["newest"]
    counts = {"decisions": 0, "agreed": 0}
    if newest is not None:
        recent = of_run.filter(at__gt=newest - HOUR)
        counts = recent.aggregate(decisions=Count("pk", filter=BOUND), agreed=Count("pk", filter=AGREED))
    below = row.alert_below is not None and counts["agreed"] * 100 < row.alert_below * counts["decisions"]
    return {"hour": counts, "is_below": below}


def curve(rows: QuerySet[ShadowJudgement], first: int | None, last: int | None) -> dict[str, Any]:
    """Bindings by equal stretches of time, those without any left out."""
    if first is None or last is None:
        return {"bucket_seconds": WIDTHS[0] // 10**9, "buckets": []}
    fitting = (width for width in WIDTHS if last // width - first // width < MOST_BUCKETS)
    width = next(fitting, -(-(last - first) // MOST_BUCKETS))
    place = ExpressionWrapper(F("at") / width, output_field=BigIntegerField())
    counted = (
        rows.filter(BOUND)
        .annotate(bucket=place)
        .values("bucket")
        .annotate(
            same=Count("pk", filter=Q(kind="same")),
            tie=Count("pk", filter=Q(kind="tie")),
            different=Count("pk", filter=~Q(kind__in=ALIKE)),
        )
        .order_by("bucket")
    )
    buckets = [
        {"at": iso(each["bucket"] * width), **{name: each[name] for name in ("same", "tie", "different")}}
        for each in counted.values("bucket", "same", "tie", "different")
    ]
    return {"bucket_seconds": width // 10**9, "buckets": buckets}


def names(run: Run, of: str) -> list[str]:
    """The most frequent ones, by name."""
    counted = ShadowJudgement.objects.filter(run=run).values(of).annotate(count=Count("pk")).order_by("-count", of)
    return sorted(each[of] for each in counted[:MOST_NAMES])


# --- one by one -------------------------------------------------------------------------------------------------------


def chosen(run: Run, asked: Asked) -> QuerySet[ShadowJudgement]:
    """Newest first. Without a kind the bindings that ours would not have made."""
    check_choice("kind", asked.kind, KINDS)
    shadow_of(run)
    rows = of_asked(run, asked)
    match asked.kind:
        case "":
            rows = rows.filter(NOT_ALIKE)
        case "left_pending":
            rows = rows.filter(LEFT_PENDING)
        case "not_judged":
            rows = rows.filter(~JUDGED)
        case "all":
            pass
        case kind:
            rows = rows.filter(BOUND, kind=kind)
    if asked.plugin:
        rows = rows.filter(plugin=asked.plugin)
    if asked.query:
        rows = rows.annotate(key=Concat("namespace", Value("/"), "name")).filter(
            Q(key__icontains=asked.query) | Q(real_node__icontains=asked.query) | Q(own_node__icontains=asked.query)
        )
    return rows.order_by("-number")


def judgement_body(row: ShadowJudgement) -> dict[str, Any]:
    detail = row.detail
    return {
        "number": row.number,
        "at": iso(row.at),
        "uid": row.uid,
        "namespace": row.namespace,
        "name": row.name,
        "workload": row.workload,
        "profile": row.profile,
        "kind": row.kind,
        "bound": row.bound,
        "real_node": row.real_node,
        "own_node": row.own_node,
        "plugin": row.plugin,
        "margin": row.margin,
        "tied": detail.get("tied", 0),
        "rank": detail.get("rank", 0),
        "reasons": detail.get("reasons", []),
        "points": [{"plugin": plugin, "own": own, "real": real} for plugin, own, real in detail.get("points", [])],
        "victims": detail.get("victims", []),
        "message": detail.get("message", ""),
        "real_message": detail.get("real_message", ""),
        "why_not": translated(detail.get("why", "")),
        "sampled": detail.get("sampled", 0),
        "extenders": in_short(detail.get("extenders", [])),
    }


def judgement_window(run: Run, window: Window, asked: Asked) -> dict[str, Any]:
    return window_answer(window, chosen(run, asked), judgement_body)


def judgement_batches(run: Run, asked: Asked) -> Iterator[list[dict[str, Any]]]:
    """By number, so that what comes meanwhile moves nothing."""
    rows, below = chosen(run, asked), None
    while True:
        part = list((rows if below is None else rows.filter(number__lt=below))[:BATCH])
        if not part:
            return
        yield [judgement_body(row) for row in part]
        below = part[-1].number


def percent(summary: dict[str, Any]) -> float | None:
    """Of agreement; None without a decision."""
    decisions = cast(int, summary["decisions"])
    return 100 * (summary["same"] + summary["tie"]) / decisions if decisions else None
