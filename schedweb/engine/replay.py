"""Replay: the journal played again, up to the position that is stored. Exact, because operations are counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from framework.sentences import SentenceError, sentence
from schedweb.engine.commands import PACING, command_from
from schedweb.engine.frames import Entry
from schedweb.engine.obey import Obedience
from schedweb.engine.pace import Pace
from schedweb.engine.player import Happened, Player
from schedweb.engine.shapes import UntranslatedOutcome
from schedweb.engine.version import ENGINE_VERSION
from schedweb.engine.world import Refused

CLOCK = "clock"
RESTING = (Happened.WAITS, Happened.FINISHED, Happened.IDLE, Happened.ASKED)


class Diverged(SentenceError):
    """Replay does not lead to what is stored: the program or the snapshot is not what it was."""


@contextmanager
def played_by(version: str) -> Iterator[None]:
    """What diverges within says so of a run that another version of the engine began. Raises Diverged."""
    try:
        yield
    except Diverged as error:
        if version == ENGINE_VERSION:
            raise
        raise Diverged(
            sentence(
                "Version {version} of the engine played this run, and version {own} decides otherwise: {why} What is "
                "stored of it can be read; a fork at step 0 plays it again.",
                version=version,
                own=ENGINE_VERSION,
                why=error.words,
            )
        ) from error


def replay(player: Player, pace: Pace, journal: list[Entry], *, until: int) -> list[Entry]:
    """Plays up to the stored position. Returns the entries that have their place there and were not done yet.

    `journal`: entries from the player's position on, in order; moves of a real clock are entries too.
    """
    for index, entry in enumerate(journal):
        if entry.position >= until:
            play_to(player, pace, until)
            return journal[index:]
        play_to(player, pace, entry.position)
        do(player, pace, entry)
    play_to(player, pace, until)
    return []


def do(player: Player, pace: Pace, entry: Entry) -> UntranslatedOutcome | None:
    """The entry at its place; None for what has no outcome."""
    if entry.command.get("type") == CLOCK:
        player.advance(int(entry.command["to"]))
        return None
    if player.now != entry.clock:
        raise Diverged(
            sentence(
                "At position {position} the clock is {now}, and {clock} is stored.",
                position=entry.position,
                now=player.now,
                clock=entry.clock,
            )
        )
    command = command_from(entry.command)
    if isinstance(command, PACING):
        pace.obey(command)
        return None
    pace.stirred()
    try:
        result = Obedience(player).obey(command, author=entry.author, entry=entry.id)
        outcome = UntranslatedOutcome(entry.id, "applied", result=result)
    except Refused as error:
        player.settle()
        outcome = UntranslatedOutcome(entry.id, "refused", error.words)
    pace.look(player, Happened.ARRIVAL)
    return outcome


def nothing() -> None:
    pass


def play_to(
    player: Player, pace: Pace, position: int, *, exactly: bool = True, each: Callable[[], None] = nothing
) -> None:
    """Not `exactly`: an operation may pass the position, which nobody stopped at. `each`: after every operation."""
    while player.position < position:
        happened = player.operate()
        if happened is not Happened.ERRORS:
            # That one paused the live run too, and somebody played on: the journal says so.
            pace.happened(happened)
            pace.look(player, happened)
        if happened in RESTING:
            raise Diverged(
                sentence(
                    "At position {position} there is nothing to do, and {stored} is stored.",
                    position=player.position,
                    stored=position,
                )
            )
        each()
    if exactly and player.position > position:
        raise Diverged(sentence("Replay passed position {position} without stopping there.", position=position))
