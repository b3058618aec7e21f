"""What became of writes to a real cluster, applied to the run that wrote them; and what people decided, told there."""

from __future__ import annotations

import hashlib
from typing import Any, Final

import msgspec

from framework.objects import Pod, ResourceClaim
from framework.objects.admission import admit
from framework.objects.decode import decode_manifest
from framework.objects.errors import ObjectError
from framework.preemption.proposals import Proposal
from framework.queue.scheduling_queue import FORCE_ACTIVATE
from framework.sentences import sentence
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
    for each in command.outcomes:
        if each.found is not None:
            _see_found(player, live, each.found)
        heard = live.hear(each.number, each.outcome, each.at)
        if heard.goes_on:
            player.scheduler.write_answered(heard.goes_on)
        if heard.kept is not None:
            _not_evicted(player, heard.kept, each)
        if heard.claim is not None:
            _try_those_who_want(player, heard.claim)


def _see_found(player: Player, live: LiveCluster, manifest: dict[str, Any]) -> None:
    """One that no API server would have sent is left out, as one of a watch is."""
    try:
        claim = admit(decode_manifest(manifest), live, stored=True, validate=False)
    except ObjectError as error:
        words = sentence("A change of the cluster cannot be read: {why}", why=str(error))
        player.projection.feed.line(player.now, "engine", words)
        return
    if isinstance(claim, ResourceClaim):
        live.see_found(claim)


def _try_those_who_want(player: Player, claim: ResourceClaim) -> None:
    """After their back-off, as upstream, which has an error for them where a claim could not be given back."""
    core = player.scheduler.core
    core.queue.move_all(FORCE_ACTIVATE, None, None, core.now, lambda pod: wants(pod, claim))


def _not_evicted(player: Player, victim: Pod, said: commands.WriteOutcome) -> None:
    """As upstream: who waits for this room is tried again at once."""
    outcome = said.outcome
    words = sentence("{pod} could not be evicted: {why}", pod=victim.key, why=outcome.message or outcome.result)
    player.projection.feed.line(player.now, "engine", words)
    try_those_who_wait_for(player, victim)


def try_those_who_wait_for(player: Player, victim: Pod) -> None:
    """It stays, so its room is not coming."""
    scheduler = player.scheduler
    scheduler.eviction_failed(victim)
    refs = scheduler.core.queue.nominator.refs(victim.spec.node_name)
    waiting = (player.world.cluster.get(Pod, each.namespace, each.name) for each in refs)
    scheduler.activate([each for each in waiting if each is not None])


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
