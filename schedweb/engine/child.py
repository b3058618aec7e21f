"""The engine's process: `python -m schedweb.engine.child`, with a pipe on standard input and output.

It knows no database and no Django: what it plays comes with the first message, and when the pipe is closed it ends.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
import traceback
from dataclasses import dataclass
from typing import BinaryIO, Final

from framework.profiles import ProfileError
from framework.sentences import Words, sentence, words_of
from schedweb.engine import frames
from schedweb.engine.batch import Gatherer
from schedweb.engine.beside import AskingPipe
from schedweb.engine.frames import Begin, Entry, Gone
from schedweb.engine.loop import Engine
from schedweb.engine.moments import machine
from schedweb.engine.pace import Pace
from schedweb.engine.payload import PayloadUnreadable
from schedweb.engine.player import Player, RunRefused
from schedweb.engine.replay import Diverged, do, played_by, replay
from schedweb.engine.retold import tell_all
from schedweb.engine.shapes import UntranslatedOutcome

NICE: Final = 5


@dataclass
class Prepared:
    player: Player
    pace: Pace
    replayed: int
    """Operations."""
    replay_seconds: float
    """Of a processor."""
    outcomes: list[UntranslatedOutcome]
    """Of commands that had their place and were not done when the engine before this one ended."""
    inherited: list[Entry]
    """A fork that has not caught up with its parent: what the parent's journal says from here on."""


def prepare(begin: Begin, asking: AskingPipe | None = None) -> Prepared:
    """The player at the stored position: from the newest checkpoint or from the start, and what the journal says.
    ``asking``: by which extenders are asked for a shadow's judgements; None: nobody asks."""
    with played_by(begin.played_by):
        return replayed(begin, asking)


def replayed(begin: Begin, asking: AskingPipe | None) -> Prepared:
    player, pace = machine(begin)
    from_position, began = player.position, time.process_time()
    left = replay(player, pace, begin.journal, until=begin.position)
    if begin.is_stored:
        if player.digest != begin.digest:
            raise Diverged(
                sentence(
                    "Replay gave the digest {digest}, and {stored} is stored.",
                    digest=player.digest,
                    stored=begin.digest,
                )
            )
        Gatherer(player).discard()
    elif begin.checkpoint is not None:
        tell_all(player)
    if begin.shadow:
        player.judgements, player.pipe = [], asking  # from here on: what replay passed is stored
    operations, seconds = player.position - from_position, time.process_time() - began
    if player.position < begin.inherited:
        return Prepared(player, pace, operations, seconds, [], left)
    outcomes = [outcome for entry in left if (outcome := do(player, pace, entry)) is not None]
    return Prepared(player, pace, operations, seconds, outcomes, [])


def main() -> int:
    # What a plugin prints must not end up between the messages.
    inward = os.fdopen(os.dup(0), "rb", buffering=0)
    outward = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    return serve(inward, outward)


def serve(inward: BinaryIO, outward: frames.Writer) -> int:
    """Plays until the pipe is closed; 1 when it ended with a failure, which it has told."""
    reader = AskingPipe(inward, outward)
    try:
        begin = frames.read_to_child(reader)
        if not isinstance(begin, Begin):
            raise AssertionError(f"{type(begin).__name__} came before Begin")
        prepared, engine = begun(begin, (reader, outward), reader)
        if prepared.player.position < begin.inherited:
            engine.catch_up(prepared.inherited)
        # What it did until here somebody waited for. Playing takes all the time there is, and would take it from those
        # who ask and who store.
        os.nice(NICE)
        # From here on commands may come.
        frames.write(outward, frames.Ready(prepared.replayed))
        engine.outcomes += prepared.outcomes
        engine.run()
    except Gone:
        return 0
    except (RunRefused, ProfileError, PayloadUnreadable, Diverged) as error:
        return failed(outward, words_of(error), "")
    except Exception as error:  # noqa: BLE001 - whatever it is, the run's page has to say it
        words = sentence("The engine stopped: {error}: {why}", error=type(error).__name__, why=str(error))
        return failed(outward, words, traceback.format_exc())
    return 0


def begun(
    begin: Begin, pipes: tuple[frames.Exactly, frames.Writer], asking: AskingPipe | None = None
) -> tuple[Prepared, Engine]:
    prepared = prepare(begin, asking)
    engine = Engine(prepared.player, prepared.pace, begin, pipes)
    engine.checkpoints.count_replay(prepared.replay_seconds)
    return prepared, engine


def failed(outward: frames.Writer, text: Words, trace: str) -> int:
    with contextlib.suppress(Gone):
        frames.write(outward, frames.Failure(text, trace))
    return 1


if __name__ == "__main__":
    sys.exit(main())
