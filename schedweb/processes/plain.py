"""What all processes have in common, and those that are started by `python -m`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Final, Protocol

from schedweb.environment import ROOT

if sys.platform == "linux":
    import fcntl

ENGINE: Final = "schedweb.engine.child"
ANALYSIS: Final = "schedweb.engine.analysis"
READER: Final = "schedweb.snapshots.reader"
CLUSTER_READER: Final = "schedweb.clusters.reading.child"
KINDS: Final = {ENGINE: "engine", ANALYSIS: "analysis", READER: "reader", CLUSTER_READER: "cluster-reader"}
"""The modules, and how the system calls a process that was forked for one (`ps -o comm`, 15 bytes at most)."""
LOST: Final = 256
"""The exit status of a process where nobody can say it: the one that forked it is gone, or stands still."""
PIPE_BYTES: Final = 1 << 20
"""A batch fits, so an engine need not stand still until it is read."""


class Process(Protocol):
    """What is used of a Popen. One thread at a time waits; signals may come from others."""

    stdin: IO[bytes] | None
    stdout: IO[bytes] | None
    stderr: IO[bytes] | None
    returncode: int | None

    @property
    def pid(self) -> int: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def communicate(self, *, timeout: float | None = None) -> tuple[bytes, bytes]: ...
    def send_signal(self, sig: int) -> None: ...
    def kill(self) -> None: ...


def environment(variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process' own, with `variables` beside it."""
    fixed = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return {**os.environ, **(variables or {}), **fixed}


def started(module: str, *, complaints: int = subprocess.PIPE, variables: Mapping[str, str] | None = None) -> Process:
    """`python -m module`, with pipes as its standard streams; `complaints` is where its standard error goes.

    `variables`: of its environment, beside this process' own. Raises OSError.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=complaints,
        cwd=ROOT,
        env=environment(variables),
        close_fds=True,
        # A Ctrl C is for the server: it ends what it started itself, an engine with a checkpoint.
        start_new_session=True,
    )
    assert process.stdout is not None
    make_room(process.stdout.fileno())
    return process


def is_stopped(pid: int) -> bool:
    """Whether it stands still until somebody sends SIGCONT (proc_pid_stat(5), state T). Never without /proc."""
    try:
        stat = (Path("/proc") / str(pid) / "stat").read_bytes()
    except OSError:
        return False
    return stat.rpartition(b")")[2].split()[:1] == [b"T"]


def make_room(pipe: int) -> None:
    """For a whole batch."""
    if sys.platform == "linux":
        # Who has very many pipes is refused the room, and goes on with what a pipe has by itself.
        with suppress(OSError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
