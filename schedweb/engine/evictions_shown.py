"""The projection's part about evictions that a person is asked about."""

from __future__ import annotations

import abc

from framework.preemption.proposals import How, Proposal
from framework.scheduler import Observer
from framework.sentences import Words
from schedweb.engine.decision_view import DecisionView
from schedweb.engine.evictions import APPROVED, Evictions, asked_words, ended_words, outcome_words
from schedweb.engine.feed import Feed
from schedweb.engine.pod_view import PodView
from schedweb.engine.words import decision_words


class EvictionsShown(Observer, abc.ABC):
    views: dict[str, PodView]
    feed: Feed
    decisions: dict[int, DecisionView]
    decision_count: int
    changed_columns: set[str]

    def __init__(self) -> None:
        self.evictions = Evictions()
        self.approved_evictions: dict[int, DecisionView] = {}
        """By the number of the proposal, until it is carried out or withdrawn."""

    @property
    @abc.abstractmethod
    def now(self) -> int: ...

    @abc.abstractmethod
    def touch(self, view: PodView) -> None: ...

    @property
    def waiting_changed(self) -> bool:
        """Whether others wait for a person than were told last."""
        return bool(self.evictions.changed) or "waiting" in self.changed_columns

    def proposed(self, proposal: Proposal) -> None:
        self.evictions.proposed(proposal)
        view = self.views.get(proposal.preemptor.metadata.uid)
        if view is None:
            return
        self.touch(view)
        words = asked_words(proposal)
        self.feed.pod_line(self.now, "waiting", view, words, state="waiting", nodes=(proposal.node,))

    def proposal_ended(self, proposal: Proposal, how: How, why: Words) -> None:
        self.evictions.ended(proposal)
        if (made := self.approved_evictions.pop(proposal.number, None)) is not None:
            made.outcome = outcome_words(proposal, how, why)
            self.decisions[made.number] = made
        view = self.views.get(proposal.preemptor.metadata.uid)
        if view is None:
            return
        self.touch(view)
        if (words := ended_words(proposal, how, why)) is not None:
            self.feed.pod_line(self.now, "waiting", view, words, nodes=(proposal.node,))

    def decide_eviction(self, proposal: Proposal, decision: str, by: Words, reason: str, entry: str = "") -> None:
        """Told before the scheduler is."""
        uid = proposal.preemptor.metadata.uid
        view, number = self.views[uid], self.decision_count + 1
        self.decision_count = number
        made = DecisionView(number, view, decision, by, proposal.asked_by, reason, self.now, proposal.node, entry)
        self.decisions[number] = made
        if decision == APPROVED:
            self.approved_evictions[proposal.number] = made
            self.evictions.changed[proposal.number] = proposal
        self.touch(view)
        text = decision_words(decision, by, proposal.asked_by, reason)
        self.feed.pod_line(self.now, "decision", view, text, state="waiting", nodes=(proposal.node,))
