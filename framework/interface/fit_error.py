"""The text of a pod that fits nowhere: ``0/N nodes are available: …``.

Rules: docs/semantics/framework.md#the-message; upstream FitError.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from framework.interface.status import Status


def fit_error_message(
    total_nodes: int,
    explicit: Iterable[Status],
    absent: Status | None = None,
    *,
    pre_filter_message: str = "",
    post_filter_message: str = "",
) -> str:
    """``explicit``: one status per node that has one; ``absent`` stands for the rest of ``total_nodes``.

    A PreFilter message replaces the histogram. Histogram entries sort as strings, so ``10 x`` comes before ``2 y``.
    """
    statuses = list(explicit)
    # Thousands of nodes share a few status objects: count those first.
    numbers = Counter(map(id, statuses))
    distinct = dict(zip(map(id, statuses), statuses, strict=True))
    return counted_fit_error_message(
        total_nodes,
        [(distinct[each], count) for each, count in numbers.items()],
        absent,
        pre_filter_message=pre_filter_message,
        post_filter_message=post_filter_message,
    )


def counted_fit_error_message(
    total_nodes: int,
    explicit: Iterable[tuple[Status, int]],
    absent: Status | None = None,
    *,
    pre_filter_message: str = "",
    post_filter_message: str = "",
) -> str:
    """``fit_error_message`` for statuses that come with the number of nodes that have them."""
    text = f"0/{total_nodes} nodes are available:"
    if pre_filter_message:
        text += f" {pre_filter_message}."
    else:
        text += _histogram(total_nodes, explicit, absent)
    if post_filter_message:
        text += f" {post_filter_message}"
    return text


def _histogram(total_nodes: int, explicit: Iterable[tuple[Status, int]], absent: Status | None) -> str:
    reasons: Counter[str] = Counter()
    nodes = 0
    for status, count in explicit:
        nodes += count
        for reason in status.all_reasons:
            reasons[reason] += count
    if absent is not None and nodes < total_nodes:
        for reason in absent.all_reasons:
            reasons[reason] += total_nodes - nodes
    entries = sorted(f"{count} {reason}" for reason, count in reasons.items())
    return f" {', '.join(entries)}." if entries else ""
