"""Starting the process that talks to an API server, with a folder of its own for what the client writes down.

The client puts keys of a kubeconfig into temporary files for OpenSSL to read, and removes them at its end; when it is
killed they would stay. So the folder goes with the process, and is in memory where the system has such a place.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from schedweb.processes.forks import FORKS
from schedweb.processes.plain import CLUSTER_READER, Process

_IN_MEMORY: Final = Path("/dev/shm")


@contextmanager
def own_folder() -> Iterator[Path]:
    where = _IN_MEMORY if _IN_MEMORY.is_dir() and os.access(_IN_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="playground-cluster-", dir=where, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def child(folder: Path, complaints: int = subprocess.PIPE) -> Process:
    return FORKS.started(CLUSTER_READER, complaints=complaints, variables={"TMPDIR": str(folder)})
