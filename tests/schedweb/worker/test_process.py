"""A process that is no engine any more."""

from __future__ import annotations

import queue
import subprocess
import sys

import pytest

from framework.sentences import ENGLISH, in_words
from schedweb.engine import frames
from schedweb.processes.forks import FORKS, Forks
from schedweb.worker.process import Died, EngineProcess, Heard

BEGIN = frames.Begin(
    payload=b"", configuration="", seed=0, ties="seeded", approvals="hold", clock="virtual", start=0, speed="max",
    journal=[], position=0, digest="", is_stored=False, checkpoint=None, checkpoint_seconds=1.0,
)  # fmt: skip
NONSENSE = "import sys, time; sys.stdout.buffer.write(b'\\x03\\0\\0\\0abc'); sys.stdout.flush(); time.sleep(1000)"


def test_a_process_that_talks_nonsense_is_ended_and_counts_as_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    def talking(module: str) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        return subprocess.Popen([sys.executable, "-c", NONSENSE], stdin=pipe, stdout=pipe, stderr=pipe)

    monkeypatch.setattr(FORKS, "started", talking)
    heard: queue.Queue[Heard] = queue.Queue()
    process = EngineProcess(BEGIN, heard.put)
    assert isinstance(heard.get(timeout=60), Died)
    assert process.last_words().startswith("The engine's message is not understood: ")
    process.close()
    assert heard.empty(), "it dies once"


def test_it_says_how_it_ended_and_that_it_does_not_know(own_fork_server: Forks) -> None:
    heard: queue.Queue[Heard] = queue.Queue()
    known, unknown = EngineProcess(BEGIN, heard.put), EngineProcess(BEGIN, heard.put)
    known.child.kill()
    known.close()
    assert in_words(known.ending(), ENGLISH) == "It was ended by signal 9 (SIGKILL)."
    assert own_fork_server._server is not None
    own_fork_server._server.process.kill()
    own_fork_server._server.process.wait()
    unknown.child.kill()
    unknown.close()
    assert in_words(unknown.ending(), ENGLISH) == (
        "How it ended is not known: the process that would know did not say."
    )
