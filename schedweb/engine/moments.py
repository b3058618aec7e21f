"""Moments: the machine of a run as it was at a position, to look at or to try things on.

It is made in a process of its own from what is stored: the newest checkpoint at or before the position, and the journal
since. Nothing of the run can be changed through it.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from itertools import zip_longest

import msgspec

from framework.plugins.registry import installed_registry
from framework.scheduler.collector import settle
from framework.sentences import sentence
from schedweb.engine.batch import Gatherer
from schedweb.engine.checkpoint import load_checkpoint
from schedweb.engine.frames import Begin, Entry
from schedweb.engine.pace import Pace
from schedweb.engine.payload import decode_payload
from schedweb.engine.player import Player, RunOptions, effective_configuration
from schedweb.engine.replay import Diverged, do, nothing, play_to, played_by


def machine(begin: Begin) -> tuple[Player, Pace]:
    """The player of the checkpoint, or of the beginning. Raises PayloadUnreadable, RunRefused, ProfileError."""
    gc.disable()
    registry = installed_registry()
    payload = decode_payload(begin.payload)
    if begin.checkpoint is not None:
        player, pace = load_checkpoint(begin.checkpoint)
        player.restored(payload.timeline, registry)
    else:
        options = RunOptions(
            begin.seed,
            begin.ties,  # type: ignore[arg-type]
            begin.approvals,  # type: ignore[arg-type]
            begin.clock,  # type: ignore[arg-type]
            begin.start,
            begin.observing,
            begin.scheduling,
            begin.own_world,
        )
        configuration = effective_configuration(begin.configuration, registry, begin.scheduling)
        player = Player(payload.objects, payload.timeline, configuration, registry, options)
        pace = Pace(speed=begin.speed, mode="paused" if begin.inherited else "created")
    settle()
    gc.enable()
    return player, pace


def moment(begin: Begin) -> Player:
    """The machine at `begin.position`, before the commands that have their place there.

    An operation may pass several positions at once (bindings that end together); of a position within one the machine
    is that after it. Raises what `machine` does, and Diverged where the stored digest (if there is one) is another.
    """
    with played_by(begin.played_by):
        player, pace = machine(begin)
        advance(player, pace, begin.journal, begin.position)
        compare(player, begin.position, begin.digest)
        compare_attempts(player, begin)
    Gatherer(player).discard()
    return player


def compare(player: Player, position: int, stored: str) -> None:
    """`stored`: empty when no digest is."""
    if stored and player.position == position and player.digest != stored:
        raise Diverged(
            sentence(
                "Replay to position {position} gave the digest {digest}, and {stored} is stored: "
                "this program decides otherwise than the one that played the run.",
                position=position,
                digest=player.digest,
                stored=stored,
            )
        )


def compare_attempts(player: Player, begin: Begin) -> None:
    """With what another version of the engine stored, where it did. Raises Diverged."""
    if begin.decided is None or player.position != begin.position:
        return
    ends = player.ends
    made = [(trace.cycle, trace.uid, trace.selected, ends.get(trace.cycle)) for trace in player.traces]
    made = [each for each in made if each[3] is not None]
    for stored, now in zip_longest(map(msgspec.structs.astuple, begin.decided), made):
        if stored != now:
            raise Diverged(sentence("Attempt {number} is another one.", number=(stored or now)[0]))


def advance(
    player: Player, pace: Pace, journal: list[Entry], position: int, each: Callable[[], None] = nothing
) -> None:
    """On to the first position that is not before `position`."""
    for entry in journal:
        if entry.position >= position:
            break
        play_to(player, pace, entry.position, each=each)
        do(player, pace, entry)
    play_to(player, pace, position, exactly=False, each=each)
