"""What our scheduler says of a pod that nobody tried in the run, in the words of any attempt: tried on a copy."""

from __future__ import annotations

from typing import Any

from framework.plugins.coscheduling.plugin import Coscheduling
from framework.trace.encoding import decode_attempt
from schedweb.runs.attempts.selectors import StoredAttempt
from schedweb.runs.filtering.filters import FilterView
from schedweb.runs.filtering.standing import StandingOf
from schedweb.runs.models import Analysis, Attempt, PodRecord
from schedweb.runs.objects.selectors import ObjectLookup
from schedweb.runs.pending.answers import pending_answer
from schedweb.runs.pending.catalogue_endings import refused_on_its_node
from schedweb.runs.pending.gang_answers import tried_in_vain
from schedweb.runs.records.pods import pod_manifest
from schedweb.sentences import both, counted, one_after_another, say


def said_of(analysis: Analysis, found: dict[str, Any]) -> tuple[str, str]:
    """(headline, detail) of the answer to ``why_pending``. Nodes and pods are looked at as the run has them now."""
    if found["node"] and found["evicts"]:
        return say("It would go to {node} once there is room.", node=found["node"]), counted(
            "{pods} of lower priority would be evicted for it.",
            "{pods} of lower priority would be evicted for it.",
            len(found["evicts"]),
            pods=both(found["evicts"]),
        )
    if found.get("waits_for"):
        return _would_wait(found)
    if found["node"]:
        return say("It fits: {node} would be chosen.", node=found["node"]), ""
    if not analysis.blob:
        return say("It is held before it is tried: a gate, or a plugin that waits for something."), ""
    run = analysis.run
    record = PodRecord.objects.filter(run=run, uid=found["uid"]).first()
    if record is None:
        return found["message"], ""
    row = Attempt(
        run=run, number=run.attempts + 1, pod_uid=record.uid, namespace=record.namespace, name=record.name,
        attempt=1, profile="", at=run.clock, result="unschedulable", message=found["message"],
    )  # fmt: skip
    trace = decode_attempt(bytes(analysis.blob), 0)
    in_vain = tried_in_vain(trace, ObjectLookup(run))
    if trace.selected and in_vain:
        return in_vain, say("It finds {node}, and does not keep it.", node=trace.selected)
    if trace.selected:
        refused, message = trace.placed_status, found["message"].rstrip(".")
        # Who ends a wait of its group says so in the message: "0/5 nodes are available: 1 rejection in Unreserve."
        plugin, words = (
            (Coscheduling.name, message.rpartition(": 1 ")[2]) if refused is None else (refused.plugin, refused.message)
        )
        known = refused_on_its_node(plugin, words, trace.selected, pod_manifest(record))
        return known or (say("{node} was chosen, but it was not bound there.", node=trace.selected), found["message"])
    view = FilterView(StoredAttempt(row, trace))
    headline, detail = pending_answer(view, pod_manifest(record), ObjectLookup(run), StandingOf(run))
    return headline, one_after_another([detail, in_vain])


def _would_wait(found: dict[str, Any]) -> tuple[str, str]:
    """Of a pod that finds a node and is kept from it by Permit: nobody who is pending now ends its wait."""
    headline = say(
        "It would hold {node} and wait there on Permit ({plugins}), in vain.",
        node=found["node"],
        plugins=both(found["waits_for"]),
    )
    if not found["min_member"]:
        return headline, ""
    return headline, counted(
        "{count} pod of its PodGroup would have a node, and its minMember is {members}.",
        "{count} pods of its PodGroup would have a node, and its minMember is {members}.",
        found["in_place"],
        members=found["min_member"],
    )
