"""What a person says about proposed evictions. Each has its own answer; one that stands no longer keeps no other."""

from __future__ import annotations

from framework.preemption.proposals import Proposal
from framework.sentences import Sentence, sentence
from schedweb.engine import commands
from schedweb.engine.evictions import APPROVED, REJECTED
from schedweb.engine.player import Player
from schedweb.engine.shapes import UntranslatedDecision, UntranslatedResult
from schedweb.engine.times import iso
from schedweb.engine.written import say_eviction

NOT_PROPOSED = sentence("not proposed any more")


def decide_evictions(player: Player, command: commands.DecideEviction, author: str, entry: str) -> UntranslatedResult:
    outcomes = []
    for asked in command.evictions:
        decided, outcome = _decide(player, command, asked, author, entry)
        outcomes.append(
            UntranslatedDecision(namespace=asked.namespace, name=asked.name, decided=decided, outcome=outcome)
        )
    return UntranslatedResult(pods=outcomes)


def _decide(
    player: Player, command: commands.DecideEviction, asked: commands.DecidedEviction, author: str, entry: str
) -> tuple[bool, Sentence]:
    """Whether this command decided, and in words."""
    proposal = _standing(player, asked)
    if proposal is None:
        return False, NOT_PROPOSED
    if proposal.approved_by:
        made = player.projection.approved_evictions.get(proposal.number)
        time = "" if made is None else iso(made.at)[11:19]
        return False, sentence("already decided by {by} at {time}", by=proposal.approved_by, time=time)
    if command.decision == "reject":
        player.projection.decide_eviction(proposal, REJECTED, author, command.reason, entry)
        say_eviction(player, proposal, "reject", author, command.reason)
        player.scheduler.reject_eviction(proposal, author, command.reason)
        return True, sentence("rejected")
    player.projection.decide_eviction(proposal, APPROVED, author, command.reason, entry)
    say_eviction(player, proposal, "approve", author, command.reason)
    player.scheduler.approve_eviction(proposal, author)
    return True, sentence("approved")


def _standing(player: Player, asked: commands.DecidedEviction) -> Proposal | None:
    for each in player.scheduler.proposals():
        if each.number == asked.number and each.preemptor.key == f"{asked.namespace}/{asked.name}":
            return each
    return None
