"""Checkpoints: the player and its pace between two cycles, pickled and compressed.

They are made and read by the same program only, and come from our own database; one of another engine version is left
out by the supervisor.

Of a large cluster one takes seconds. So it is made in a copy of the engine's process, which stays at the position
where the engine was, while the engine goes on and hears commands.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import zstandard

from schedweb.engine.copying import let_go_of_all_but
from schedweb.engine.frames import Kept
from schedweb.engine.pace import Pace
from schedweb.engine.player import Player

if sys.platform == "linux":
    import fcntl

LEVEL: Final = 3
#: A checkpoint may take a fortieth of the time, and a tenth of what it spares whoever takes over: playing again what
#: the engine played since the last one. Before the first it is guessed what an object in it takes.
SHARE: Final = 40
PLAYED_SHARE: Final = 10
PLAYED_SOONER: Final = 10
"""An engine that does nothing but play has one due in a tenth of the seconds."""
SECONDS_PER_OBJECT: Final = 5e-5
NICE: Final = 5
"""A copy gives way to engines by so much."""
READ_BYTES: Final = 1 << 20


def save_checkpoint(player: Player, pace: Pace) -> bytes:
    """After a batch was taken, so that nothing in it is told again."""
    content = pickle.dumps((player, pace), protocol=pickle.HIGHEST_PROTOCOL)
    return zstandard.ZstdCompressor(level=LEVEL).compress(content)


def load_checkpoint(blob: bytes) -> tuple[Player, Pace]:
    content = zstandard.ZstdDecompressor().decompress(blob)
    player, pace = pickle.loads(content)
    assert isinstance(player, Player)
    assert isinstance(pace, Pace)
    return player, pace


@dataclass(frozen=True)
class Ended:
    data: bytes | None
    """None of a copy that died."""
    cost: float
    """Seconds of a processor."""


class Copy:
    """A checkpoint that is being made by a copy of this process. Raises OSError where there can be none."""

    def __init__(self, player: Player, pace: Pace) -> None:
        self.position = player.position
        self.digest = player.digest
        self.clock = player.now
        self._parts: list[bytes] = []
        inward, outward = os.pipe()
        self._inward: int | None = inward
        try:
            self._child = os.fork()
        except OSError:
            os.close(inward)
            os.close(outward)
            raise
        if self._child == 0:
            tell(outward, player, pace)
        os.close(outward)
        os.set_blocking(inward, False)
        if sys.platform == "linux":
            # Who has very many pipes is refused the room, and goes on with what a pipe has by itself.
            with suppress(OSError):
                fcntl.fcntl(inward, fcntl.F_SETPIPE_SZ, READ_BYTES)

    def look(self) -> Ended | None:
        """Takes what the copy has said, without waiting for it. None until it has ended."""
        while self._inward is not None:
            try:
                part = os.read(self._inward, READ_BYTES)
            except BlockingIOError:
                return None
            if not part:
                self._close()
            self._parts.append(part)
        # It closed the pipe, and its memory may take a moment to be freed.
        child, status, usage = os.wait4(self._child, os.WNOHANG)
        if child == 0:
            return None
        data = b"".join(self._parts) if status == 0 else None
        return Ended(data, usage.ru_utime + usage.ru_stime)

    def _close(self) -> None:
        if self._inward is not None:
            os.close(self._inward)
            self._inward = None

    def kill(self) -> None:
        self._close()
        os.kill(self._child, signal.SIGKILL)
        os.waitpid(self._child, 0)


def tell(outward: int, player: Player, pace: Pace) -> None:
    """In the copy, which ends here whatever happens: what called this must not go on twice."""
    try:
        let_go_of_all_but(outward)
        gc.disable()  # a collection would touch, and so copy, every page that the two processes share
        os.nice(NICE)
        with suppress(OSError), open("/proc/self/oom_score_adj", "w") as worth:
            worth.write("1000")  # where memory runs out, a checkpoint is worth less than its engine
        with os.fdopen(outward, "wb") as pipe:
            pipe.write(save_checkpoint(player, pace))
    except BaseException:  # noqa: BLE001 - there is nobody to tell but by the exit status
        os._exit(1)
    os._exit(0)


class Checkpoints:
    """Of an engine: when one is due, and having it made."""

    def __init__(self, player: Player, pace: Pace, seconds: float) -> None:
        """`seconds`: between two, at least."""
        self.player = player
        self.pace = pace
        self.seconds = seconds
        self.made_at = time.monotonic()
        self.played_from = time.process_time()
        objects = len(player.projection.views) + len(player.projection.nodes.views)
        self.cost = SECONDS_PER_OBJECT * objects
        """Seconds of a processor that the last one took."""
        self.copy: Copy | None = None
        self.makes_copies = hasattr(os, "fork")
        """No more after one could not be made, or died: most likely there is no memory for it."""

    @property
    def is_due(self) -> bool:
        if self.copy is not None or self.player.scheduler.mid_cycle:
            return False
        pause = max(self.seconds, SHARE * self.cost)
        played = max(self.seconds / PLAYED_SOONER, PLAYED_SHARE * self.cost)
        return time.monotonic() - self.made_at >= pause or time.process_time() - self.played_from >= played

    def count_replay(self, seconds: float) -> None:
        """Of a processor, as if it had been played. Who dies again and again before it has played as much would have
        more to replay each time."""
        self.played_from -= seconds

    def begin(self) -> Kept | None:
        """One of where the player is, after its batch was taken. A checkpoint at once where no copy can be made."""
        self.begin_anew()
        if self.makes_copies:
            try:
                self.copy = Copy(self.player, self.pace)
            except OSError:
                self.makes_copies = False
            else:
                return None
        return Kept(self.player.position, self.player.digest, self.player.now, self.at_once())

    def at_once(self) -> bytes:
        """Made here, instead of one that is under way."""
        self.give_up()
        began = time.process_time()
        saved = save_checkpoint(self.player, self.pace)
        self.cost = time.process_time() - began
        self.begin_anew()
        return saved

    def begin_anew(self) -> None:
        self.made_at, self.played_from = time.monotonic(), time.process_time()

    def made(self) -> Kept | None:
        """By a copy, since the last look."""
        copy = self.copy
        if copy is None or (ended := copy.look()) is None:
            return None
        self.copy = None
        if ended.data is None:
            self.makes_copies = False
            return None
        self.cost = ended.cost
        return Kept(copy.position, copy.digest, copy.clock, ended.data)

    def give_up(self) -> None:
        if self.copy is not None:
            self.copy.kill()
            self.copy = None
