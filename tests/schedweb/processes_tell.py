"""A process that tells what it found when it began, and does what it is told; one word per line."""

from __future__ import annotations

import fcntl
import gc
import json
import os
import random
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any


def found() -> dict[str, Any]:
    """What has to be the same however it was begun."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return {
        "hash": hash("a string"),
        "arguments": sys.argv,
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "open": sorted(int(name) for name in os.listdir("/proc/self/fd"))[:-1],
        "room": fcntl.fcntl(1, fcntl.F_GETPIPE_SZ),
        "leads its session": os.getsid(0) == os.getpid(),
        "signals": {name: status[name].strip() for name in ("SigBlk", "SigIgn", "SigCgt", "ShdPnd")},
        "handlers": {str(each): repr(signal.getsignal(each)).split(" at ")[0] for each in signal.valid_signals()},
        "threads": (threading.active_count(), status["Threads"].strip()),
        "collector": (gc.isenabled(), gc.get_threshold()),
        "nice": os.nice(0),
        "streams": [(each.encoding, each.errors, each.line_buffering) for each in (sys.stdin, sys.stdout, sys.stderr)],
        "path": sys.path,
    }


def say(words: object) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


def main() -> int:
    for line in sys.stdin:
        match line.split():
            case ["found"]:
                say(json.dumps(found()))
            case ["chance"]:
                say(random.random())
            case ["say", word]:
                say(word)
            case ["flood", size]:
                for stream in (sys.stdout, sys.stderr):
                    stream.write("x" * int(size))
            case ["sleep", seconds]:
                time.sleep(float(seconds))
            case ["copy"]:
                if (pid := os.fork()) == 0:
                    os._exit(3)
                say(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
            case ["exit", status]:
                return int(status)
            case ["raise"]:
                raise ValueError("as it was told")
    return 0


if __name__ == "__main__":
    sys.exit(main())
