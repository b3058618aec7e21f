"""Processes with pipes, forked and started: what a caller has of them, and what happens when any of them dies."""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from schedweb.environment import ROOT
from schedweb.processes import forked, forks
from schedweb.processes.forked import Forked
from schedweb.processes.forks import Forks, ForkServer
from schedweb.processes.plain import ENGINE, KINDS, LOST, PIPE_BYTES, READER, Process, started
from scripts.kinds import FORK_SERVER, kind_of, of_worker, parent_of, processes

TELLS = "tests.schedweb.processes_tell"
PATIENCE = 60
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is forked")


@pytest.fixture(scope="module")
def real() -> Iterator[Forks]:
    """The product's, with all its imports."""
    made = Forks()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forks, "READY_SECONDS", float(PATIENCE))
        made.keep()
        assert end(made.started(READER)) == 0
    yield made
    made.close()


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[Forks]:
    monkeypatch.setattr(forks, "AGAIN_SECONDS", 0.0)
    monkeypatch.setattr(forks, "READY_SECONDS", float(PATIENCE))
    monkeypatch.setattr(forks, "SERVER", "tests.schedweb.light_fork_server")
    made = Forks()
    made.keep()
    yield made
    made.close()


def ask(process: Process, *words: str) -> str:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(" ".join(words).encode() + b"\n")
    process.stdin.flush()
    return process.stdout.readline().decode().strip()


def tell(process: Process, *words: str) -> None:
    assert process.stdin is not None
    process.stdin.write(" ".join(words).encode() + b"\n")
    process.stdin.flush()


def end(process: Process) -> int:
    process.communicate(timeout=PATIENCE)
    assert process.returncode is not None
    return process.returncode


def server_of(kept: Forks) -> subprocess.Popen[bytes]:
    assert kept._server is not None
    return kept._server.process


