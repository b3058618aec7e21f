"""The process that is forked where many processes are needed: `python -m schedweb.processes.fork_server SOCKET`.

It has imported what engines and the others need, does nothing else, and has one thread, so its copies have nothing but
that: no lock that somebody holds, no open file. It is asked by messages on its socket (`forks.py`): the module and the
environment of the process that is wanted, with its three standard streams and a pipe in which its status is told when
it has ended. The answer is the process's number and a pidfd. It ends when nobody can ask it any more.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
from contextlib import suppress
from importlib import import_module
from typing import Final

from schedweb.processes.collecting import begin_loading, end_loading
from schedweb.processes.forked import STATUS
from schedweb.processes.forks import LOOK, REFUSED
from schedweb.processes.plain import KINDS
from schedweb.processes.structs import learn_structs

ASKED_BYTES: Final = 1 << 20
READY: Final = b"ready"
STREAMS: Final = 3
"""Standard input, output and error, in front of the pipe for the status."""


def main(descriptor: int) -> int | str | None:
    """Of the copy: what the module's own says."""
    begin_loading()
    for module in KINDS:
        import_module(module)
    if (threads := len(os.listdir("/proc/self/task"))) > 1:
        return f"The fork server has {threads} threads: what the others hold would be held for ever in its copies."
    # What it cannot do without is asked for now: OSError, where the system has none.
    os.close(os.pidfd_open(os.getpid()))
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    learn_structs()
    # Not looked at by a collection, these objects stay where they are, in pages that all copies share.
    end_loading()
    try:
        wanted = serve(socket.socket(fileno=descriptor))
    except ConnectionError:
        return 0
    return None if wanted is None else import_module(wanted).main()


def serve(control: socket.socket) -> str | None:
    """Forks until nobody can ask any more, and returns None. In a copy: the module that it is to be."""
    children: dict[int, tuple[int, int]] = {}
    """By pidfd: (pid, where its status is told)."""
    poll = select.poll()
    poll.register(control, select.POLLIN)
    control.send(READY)
    while True:
        for descriptor, _ in poll.poll():
            if descriptor in children:
                poll.unregister(descriptor)
                tell_end(descriptor, *children.pop(descriptor))
                continue
            asked, given, _, _ = socket.recv_fds(control, ASKED_BYTES, STREAMS + 1)
            if not asked:
                return None
            if asked == LOOK:
                control.send(READY)
                continue
            try:
                pid = forked(given)
            except OSError as error:
                control.send(REFUSED + str(error).encode())
                continue
            if pid == 0:
                control.detach()
                return become(asked, given[:STREAMS])
            # Nobody but this process waits for it, so its number is its own until then.
            handle = os.pidfd_open(pid)
            children[handle] = (pid, given[STREAMS])
            poll.register(handle, select.POLLIN)
            socket.send_fds(control, [str(pid).encode()], [handle])


def forked(given: list[int]) -> int:
    """As os.fork. What only the copy needs is closed here. Raises OSError."""
    pid = -1
    try:
        if len(given) != STREAMS + 1:
            raise OSError("it has no room for more open files")
        pid = os.fork()
    finally:
        if pid != 0:
            for each in given if pid < 0 else given[:STREAMS]:
                os.close(each)
    return pid


def become(asked: bytes, streams: list[int]) -> str:
    """What differs from a process that was started by `python -m` is made the same."""
    os.setsid()
    for number, each in enumerate(streams):
        os.dup2(each, number)
    # Whatever else is open, above all the socket and the pipes of other copies' statuses, is none of its business.
    for each in map(int, os.listdir("/proc/self/fd")):
        if each >= STREAMS:
            with suppress(OSError):
                os.close(each)
    wanted, *variables = asked.split(b"\0")
    module = wanted.decode()
    os.environb.clear()
    for name, _, value in (each.partition(b"=") for each in variables):
        os.environb[name] = value
    sys.argv = [str(import_module(module).__file__)]
    with suppress(OSError), open("/proc/self/comm", "w") as called:
        called.write(KINDS.get(module, ""))
    return module


def tell_end(handle: int, pid: int, outward: int) -> None:
    _, status = os.waitpid(pid, 0)
    os.close(handle)
    # Who does not ask any more has closed its end.
    with suppress(BrokenPipeError):
        os.write(outward, STATUS.pack(os.waitstatus_to_exitcode(status)))
    os.close(outward)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
