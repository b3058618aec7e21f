"""A pod's own page: the answer in one sentence, its next try, its journey through the queues, its attempts."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, Final

from framework.interface.decisions import ClaimDecision
from framework.objects.catalogue import AppGroup
from framework.objects.timestamps import SECOND
from framework.plugins.networkaware.args import NetworkOverheadArgs
from schedweb.api.errors import ApiError
from schedweb.engine.times import iso, iso_or_none
from schedweb.runs.attempts.extenders import BIND, bindings_of
from schedweb.runs.attempts.preemptions import preempted_by, spared_in
from schedweb.runs.attempts.selectors import attempts_until, result_at, stored_attempt
from schedweb.runs.attempts.spared import spared_in_short
from schedweb.runs.filtering.catalogue_facts import refusing_network, refusing_quotas, refusing_zones
from schedweb.runs.filtering.filters import FilterView
from schedweb.runs.filtering.networks import PLUGIN as NETWORK
from schedweb.runs.filtering.standing import StandingOf
from schedweb.runs.models import Attempt, Decision, PodRecord, Preemption, Run
from schedweb.runs.objects.claims import claims_body, has_claims
from schedweb.runs.objects.numa_zones import PLUGIN as ZONES
from schedweb.runs.objects.selectors import ObjectLookup
from schedweb.runs.pending.catalogue_endings import after_no_node, failed_by, refused_on_its_node
from schedweb.runs.pending.claim_answers import held_by_claims, held_by_gang
from schedweb.runs.pending.gang_answers import gang_answer
from schedweb.runs.pending.since import answer_at
from schedweb.runs.records.fields import POD_COLUMNS
from schedweb.runs.records.moments import in_order
from schedweb.runs.records.pods import IN_COLUMN_ORDER, ordering, pod_get, pod_manifest
from schedweb.runs.records.profiles import effective, profile_at, version_at
from schedweb.sentences import both, clauses, counted, one_after_another, say, translated

ATTEMPTS_SHOWN: Final = 50
#: The queue flushes pods that stayed unschedulable longer than this (docs/semantics/queue.md#operations).
LEFTOVERS: Final = 300 * SECOND
Column = PodRecord.Column
HAS_NODE: Final = (Column.WAITING, Column.IN_FLIGHT, Column.BOUND)


def attempt_body(row: Attempt, run: Run) -> dict[str, Any]:
    return {
        "number": row.number,
        "attempt": row.attempt,
        "at": iso(row.at),
        "result": result_at(row, run),
        "node": row.node or None,
        "duration_ms": None if row.duration_us is None else row.duration_us / 1000,
    }


def winner_text(pod: PodRecord) -> str:
    score, ties, margin = (pod.card.get(key) for key in ("score", "ties", "margin"))
    if score is None and Preemption.objects.filter(run=pod.run_id, uid=pod.uid, node=pod.node).exists():
        return say("It had made room there by preemption: it was tried first and fitted, so nothing was scored.")
    if score is None:
        return say("It was the only feasible node, so nothing was scored.")
    if ties and ties > 1:
        return say("It won with {score} points, 1 of {ties} equal.", score=score, ties=ties)
    if margin:
        return say("It won with {score} points, {margin} ahead of the next.", score=score, margin=margin)
    return say("It won with {score} points.", score=score)


def pending_headline(card: dict[str, Any], nodes: int) -> str:
    rejectors = card.get("rejectors", [])
    if not rejectors:
        return say("It could not be placed.")
    total = sum(rejector["count"] for rejector in rejectors)
    if len(rejectors) == 1 and total > 0:
        return say(
            "No node fits: {plugin} refuses {total} of {nodes}.",
            plugin=rejectors[0]["plugin"],
            total=total,
            nodes=nodes,
        )
    parts = [
        say("{plugin} refuses {count}", plugin=each["plugin"], count=each["count"])
        for each in rejectors
        if each["count"]
    ]
    return (
        say("No node fits: {refusals} of {nodes}.", refusals=clauses(parts), nodes=nodes)
        if parts
        else say("{plugin} refused it.", plugin=rejectors[0]["plugin"])
    )


def turned_away(run: Run, pod: PodRecord, latest: Attempt) -> tuple[str, str]:
    """Of a pod that had a node and lost it again: who or what ended its wait on Permit, or what failed after that."""
    made = Decision.objects.filter(run=run, pod_uid=pod.uid, at__gte=latest.at, at__lte=run.clock)
    decided = made.order_by("-number").first()
    message = latest.message.rstrip(".")
    plugin, said = (decided.plugin, decided.reason) if decided is not None else _refused_by(run, latest)
    if decided is None or decided.decision in (Decision.Kind.REJECTED, Decision.Kind.TIMED_OUT):
        known = refused_on_its_node(plugin, said.rstrip("."), latest.node, pod_manifest(pod))
        if known is not None:
            return known
    if decided is None:
        return say("{node} was chosen, but it was not bound there.", node=latest.node), f"{message}." if message else ""
    freed = say(
        "{plugin} held {node} for it; what it had reserved there is free again.",
        plugin=decided.plugin,
        node=latest.node,
    )
    reason = decided.reason.rstrip(".")
    if decided.decision == Decision.Kind.REJECTED:
        return say(
            "{by} rejected it on {node}: {reason}.", by=translated(decided.by), node=latest.node, reason=reason
        ), freed
    if decided.decision == Decision.Kind.TIMED_OUT:
        return say(
            "Its wait on {node} ran out before {plugin} let it go.", node=latest.node, plugin=decided.plugin
        ), freed
    if decided.decision == Decision.Kind.PREEMPTED:
        return say("It was preempted while it waited on {node}.", node=latest.node), freed
    if decided.decision == Decision.Kind.OVERRIDDEN:
        return say("It was overridden while it waited on {node}.", node=latest.node), freed
    return say("It was approved while it waited on {node}.", node=latest.node), freed


def _refused_by(run: Run, latest: Attempt) -> tuple[str, str]:
    """(plugin, message) of Reserve or Permit; empty where the attempt is no longer stored."""
    try:
        status = stored_attempt(run, latest.number).trace.placed_status
    except ApiError:
        return "", ""
    return ("", "") if status is None else (status.plugin, status.message)


def pending_words(run: Run, pod: PodRecord, latest: Attempt | None) -> tuple[str, str]:
    """From the latest attempt as far as it is stored; from the counts on its card otherwise."""
    if nobody_tries(pod):
        return no_profile_words(run, pod)
    if (
        latest is not None
        and latest.result == "unschedulable"
        and (said := gang_answer(run, latest, pod_manifest(pod), ObjectLookup(run), StandingOf(run))) is not None
    ):
        return said
    if latest is not None and latest.result == "unschedulable" and latest.node:
        return turned_away(run, pod, latest)
    if latest is not None and latest.result == "unschedulable":
        try:
            stored = stored_attempt(run, latest.number)
        except ApiError:
            pass  # no longer stored: the counts remain
        else:
            view = FilterView(stored)
            headline, detail = answer_at(run, latest, view, pod_manifest(pod), ObjectLookup(run), StandingOf(run))
            after = after_no_node(stored.trace, pod_manifest(pod))
            return headline, one_after_another([detail, spared_in_short(spared_in(stored)), after])
    if latest is not None and latest.result == "error":
        words = extender_words(run, latest) or failed_by(latest.message.rstrip("."))
        if words is not None:
            return words
    return pending_headline(pod.card, pod.detail.get("nodes_total", run.node_count)), ""


def extender_words(run: Run, latest: Attempt) -> tuple[str, str] | None:
    """None where no extender ended the attempt, or what was said in it is no longer stored."""
    try:
        calls = stored_attempt(run, latest.number).trace.extender_calls
    except ApiError:
        return None
    failed = next((call for call in reversed(calls) if call.error and not call.ignored), None)
    if failed is None or failed.verb == BIND:
        return _not_bound_by_extender(latest)
    return (
        say("The extender at {extender} failed: {error}", extender=failed.extender, error=failed.error),
        say("The pod is tried again after its backoff. An extender that is ignorable would be passed over."),
    )


def _not_bound_by_extender(latest: Attempt) -> tuple[str, str] | None:
    """None where no extender was to bind the pod."""
    asked = bindings_of(latest)
    if not asked or asked[-1].answer is None:
        return None
    about = {"extender": asked[-1].answer["extender"], "node": latest.node, "error": latest.message.rstrip(".")}
    return (
        say("The extender at {extender} did not bind it to {node}: {error}", **about),
        say("The pod is tried again after its backoff. An extender that is ignorable would be passed over."),
    )


def nobody_tries(pod: PodRecord) -> bool:
    """Its profile does not exist."""
    return bool(pod.detail.get("headline")) and pod.column == Column.UNSCHEDULABLE


def no_profile_words(run: Run, pod: PodRecord) -> tuple[str, str]:
    name = str(pod.detail.get("profile", ""))
    try:
        names = [each.scheduler_name for each in effective(version_at(run, run.position).text).profiles]
    except ApiError:
        return translated(pod.detail["headline"]), ""
    return say("No profile of this configuration is called {name}.", name=name), counted(
        "Nobody tries it. The configuration has the profile {names}.",
        "Nobody tries it. The configuration has the profiles {names}.",
        len(names),
        names=both(names),
    )


def gated_words(run: Run, pod: PodRecord) -> tuple[str, str]:
    gate = pod.card.get("gate") or say("a gate")
    if gate == "GangScheduling":
        return held_by_gang(pod_manifest(pod), ObjectLookup(run))
    if gate == "DynamicResources":
        return held_by_claims(pod_manifest(pod), ObjectLookup(run))
    named = [str(each.get("name", "")) for each in pod_manifest(pod).get("spec", {}).get("schedulingGates") or []]
    return say("Held by {gate}.", gate=both(named) if len(named) > 1 else gate), counted(
        "It is not tried until the gate is removed.", "It is not tried until the gates are removed.", max(1, len(named))
    )


def deleted_words(by: dict[str, Any] | None) -> tuple[str, str]:
    """`by`: the preemption whose victim it was."""
    if by is None:
        return say("Deleted."), ""
    preemptor, victim = by["pod"], by["victim"]
    return (
        say(
            "Preempted by {namespace}/{name}, which fitted nowhere.",
            namespace=preemptor["namespace"],
            name=preemptor["name"],
        ),
        say(
            "Its priority is {priority:,}, that of {name} {higher:,}; without it there is room on {node}.",
            priority=victim["priority"],
            name=preemptor["name"],
            higher=preemptor["priority"],
            node=by["node"],
        ),
    )


def waits_for_devices(pod: PodRecord, claims: Mapping[str, Any]) -> tuple[str, str] | None:
    """Headline and detail of a pod that stands in PreBind until its devices are ready; None for others."""
    unmet = [
        say("{condition} of {device}", condition=condition["type"], device=device["device"])
        for claim in claims["devices"]
        for device in claim["devices"]
        for condition in device["conditions"]
        if not condition["fails"] and condition["status"] != "True"
    ]
    if pod.column != Column.IN_FLIGHT or not unmet:
        return None
    return (
        say("Waits for its devices to be ready."),
        say("Not met yet: {conditions}. kube-scheduler looks every five seconds.", conditions=both(unmet)),
    )


def told_words(run: Run, pod: PodRecord) -> tuple[str, str, str] | None:
    """Of a pod without a node in a run that follows a real cluster: what its scheduler did. None: as in any run."""
    scheduler = pod.detail.get("profile", "")
    if pod.column == Column.ACTIVE:
        return "active", say("To be tried by {scheduler} in the real cluster.", scheduler=scheduler), ""
    if pod.column == Column.UNSCHEDULABLE:
        headline = say("{scheduler} found no node for it in the real cluster.", scheduler=scheduler)
        return "pending", headline, pod.detail.get("message", "")
    return None


def answer_body(
    run: Run, pod: PodRecord, latest: Attempt | None, by: dict[str, Any] | None, claims: Mapping[str, Any]
) -> dict[str, Any]:
    card = pod.card
    message = pod.detail.get("message", "") or (latest.message if latest else "")
    texts: dict[str, tuple[str, str, str]] = {
        Column.BOUND: (
            "bound",
            say("Bound to {node}.", node=pod.node),
            winner_text(pod) if pod.attempts else say("It was there before."),
        ),
        Column.WAITING: (
            "waiting",
            say(
                "Reserved on {node}, waits on {plugins}.",
                node=pod.node,
                plugins=translated([wait["plugin"] for wait in card.get("waiting", [])]),
            ),
            winner_text(pod),
        ),
        Column.ACTIVE: ("active", say("In the queue, to be tried."), ""),
        Column.IN_FLIGHT: ("in_flight", *(waits_for_devices(pod, claims) or (say("Being tried now."), ""))),
        Column.COMPLETED: (
            "completed",
            say("Completed."),
            say("Its containers have ended, so it holds nothing any more."),
        ),
        Column.DELETED: ("deleted", *deleted_words(by)),
    }
    if run.only_observes and (said := told_words(run, pod)) is not None:
        kind, headline, detail = said
    elif pod.column == Column.GATED:
        kind, (headline, detail) = "gated", gated_words(run, pod)
    elif pod.column in texts:
        kind, headline, detail = texts[pod.column]
    else:
        kind = "backoff" if pod.column == Column.BACKOFF else "pending"
        headline, detail = pending_words(run, pod, latest)
        if (proposal := evicts(pod)) is not None:
            headline, detail = asks_words(proposal), one_after_another([headline, detail])
    return {"kind": kind, "headline": headline, "detail": detail, "message": message}


def evicts(pod: PodRecord) -> dict[str, Any] | None:
    """The eviction that a person is asked about for it."""
    proposal: dict[str, Any] | None = pod.detail.get("evicts")
    return proposal


def asks_words(proposal: Mapping[str, Any]) -> str:
    count, node = len(proposal["victims"]), proposal["node"]
    if proposal["approved_by"]:
        return counted(
            "{by} approved to evict {count} pod on {node}; its next attempt does.",
            "{by} approved to evict {count} pods on {node}; its next attempt does.",
            count,
            node=node,
            by=proposal["approved_by"],
        )
    return counted(
        "Waits for a person: would evict {count} pod on {node}.",
        "Waits for a person: would evict {count} pods on {node}.",
        count,
        node=node,
    )


def next_try(run: Run, pod: PodRecord) -> dict[str, Any] | None:
    """None where nothing that happens by itself leads to another attempt."""
    if nobody_tries(pod) or run.only_observes:
        return None
    if pod.column == Column.ACTIVE:
        return {"text": say("now") if run.state == Run.State.PLAYING else say("when the run plays"), "at": None}
    if pod.column == Column.BACKOFF:
        return {"text": say("when its backoff is over"), "at": pod.card.get("until")}
    if pod.column == Column.UNSCHEDULABLE:
        plugins = max(1, len(pod.detail.get("waits_for", ())))
        seen = counted(
            "when its plugin sees a change",
            "when one of {count} plugins sees a change",
            plugins,
        )
        return {
            "text": seen,
            "at": iso_or_none((pod.since or 0) + LEFTOVERS),
        }
    if pod.column == Column.GATED:
        return {"text": say("when its gate is removed"), "at": None}
    return None


def journey_body(run: Run, pod: PodRecord) -> dict[str, Any]:
    """detail["journey"]: [[at, column, event, strong], …] in order of time."""
    steps: list[list[Any]] = pod.detail.get("journey", [])
    lanes: dict[str, list[dict[str, Any]]] = {}
    events: list[dict[str, Any]] = []
    for index, (at, column, event, strong) in enumerate(steps):
        end = steps[index + 1][0] if index + 1 < len(steps) else None
        if column not in PodRecord.GONE:
            spans = lanes.setdefault(column, [])
            spans.append({"start": iso(at), "end": iso_or_none(end)})
        if event:
            events.append({"at": iso(at), "text": translated(event), **({"strong": True} if strong else {})})
    start = steps[0][0] if steps else run.clock_start
    order = {key: place for place, key in enumerate(POD_COLUMNS)}
    return {
        "start": iso(start),
        "end": iso(run.clock),
        "lanes": [{"queue": queue, "spans": lanes[queue]} for queue in sorted(lanes, key=order.__getitem__)],
        "events": events,
    }


def waits_for(pod: PodRecord) -> list[dict[str, str]]:
    return [{"plugin": each["plugin"], "text": translated(each["text"])} for each in pod.detail.get("waits_for", [])]


def ignored(pod: PodRecord) -> list[dict[str, Any]]:
    return [
        {
            **each,
            "event": translated(each["event"]),
            "why": [{"plugin": why["plugin"], "text": translated(why["text"])} for why in each["why"]],
        }
        for each in pod.detail.get("ignored", [])
    ]


def claims_of(run: Run, pod: PodRecord, latest: Attempt | None) -> dict[str, Any]:
    """With what the newest attempt decided, as long as that is not written into the claims."""
    manifest = pod_manifest(pod)
    decisions: tuple[ClaimDecision, ...] = ()
    node = ""
    if not has_claims(manifest):
        return {"volumes": [], "devices": []}
    if latest is not None and latest.node and pod.node == latest.node and pod.column in HAS_NODE:
        # When the attempt is no longer stored, what the claims say remains.
        with contextlib.suppress(ApiError):
            decisions, node = stored_attempt(run.pk, latest.number).trace.decisions, latest.node
    return claims_body(manifest, ObjectLookup(run), decisions, node)


def catalogue_facts(run: Run, pod: PodRecord, latest: Attempt | None) -> dict[str, Any]:
    """Of a pod without a node what plugins that look at quotas, NUMA zones and networks found wanting."""
    nothing: dict[str, Any] = {"quotas": None, "zones": [], "network": None}
    plugins = {str(each["plugin"]) for each in pod.detail.get("waits_for", [])}
    if pod.column not in (Column.UNSCHEDULABLE, Column.BACKOFF) or latest is None:
        return nothing
    manifest, objects, standing = pod_manifest(pod), ObjectLookup(run), StandingOf(run)
    found = {**nothing, "quotas": refusing_quotas(plugins, manifest, objects, standing)}
    talks = AppGroup.GROUP_LABEL in pod.labels
    if ZONES not in plugins and not talks:
        return found
    # Without the attempt's trace nobody knows which nodes it was.
    with contextlib.suppress(ApiError):
        view = FilterView(stored_attempt(run, latest.number))
        if ZONES in plugins:
            found["zones"] = refusing_zones(view, manifest, objects)
        args = effective_args(run, latest, NETWORK) if talks else None
        if isinstance(args, NetworkOverheadArgs):
            found["network"] = refusing_network(view, manifest, objects, standing, args)
    return found


def effective_args(run: Run, latest: Attempt, plugin: str) -> Any:
    """None where the profile of the attempt does not have the plugin."""
    position = run.position if latest.position is None else latest.position
    return profile_at(run, position, latest.profile).args.get(plugin)


def ref(row: PodRecord | None) -> dict[str, Any] | None:
    return None if row is None else {key: row.card[key] for key in ("namespace", "name", "workload", "tail")}


def neighbours(run: Run, pod: PodRecord) -> tuple[PodRecord | None, PodRecord | None]:
    """The pods before and after it in its column."""
    if run.moment is not None:
        there = in_order(run.moment.pods_by(column=pod.column), ordering("", pod.column))
        place = there.index(pod)
        return there[place - 1] if place else None, there[place + 1] if place + 1 < len(there) else None
    rows = PodRecord.objects.filter(run=run, column=pod.column).only("card", "place", "priority")
    if pod.column == Column.ACTIVE:
        ordered = list(rows.order_by(*IN_COLUMN_ORDER).values_list("pk", flat=True)[:2000])
        if pod.pk not in ordered:
            return None, None
        index = ordered.index(pod.pk)
        around = rows.in_bulk(ordered[max(0, index - 1) : index + 2])
        before = around.get(ordered[index - 1]) if index else None
        after = around.get(ordered[index + 1]) if index + 1 < len(ordered) else None
        return before, after
    same = rows.filter(place=pod.place)
    before = (
        same.filter(pk__lt=pod.pk).order_by("-pk").first()
        or rows.filter(place__lt=pod.place).order_by("-place", "-pk").first()
    )
    after = (
        same.filter(pk__gt=pod.pk).order_by("pk").first()
        or rows.filter(place__gt=pod.place).order_by("place", "pk").first()
    )
    return before, after


def pod_body(run: Run, namespace: str, name: str) -> dict[str, Any]:
    pod = pod_get(run, namespace, name)
    attempts = list(attempts_until(run).filter(pod_uid=pod.uid).order_by("-number")[:ATTEMPTS_SHOWN])
    before, after = neighbours(run, pod)
    detail = pod.detail
    by = preempted_by(run, pod.uid)
    claims = claims_of(run, pod, attempts[0] if attempts else None)
    return {
        **pod.card,
        "column": pod.column,
        "profile": detail.get("profile", ""),
        "images": detail.get("images", []),
        "labels": pod.labels,
        "owner": detail.get("owner"),
        "attempt_list": [attempt_body(row, run) for row in attempts],
        "answer": answer_body(run, pod, attempts[0] if attempts else None, by, claims),
        "preempted_by": by,
        "evicts": evicts(pod) if pod.column in (Column.UNSCHEDULABLE, Column.BACKOFF, Column.ACTIVE) else None,
        "claims": claims,
        **catalogue_facts(run, pod, attempts[0] if attempts else None),
        "next_try": next_try(run, pod),
        "journey": journey_body(run, pod),
        "waits_for": waits_for(pod) if pod.column in (Column.UNSCHEDULABLE, Column.BACKOFF) else [],
        "ignored": ignored(pod) if pod.column in (Column.UNSCHEDULABLE, Column.GATED) else [],
        "previous": ref(before),
        "next": ref(after),
    }