def until(what: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_gone(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return True


# --- one that is well -------------------------------------------------------------------------------------------------


def test_a_copy_finds_what_a_process_with_a_python_of_its_own_finds(
    real: Forks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SET_LATER", "with = and\nline")
    variables = {"TMPDIR": "/somewhere/else"}
    copy, own = real.started(TELLS, variables=variables), started(TELLS, variables=variables)
    assert isinstance(copy, Forked)
    found, expected = json.loads(ask(copy, "found")), json.loads(ask(own, "found"))
    assert found == expected
    assert expected["environment"]["SET_LATER"] == "with = and\nline"
    assert expected["environment"]["TMPDIR"] == "/somewhere/else"
    assert expected["environment"]["PYTHONHASHSEED"] == "0"
    assert (expected["folder"], expected["open"], expected["room"]) == (str(ROOT), [0, 1, 2], PIPE_BYTES)
    assert expected["leads its session"]
    assert ask(copy, "copy") == "3", "it can wait for processes of its own"
    assert [end(copy), end(own)] == [0, 0]


def test_copies_have_chances_of_their_own(real: Forks) -> None:
    copies = [real.started(TELLS) for _ in range(3)]
    assert len({ask(each, "chance") for each in copies}) == 3
    assert [end(each) for each in copies] == [0, 0, 0]


def test_the_system_calls_each_by_its_kind(real: Forks) -> None:
    copies = {name: real.started(module) for module, name in KINDS.items()}
    until(lambda: {name: kind_of(each.pid) for name, each in copies.items()} == {name: name for name in copies})
    assert of_worker(os.getpid(), "engine") == [copies["engine"].pid]
    assert server_of(real).pid in of_worker(os.getpid(), FORK_SERVER)
    for each in copies.values():
        each.kill()
        assert end(each) == -signal.SIGKILL


@pytest.mark.parametrize("fresh", [False, True])
def test_it_is_known_exactly_how_it_ended(kept: Forks, *, fresh: bool) -> None:
    start = started if fresh else kept.started
    ways: list[tuple[Callable[[Process], object], int]] = [
        (lambda each: tell(each, "exit", "0"), 0),
        (lambda each: tell(each, "exit", "7"), 7),
        (lambda each: tell(each, "raise"), 1),
        (lambda each: each.kill(), -signal.SIGKILL),
        (lambda each: each.send_signal(signal.SIGSEGV), -signal.SIGSEGV),
        (lambda each: each.send_signal(signal.SIGTERM), -signal.SIGTERM),
    ]
    running = [start(TELLS) for _ in ways]
    assert [ask(each, "say", "here") for each in running] == ["here"] * len(ways)
    for each, (way, status) in zip(running, ways, strict=True):
        assert each.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            each.wait(0.01)
        way(each)
        assert each.wait(PATIENCE) == status
        assert each.poll() == status
        each.kill()
        _, complaints = each.communicate(timeout=PATIENCE)
        assert (b"ValueError: as it was told" in complaints) == (status == 1)


@pytest.mark.parametrize("fresh", [False, True])
def test_what_it_says_is_heard_as_a_whole_also_after_a_time_out(kept: Forks, *, fresh: bool) -> None:
    process = started(TELLS) if fresh else kept.started(TELLS)
    size = 3 * PIPE_BYTES
    tell(process, "flood", str(size))
    tell(process, "sleep", "1")
    assert process.stdin is not None
    process.stdin.close()
    process.stdin = None
    with pytest.raises(subprocess.TimeoutExpired):
        process.communicate(timeout=0.05)
    output, complaints = process.communicate(timeout=PATIENCE)
    assert (len(output), len(complaints), process.returncode) == (size, size, 0)


@pytest.mark.parametrize("where", ["nowhere", "file"])
def test_complaints_go_where_they_are_wanted(kept: Forks, tmp_path: Path, where: str) -> None:
    with (tmp_path / "complaints").open("wb") as file:
        process = kept.started(TELLS, complaints=subprocess.DEVNULL if where == "nowhere" else file.fileno())
    assert isinstance(process, Forked)
    assert process.stderr is None
    tell(process, "raise")
    assert process.communicate(timeout=PATIENCE) == (b"", b"")
    assert (tmp_path / "complaints").read_text().count("ValueError: as it was told") == (where == "file")


def test_each_ends_with_its_own_input_whatever_others_were_begun_meanwhile(real: Forks) -> None:
    copies = [real.started(ENGINE) for _ in range(4)]
    for each in (copies[0], copies[3], copies[1], copies[2]):
        assert each.poll() is None
        assert end(each) == 0


def test_many_threads_ask_at_once(kept: Forks) -> None:
    def one(number: int) -> tuple[str, int, int]:
        process = kept.started(TELLS)
        assert isinstance(process, Forked)
        return ask(process, "say", str(number)), process.pid, end(process)

    with ThreadPoolExecutor(8) as threads:
        seen = list(threads.map(one, range(24)))
    assert [(said, status) for said, _, status in seen] == [(str(number), 0) for number in range(24)]
    assert len({pid for _, pid, _ in seen}) == 24


def test_nothing_stays_open_and_no_process_unwaited_for(kept: Forks) -> None:
    def open_files(pid: int) -> int:
        return len(os.listdir(f"/proc/{pid}/fd"))

    assert end(kept.started(TELLS)) == 0
    server = server_of(kept).pid
    gc.collect()
    before = open_files(os.getpid()), open_files(server)
    for _ in range(5):
        kept.started(TELLS).communicate(timeout=PATIENCE)
        forgotten = kept.started(TELLS)
        forgotten.kill()
        del forgotten
    until(lambda: not [pid for pid in processes() if parent_of(pid) == server])
    gc.collect()
    # Not equal: before, the server may not have closed yet what it had of the first one.
    until(lambda: open_files(os.getpid()) <= before[0] and open_files(server) <= before[1])


# --- one that is not --------------------------------------------------------------------------------------------------


def test_without_a_server_processes_are_started(kept: Forks, monkeypatch: pytest.MonkeyPatch) -> None:
    kept.close()
    kept.look()
    processes_of = [kept.started(TELLS)]
    monkeypatch.setattr(sys, "platform", "darwin")
    kept.keep()
    processes_of.append(kept.started(TELLS))
    assert [type(each) for each in processes_of] == [subprocess.Popen, subprocess.Popen]
    assert [end(each) for each in processes_of] == [0, 0]
    assert kept._server is None


def test_when_the_server_is_killed_its_copies_go_on_and_another_one_forks(kept: Forks) -> None:
    before = kept.started(TELLS)
    first = server_of(kept)
    first.kill()
    first.wait()
    after = kept.started(TELLS)
    assert isinstance(after, Forked)
    assert parent_of(after.pid) == server_of(kept).pid != first.pid
    assert [ask(each, "say", "here") for each in (before, after)] == ["here", "here"]
    assert before.poll() is None
    assert [end(before), end(after)] == [LOST, 0]


def test_a_server_that_stands_still_is_replaced_when_it_is_asked(kept: Forks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forked, "STATUS_SECONDS", 0.1)
    before, dead = kept.started(TELLS), kept.started(TELLS)
    assert [ask(each, "say", "here") for each in (before, dead)] == ["here", "here"]
    first = server_of(kept)
    first.send_signal(signal.SIGSTOP)
    dead.kill()
    assert dead.wait(PATIENCE) == LOST, "it stands still, and cannot tell"
    after = kept.started(TELLS)
    assert first.returncode == -signal.SIGKILL
    assert parent_of(after.pid) == server_of(kept).pid != first.pid
    assert [ask(each, "say", "here") for each in (before, after)] == ["here", "here"]
    assert [end(before), end(after)] == [LOST, 0]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_server_is_replaced_before_it_is_needed(kept: Forks, number: signal.Signals) -> None:
    assert end(kept.started(TELLS)) == 0
    kept.look()
    first = server_of(kept)
    first.send_signal(number)

    def is_replaced() -> bool:
        kept.look()
        return server_of(kept) is not first

    until(is_replaced)
    assert first.returncode == -signal.SIGKILL
    copy = kept.started(TELLS)
    assert isinstance(copy, Forked)
    assert end(copy) == 0


def test_a_server_that_is_killed_while_it_is_asked_leaves_no_process(kept: Forks) -> None:
    """Whichever was first: what it forked has nobody at the other end of its pipes."""
    for pause in (0.0, 0.0005, 0.001, 0.002, 0.004):
        assert end(kept.started(TELLS)) == 0
        first = server_of(kept)
        with ThreadPoolExecutor(1) as thread:
            asked = thread.submit(kept.started, TELLS)
            time.sleep(pause)
            first.kill()
            process = asked.result()
        assert ask(process, "say", "here") == "here"
        assert end(process) in (0, LOST)
        until(partial(has_no_children, first.pid))


def has_no_children(parent: int) -> bool:
    return parent not in map(session_parent, processes())


def session_parent(pid: int) -> int:
    """The parent of a process that is not yet gone."""
    return 0 if is_gone(pid) else parent_of(pid)


def test_one_that_cannot_begin_is_not_begun_again_and_again(kept: Forks, monkeypatch: pytest.MonkeyPatch) -> None:
    kept.close()
    begun: list[ForkServer] = []

    class Counted(ForkServer):
        def __init__(self) -> None:
            super().__init__()
            begun.append(self)

    monkeypatch.setattr(forks, "SERVER", "schedweb.no_such_module")
    monkeypatch.setattr(forks, "ForkServer", Counted)
    broken = Forks()
    broken.keep()
    running = [broken.started(TELLS) for _ in range(3)]
    assert [type(each) for each in running] == [subprocess.Popen] * 3
    assert [end(each) for each in running] == [0, 0, 0]
    broken.look()
    assert len(begun) == 1
    assert begun[0].process.returncode is not None


def test_a_process_with_threads_is_not_copied(kept: Forks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "import sys, threading, time\nif sys.argv[0] == '-m':\n"
    source += "    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\n"
    (tmp_path / "sitecustomize.py").write_text(source)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    made = Forks()
    made.keep()
    server = server_of(made)
    process = made.started(TELLS)
    assert isinstance(process, subprocess.Popen)
    assert server.returncode is not None
    assert json.loads(ask(process, "found"))["threads"] == [2, "2"]
    process.kill()
    end(process)


def test_where_it_may_not_fork_processes_are_started(kept: Forks) -> None:
    assert end(kept.started(TELLS)) == 0
    server = server_of(kept)
    limits = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (6, limits[1]))
    process = kept.started(TELLS)
    assert isinstance(process, subprocess.Popen)
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, limits)
    again = kept.started(TELLS)
    assert isinstance(again, Forked)
    assert server_of(kept) is server
    assert [end(process), end(again)] == [0, 0]


WORKER = f"""
import time
from schedweb.processes.forks import FORKS
FORKS.keep()
children = [FORKS.started({TELLS!r}) for _ in range(3)]
print(FORKS._server.process.pid, *(each.pid for each in children), flush=True)
time.sleep(1000)
"""


def test_all_end_by_themselves_when_whoever_asked_for_them_is_killed() -> None:
    worker = subprocess.Popen([sys.executable, "-c", WORKER], cwd=ROOT, stdout=subprocess.PIPE)
    assert worker.stdout is not None
    pids = [int(word) for word in worker.stdout.readline().split()]
    assert len(pids) == 4
    assert not any(map(is_gone, pids))
    worker.kill()
    worker.communicate(timeout=PATIENCE)
    until(lambda: all(map(is_gone, pids)))


def test_a_copy_of_the_keeper_asks_nobody(kept: Forks) -> None:
    """Two processes at one socket would hear each other's answers."""
    assert end(kept.started(TELLS)) == 0
    kept._keeper = os.getpid() + 1
    process: Any = kept.started(TELLS)
    assert isinstance(process, subprocess.Popen)
    assert end(process) == 0
