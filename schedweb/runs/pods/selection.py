"""A selected pod over all nodes: which are feasible, why the others are not, totals and ranks of its latest attempt."""

from __future__ import annotations

from typing import Any, Final

from framework.trace.attempt import FEASIBLE, NOT_EVALUATED
from schedweb.api.errors import ApiError
from schedweb.runs.attempts.scores import ranks
from schedweb.runs.attempts.selectors import attempts_until, stored_attempt
from schedweb.runs.models import Run
from schedweb.runs.nodes.selectors import node_names
from schedweb.runs.records.pods import pod_get

FITS: Final = -1
NOT_LOOKED_AT: Final = -2


def selection_body(run: Run, namespace: str, name: str) -> dict[str, Any]:
    pod = pod_get(run, namespace, name)
    names = node_names(run)
    size = len(names)
    body: dict[str, Any] = {
        "attempt": None,
        "verdict": [NOT_LOOKED_AT] * size,
        "reasons": [],
        "total": [None] * size,
        "rank": [None] * size,
        "chosen": None,
        "nominated": None,
    }
    place = {node: index for index, node in enumerate(names)}
    if pod.node in place:
        body["chosen"] = place[pod.node]
    newest = attempts_until(run).filter(pod_uid=pod.uid).order_by("-number").values_list("number", flat=True)
    number = newest.first()
    if number is None:
        return body
    try:
        trace = stored_attempt(run.pk, number).trace
    except ApiError:
        return body  # no longer stored: its places remain
    reasons: dict[tuple[str, str], int] = {}
    if trace.filter is not None:
        for node, index in zip(trace.filter.nodes, trace.filter.verdict.tolist(), strict=True):
            if node not in place:
                continue
            status = trace.absent_status if index == NOT_EVALUATED else trace.filter.verdicts[index]
            if index == FEASIBLE:
                body["verdict"][place[node]] = FITS
            elif status is not None:
                key = (status.plugin, ", ".join(status.all_reasons))
                body["verdict"][place[node]] = reasons.setdefault(key, len(reasons))
    elif trace.pre_filter_status is not None:
        reasons[(trace.pre_filter_status.plugin, trace.pre_filter_status.message)] = 0
        body["verdict"] = [0] * size
    if trace.scores is not None and trace.filter is not None and len(trace.scores.total):
        ranked = ranks(trace.scores.total).tolist()
        for position, total, rank in zip(
            trace.scores.positions.tolist(), trace.scores.total.tolist(), ranked, strict=True
        ):
            index = place.get(trace.filter.nodes[position])
            if index is not None:
                body["total"][index], body["rank"][index] = total, rank
    if trace.selected in place:
        body["chosen"] = place[trace.selected]
    body["nominated"] = trace.nominated_node_used
    body["batched_with"] = trace.batched_with or None
    return {**body, "attempt": number, "reasons": [{"plugin": plugin, "text": text} for plugin, text in reasons]}
