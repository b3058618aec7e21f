"""What extenders were sent in an attempt and what they replied, out of the run's journal.

The trace has what each left, no times and no bodies: two runs that decide the same have the same traces, however fast
their extenders were.
"""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from framework.trace.attempt import AttemptTrace, ExtenderCall
from schedweb.engine.asked import beginning
from schedweb.runs.models import Attempt, JournalEntry
from schedweb.runs.storing.answers import TYPE

Times = Mapping[int, int]
"""Place of a call among the attempt's → microseconds."""
NO_TIMES: Final[Times] = {}
BIND: Final = "bind"


@dataclass(frozen=True)
class Call:
    place: int | None
    """Among the trace's calls; None of a binding's, which may come after the trace was stored."""
    told: ExtenderCall | None
    answer: Mapping[str, Any] | None
    """As the journal has it (``ExtenderAnswer``)."""
    entry: int | None
    """Of the journal: calls of one entry were made at once."""


def calls_of_attempt(row: Attempt, trace: AttemptTrace) -> list[Call]:
    """In the order in which they were asked."""
    return [*_in_cycle(row, trace), *bindings_of(row)]


def times_of(calls: Iterable[Call]) -> Times:
    return {
        call.place: call.answer["microseconds"]
        for call in calls
        if call.place is not None and call.answer is not None and "microseconds" in call.answer
    }


def extenders_body(row: Attempt, trace: AttemptTrace) -> dict[str, Any]:
    calls = calls_of_attempt(row, trace)
    waited: dict[int, int] = {}
    for call in calls:
        if call.entry is not None and call.answer is not None:
            waited[call.entry] = max(waited.get(call.entry, 0), call.answer.get("microseconds", 0))
    return {"calls": [_call_body(call) for call in calls], "waited_us": sum(waited.values())}


def _in_cycle(row: Attempt, trace: AttemptTrace) -> list[Call]:
    """The journal's newest answers before the cycle ended are its own: a pod is in one cycle at a time."""
    asked = [(place, call) for place, call in enumerate(trace.extender_calls) if call.verb != BIND]
    found: list[tuple[int, Mapping[str, Any]]] = []
    if asked and row.position is not None:
        newest = _entries(row).filter(position__lt=row.position).order_by("-position")[: len(asked)]
        found = [(each.number, one) for each in reversed(newest) for one in _answers(each) if one["verb"] != BIND]
    calls = [Call(place, told, None, None) for place, told in asked]
    for at in range(1, min(len(calls), len(found)) + 1):
        number, answer = found[-at]
        calls[-at] = Call(calls[-at].place, calls[-at].told, answer, number)
    return calls


def bindings_of(row: Attempt) -> list[Call]:
    """Asked after the scheduling cycle, before the pod's next one."""
    if not row.node or row.position is None:
        return []
    found = _entries(row).filter(position__gte=row.position, command__answers__0__verb=BIND).order_by("position")
    same_pod = Attempt.objects.filter(run=row.run_id, namespace=row.namespace, name=row.name)
    later = same_pod.filter(number__gt=row.number).order_by("number").values_list("position", flat=True).first()
    if later is not None:
        found = found.filter(position__lt=later)
    return [Call(None, None, one, each.number) for each in found for one in _answers(each)]


def _entries(row: Attempt) -> Any:
    return JournalEntry.objects.filter(
        run=row.run_id,
        type=TYPE,
        status=JournalEntry.Status.APPLIED,
        command__pod=f"{row.namespace}/{row.name}",
    )


def _answers(entry: JournalEntry) -> Sequence[Mapping[str, Any]]:
    answers: Sequence[Mapping[str, Any]] = entry.command["answers"]
    return answers


def _call_body(call: Call) -> dict[str, Any]:
    told, answer = call.told, call.answer or {}
    no_reply = str(answer.get("error", ""))
    return {
        "extender": answer["extender"] if told is None else told.extender,
        "verb": answer["verb"] if told is None else told.verb,
        "sent": 1 if told is None else told.sent,
        "kept": None if told is None or told.error else told.kept,
        "status": None if not answer or no_reply else answer.get("status", 200),
        "error": no_reply if told is None else told.error,
        "ignored": told is not None and told.ignored,
        "us": answer.get("microseconds"),
        "request": body_of(answer.get("request", ""), answer.get("request_bytes")),
        "reply": None if not answer or no_reply else body_of(answer.get("body", ""), None) or {"text": "", "bytes": 0},
    }


def body_of(packed: str, whole: int | None) -> dict[str, Any] | None:
    """``whole``: bytes, where what is packed is only its beginning. A character that was cut is left out."""
    if not packed:
        return None
    content, size = beginning(packed)
    size = size if whole is None else whole
    decoder = getincrementaldecoder("utf-8")(errors="replace")
    return {"text": decoder.decode(content, final=len(content) == size), "bytes": size}
