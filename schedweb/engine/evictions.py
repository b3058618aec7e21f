"""Evictions that a person is asked about, as people see them: who loses what for whom, and which budgets that costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from framework.objects import PodDisruptionBudget
from framework.preemption.proposals import How, Proposal, would_evict
from framework.preemption.victims import broken_budgets, covers
from framework.scheduler import Cluster
from framework.sentences import Sentence, Words, counted_sentence, sentence
from schedweb.engine.amounts import amount_text
from schedweb.engine.pod_view import PodView, amounts_of, owner_of, view_of
from schedweb.engine.times import iso, iso_or_none

APPROVED: Final = "evict"
REJECTED: Final = "keep"
"""As decisions."""


class EvictionRow(msgspec.Struct, frozen=True, array_like=True):
    """A proposal as it is listed. ``number`` counts the run's."""

    number: int
    pod_uid: str
    namespace: str
    name: str
    node: str
    since: int
    is_open: bool
    body: str
    """JSON (``body_of``)."""


class Evictions:
    def __init__(self) -> None:
        self.open: dict[str, Proposal] = {}
        """Uid of the pod that needs room → what is proposed."""
        self.changed: dict[int, Proposal] = {}
        """Since the last batch, with those that ended."""

    def proposed(self, proposal: Proposal) -> None:
        self.open[proposal.preemptor.metadata.uid] = proposal
        self.changed[proposal.number] = proposal

    def ended(self, proposal: Proposal) -> None:
        self.open.pop(proposal.preemptor.metadata.uid, None)
        self.changed[proposal.number] = proposal

    def budgets_changed(self) -> None:
        self.changed.update((each.number, each) for each in self.open.values())

    def take(self) -> list[Proposal]:
        changed, self.changed = self.changed, {}
        return list(changed.values())

    def is_open(self, proposal: Proposal) -> bool:
        return self.open.get(proposal.preemptor.metadata.uid) is proposal


def body_of(proposal: Proposal, cluster: Cluster, views: Mapping[str, PodView]) -> dict[str, Any]:
    """As JSON. Budgets are as they are now; times are in the run's clock."""
    pod = proposal.preemptor
    view = views.get(pod.metadata.uid) or view_of(pod)
    budgets = [each for each in cluster.list(PodDisruptionBudget) if each.metadata.namespace]
    broken = broken_budgets(proposal.victims, budgets)
    victims = []
    for victim, violated in zip(proposal.victims, broken, strict=True):
        seen = views.get(victim.metadata.uid) or view_of(victim)
        started = victim.status.start_time or (iso_or_none(seen.since or None) if seen.column == "bound" else None)
        victims.append(
            {
                "namespace": seen.namespace,
                "name": seen.name,
                "workload": seen.workload,
                "tail": seen.tail,
                "uid": seen.uid,
                "kind": owner_of(victim)[0],
                "priority": seen.priority,
                "node": victim.spec.node_name,
                "since": started,
                "requests": {name: amount_text(name, much) for name, much in amounts_of(victim).items() if much},
                "grace_seconds": victim.spec.termination_grace_period_seconds,
                "budgets": [
                    {
                        "name": budget.metadata.name,
                        "allowed": budget.status.disruptions_allowed,
                        "is_violated": budget in violated,
                    }
                    for budget in budgets
                    if covers(budget, victim)
                ],
            }
        )
    return {
        "number": proposal.number,
        "namespace": view.namespace,
        "name": view.name,
        "workload": view.workload,
        "tail": view.tail,
        "uid": view.uid,
        "priority": view.priority,
        "profile": pod.spec.scheduler_name,
        "requests": view.requests(),
        "node": proposal.node,
        "plugin": proposal.plugin,
        "asked_by": proposal.asked_by,
        "message": proposal.message,
        "since": iso(proposal.since),
        "approved_by": proposal.approved_by or None,
        "violations": sum(1 for each in broken if each),
        "victims": victims,
    }


def row_of(proposal: Proposal, evictions: Evictions, cluster: Cluster, views: Mapping[str, PodView]) -> EvictionRow:
    metadata = proposal.preemptor.metadata
    is_open = evictions.is_open(proposal)
    return EvictionRow(
        number=proposal.number,
        pod_uid=metadata.uid,
        namespace=metadata.namespace,
        name=metadata.name,
        node=proposal.node,
        since=proposal.since,
        is_open=is_open and not proposal.approved_by,
        body=msgspec.json.encode(body_of(proposal, cluster, views)).decode(),
    )


def asked_words(proposal: Proposal) -> Sentence:
    return sentence("{pod} waits for a person: {would}.", would=would_evict(len(proposal.victims), proposal.node))


def ended_words(proposal: Proposal, how: How, why: Words) -> Sentence | None:
    """Of {pod}; what is said elsewhere (it was decided, or its victims go) is not said here."""
    if how != "withdrawn":
        return None
    if proposal.approved_by:
        return sentence("The eviction for {pod} on {node} was not carried out: {why}.", node=proposal.node, why=why)
    return sentence("The eviction for {pod} on {node} is proposed no longer: {why}.", node=proposal.node, why=why)


def outcome_words(proposal: Proposal, how: How, why: Words) -> Sentence:
    """What came of an approval."""
    if how == "evicted":
        return counted_sentence("{count} pod evicted", "{count} pods evicted", len(proposal.victims))
    return sentence("not carried out: {why}", why=why)


def note_of(proposal: Proposal) -> str:
    """For an Event of a real cluster: whose eviction it is about."""
    named = ", ".join(victim.key for victim in proposal.victims)
    return f"Eviction of {named} from node {proposal.node}"
