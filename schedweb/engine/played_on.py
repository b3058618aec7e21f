"""A moment played on with changes, to its end, as a fork of the run would be: in a copy of this process.

The copy is the process itself (os.fork), so it costs little to make, has the very queue, clock and controllers of the
run, and takes the changes as a fork takes them, as commands. What became of the pods is told through a pipe. Extenders
are left out of it (docs/extenders.md#what-is-kept): nobody would ask them.
"""

from __future__ import annotations

import gc
import os
import time
import traceback
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import msgspec

from framework.advice import (
    Operation,
    Played,
    difference,
    held_by_reservations,
    leave_out_extenders,
    states,
    try_again_without,
)
from schedweb.engine import commands
from schedweb.engine.copying import let_go_of_all_but
from schedweb.engine.obey import Obedience
from schedweb.engine.player import Happened, Player
from schedweb.engine.world import Refused

SECONDS: Final = 20.0
"""For all plays about one question."""
SECONDS_EACH: Final = 5.0
OVER: Final = frozenset({Happened.WAITS, Happened.FINISHED, Happened.IDLE, Happened.ERRORS})


class Broken(msgspec.Struct, frozen=True, tag=True):
    """A copy that failed by our fault."""

    trace: str


class Ended(msgspec.Struct, frozen=True, tag=True):
    played: Played


PlayResult = Ended | Broken
_RESULT: Final = msgspec.msgpack.Decoder(PlayResult)


class PlayedOn:
    """``framework.advice.Play`` for the moment at which ``player`` is; it stays there."""

    def __init__(self, player: Player, seconds: float = SECONDS, seconds_each: float = SECONDS_EACH) -> None:
        self.player = player
        self.before = states(player.scheduler)
        self.seconds_each = seconds_each
        self.asked_by = os.getpid()
        """Who plays on for nobody stops: the process that asked may have been killed."""
        self.until = time.monotonic() + seconds

    def __call__(self, operations: Sequence[Operation]) -> Played | None:
        """Raises RuntimeError when the copy fails, MemoryError when it dies."""
        until = min(self.until, time.monotonic() + self.seconds_each)
        if time.monotonic() >= self.until:
            return None
        inward, outward = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(inward)
            self._tell(outward, operations, until)
        os.close(outward)
        with os.fdopen(inward, "rb") as pipe:
            data = pipe.read()
        os.waitpid(child, 0)
        if not data:
            raise MemoryError("a copy that was played on has died")
        answer: PlayResult = _RESULT.decode(data)
        if isinstance(answer, Broken):
            raise RuntimeError(answer.trace)
        return answer.played

    def _tell(self, outward: int, operations: Sequence[Operation], until: float) -> None:
        """In the copy, which ends here whatever happens: what called this must not go on twice."""
        let_go_of_all_but(outward)
        gc.disable()  # a collection would touch, and so copy, every page that the two processes share
        try:
            try:
                data: PlayResult = Ended(self._play(operations, until))
            except Exception:  # noqa: BLE001 - whatever it is, the process that waits has to be told
                data = Broken(traceback.format_exc())
            with os.fdopen(outward, "wb") as pipe:
                pipe.write(msgspec.msgpack.encode(data))
        finally:
            os._exit(0)

    def _play(self, operations: Sequence[Operation], until: float) -> Played:
        player = self.player
        # A real clock would make whoever asks wait for hours; what is decided is the same.
        player.options = replace(player.options, clock="virtual")
        # The moment may be the one at which the run paused for what was in vain: whoever plays on gets as many again.
        player.errors, player.endless = 0, None
        within = leave_out(player)
        obedience = Obedience(player)
        try:
            for each in operations:
                done = commands.command_from(commands.of_operation(each.verb, each.manifest))
                obedience.obey(done, author="", entry="")
        except Refused as error:
            return Played({}, (), finished=True, tried=frozenset(), refused=error.words)
        happened, known = None, len(player.traces)
        while happened not in OVER and time.monotonic() < until and os.getppid() == self.asked_by:
            happened = player.operate(whole=True)
            if within and not player.scheduler.mid_cycle:
                within = False
                try_again_without(player.scheduler)
                player.settle()
        # Volumes that are still to be bound when nothing else is to be done may never be; devices wait for a person.
        after = states(player.scheduler, binding=happened is Happened.WAITS)
        tried = {trace.pod for trace in player.traces[known:]}
        held = held_by_reservations(player.scheduler)
        return difference(self.before, after, tried, held, finished=happened in OVER)


def leave_out(player: Player) -> bool:
    """Whether an attempt is under way: an extender may have refused its pod, which is to be tried again when it has
    ended."""
    scheduler = player.scheduler
    if not scheduler.core.extenders:
        return False
    leave_out_extenders(scheduler)
    try_again_without(scheduler)
    player.settle()
    return scheduler.mid_cycle
