"""The process that talks to an API server: ``python -m schedweb.clusters.reading.child``.

Credentials, plugins and what a cluster sends stay in here. It is told what to do by one line of JSON on standard input:
``read`` a cluster for a snapshot, as the reader of uploads reads a file, and answers like it; ``follow`` one and writes
a line of ``ClusterState`` every second until its input ends, each further line of which asks for a try now; ``observe``
one and writes its changes as well (observing.py).
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable
from typing import Final, Literal

import msgspec

from schedweb.clusters.reading.following import Following
from schedweb.clusters.reading.observing import Observing
from schedweb.clusters.reading.whole import read_for
from schedweb.processes.structs import learn_structs
from schedweb.snapshots import reader
from schedweb.snapshots.reader import Request, limit_memory

TELL_SECONDS: Final = 1.0


class Follow(msgspec.Struct, tag_field="task", tag="follow"):
    context: str


class Observe(msgspec.Struct, tag_field="task", tag="observe"):
    context: str


class _Asked(msgspec.Struct):
    task: Literal["read", "follow", "observe"]


def main() -> None:
    limit_memory()
    learn_structs()
    asked = sys.stdin.buffer.readline()
    task = msgspec.json.decode(asked, type=_Asked).task
    if task == "follow":
        follow(msgspec.json.decode(asked, type=Follow))
    elif task == "observe":
        observe(msgspec.json.decode(asked, type=Observe))
    else:
        gc.disable()
        kept: list[object] = []
        request = msgspec.json.decode(asked, type=Request)
        sys.stdout.buffer.write(msgspec.json.encode(reader.answer(request, kept, read_for)))
        sys.stdout.buffer.flush()
    # What was kept need not be taken apart; temporary files of the client are, by whoever started this.
    os._exit(0)


def follow(asked: Follow) -> None:
    following = Following(asked.context)

    def tell() -> None:
        sys.stdout.buffer.write(msgspec.json.encode(following.state()) + b"\n")
        sys.stdout.buffer.flush()

    _until_its_input_ends(following, tell)


def observe(asked: Observe) -> None:
    observing = Observing(asked.context, sys.stdout.buffer)
    _until_its_input_ends(observing.following, observing.tell_state)


def _until_its_input_ends(following: Following, tell: Callable[[], None]) -> None:
    # Objects that stay for good are looked at again and again otherwise.
    gc.freeze()
    following.start()
    ended = threading.Event()
    threading.Thread(target=_listen, args=(following, ended), name="listen", daemon=True).start()
    while not ended.wait(TELL_SECONDS):
        try:
            tell()
        except BrokenPipeError:
            return


def _listen(following: Following, ended: threading.Event) -> None:
    while sys.stdin.buffer.readline():
        following.ask_again()
    ended.set()


if __name__ == "__main__":
    main()
