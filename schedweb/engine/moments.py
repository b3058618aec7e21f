"""Moments: the machine of a run as it was at a position, to look at or to try things on.

It is made in a process of its own from what is stored: the newest checkpoint at or before the position, and the journal
since. Nothing of the run can be changed through it.
"""

from __future__ import annotations

import gc
from collections.abc import Callable

from framework.plugins.registry import installed_registry
from framework.said import said
from framework.scheduler.collector import settle
from schedweb.engine.batch import Gatherer
from schedweb.engine.checkpoint import load_checkpoint
from schedweb.engine.frames import Begin, Entry
from schedweb.engine.pace import Pace
from schedweb.engine.payload import decode_payload
from schedweb.engine.player import Player, RunOptions, effective_configuration
from schedweb.engine.replay import Diverged, do, nothing, play_to


def machine(begin: Begin) -> tuple[Player, Pace]:
    """The player of the checkpoint, or of the beginning. Raises PayloadUnreadable, RunRefused, ProfileError."""
    gc.disable()
    registry = installed_registry()
    payload = decode_payload(begin.payload)
    if begin.checkpoint is not None:
        player, pace = load_checkpoint(begin.checkpoint)
        player.restored(payload.timeline, registry)
    else:
        options = RunOptions(begin.seed, begin.ties, begin.approvals, begin.clock, begin.start)  # type: ignore[arg-type]
        configuration = effective_configuration(begin.configuration, registry)
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
    player, pace = machine(begin)
    advance(player, pace, begin.journal, begin.position)
    compare(player, begin.position, begin.digest)
    Gatherer(player).discard()
    return player


def compare(player: Player, position: int, stored: str) -> None:
    """`stored`: empty when no digest is."""
    if stored and player.position == position and player.digest != stored:
        raise Diverged(
            said(
                "Replay to position {position} gave the digest {digest}, and {stored} is stored: "
                "this program decides otherwise than the one that played the run.",
                position=position,
                digest=player.digest,
                stored=stored,
            )
        )


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
