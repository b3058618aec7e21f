"""What became of writes to a real cluster, applied to the run that wrote them; and what people decided, told there."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, Final

import msgspec

from framework.objects import Pod, ResourceClaim
from framework.objects.admission import admit
from framework.objects.decode import decode_manifest
from framework.objects.errors import ObjectError
from framework.preemption.proposals import Proposal
from framework.queue.scheduling_queue import FORCE_ACTIVATE
from framework.scheduler import Scheduler
from framework.sentences import Sentence, sentence
from schedweb.engine import commands
from schedweb.engine.claims_written import wants
from schedweb.engine.evictions import note_of
from schedweb.engine.live import LiveCluster
from schedweb.engine.player import Player
from schedweb.engine.world import Refused

NOT_SCHEDULING: Final = sentence("This run schedules no cluster.")
SIZE: Final = 16
REASONS: Final = {"approve": "Approved", "override": "Overridden", "reject": "Rejected"}
EVICTIONS: Final = {"approve": ("approved", "EvictionApproved"), "reject": ("rejected", "EvictionRejected")}
_JSON: Final = msgspec.json.Encoder(order="deterministic")


def hear_outcomes(player: Player, command: commands.WriteOutcomes) -> None:
    """In their order. Raises Refused."""
    live = player.live
    if live is None:
        raise Refused(NOT_SCHEDULING)
    hashed = hashlib.blake2b(bytes.fromhex(player.digest), digest_size=SIZE)
    hashed.update(_JSON.encode(command))
    player.digest = hashed.hexdigest()

    def say(words: Sentence) -> None:
        player.projection.feed.line(player.now, "engine", words)

    for each in command.outcomes:
        hear_outcome(player.scheduler, live, each, say)


def hear_outcome(
    scheduler: Scheduler, live: LiveCluster, told: commands.WriteOutcome, say: Callable[[Sentence], None]
) -> None:
    """``say``: to whoever looks at the scheduler."""
    if told.found is not None:
        _see_found(live, told.found, say)
    heard = live.hear(told.number, told.outcome, told.at, is_found=told.found is not None)
    if heard.goes_on:
        scheduler.write_answered(heard.goes_on)
    if heard.kept is not None:
        outcome = told.outcome
        why = outcome.message or outcome.result
        say(sentence("{pod} could not be evicted: {why}", pod=heard.kept.key, why=why))
        try_those_who_wait_for(scheduler, live, heard.kept)
    if heard.claim is not None:
        _try_those_who_want(scheduler, heard.claim)


def _see_found(live: LiveCluster, manifest: dict[str, Any], say: Callable[[Sentence], None]) -> None:
    """One that no API server would have sent is left out, as one of a watch is."""
    try:
        claim = admit(decode_manifest(manifest), live, stored=True, validate=False)
    except ObjectError as error:
        say(sentence("A change of the cluster cannot be read: {why}", why=str(error)))
        return
    if isinstance(claim, ResourceClaim):
        live.see_found(claim)


def _try_those_who_want(scheduler: Scheduler, claim: ResourceClaim) -> None:
    """After their back-off, as upstream, which has an error for them where a claim could not be given back."""
    core = scheduler.core
    core.queue.move_all(FORCE_ACTIVATE, None, None, core.now, lambda pod: wants(pod, claim))


def try_those_who_wait_for(scheduler: Scheduler, live: LiveCluster, victim: Pod) -> None:
    """It stays, so its room is not coming. As upstream: who waits for this room is tried again at once."""
    scheduler.eviction_failed(victim)
    refs = scheduler.core.queue.nominator.refs(victim.spec.node_name)
    waiting = (live.get(Pod, each.namespace, each.name) for each in refs)
    scheduler.activate([each for each in waiting if each is not None])


def leave_waiting(scheduler: Scheduler, live: LiveCluster, bound: Pod) -> None:
    """Who waits on Permit and was bound by somebody else waits for nobody any more."""
    if scheduler.core.waiting_pods.get(bound.metadata.uid) is None:
        return
    live.bound_elsewhere(bound.metadata.uid)
    scheduler.reject(bound.metadata.uid, "", f"bound to {bound.spec.node_name} by somebody else")


def say_decision(player: Player, pod: Pod, decision: str, author: str, reason: str) -> None:
    """As an Event of the pod, where it is one of a real cluster."""
    if player.live is None:
        return
    said = REASONS[decision]
    note = f"{said} by {author}" + (f": {reason}" if reason else "")
    player.live.event("Warning" if decision == "reject" else "Normal", said, pod, note, action="Permitting")


def say_eviction(player: Player, proposal: Proposal, decision: str, author: str, reason: str) -> None:
    """As an Event of the pod that needs room, where it is one of a real cluster; its victims are told why they go when
    they do."""
    if player.live is None:
        return
    said = EVICTIONS[decision]
    note = f"{note_of(proposal)} {said[0]} by {author}" + (f": {reason}" if reason else "")
    kind = "Warning" if decision == "reject" else "Normal"
    player.live.event(kind, said[1], proposal.preemptor, note, action="Preempting")
