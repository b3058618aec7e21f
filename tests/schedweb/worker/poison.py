"""A plugin of a package that is installed beside the product, of which engines die: what it does depends on the pod's
name, and on files in a folder, so that tests can make it well again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.test_doctor import install
from tests.schedweb.engine.worlds import DEFAULT

SOURCE = """
import os, signal, sys
from pathlib import Path
from framework.interface import FilterPlugin, PreEnqueuePlugin

FOLDER = Path({folder!r})

def die():
    print("the last line of the poison", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

class Poison(PreEnqueuePlugin, FilterPlugin):
    name = "Poison"

    def pre_enqueue(self, pod):
        if pod.metadata.name.startswith("kills"):
            die()
        if pod.metadata.name == "copied" and sys.modules["__main__"].__spec__.name.endswith("fork_server"):
            die()
        if pod.metadata.name.startswith("breaks"):
            raise RuntimeError("it broke")

    def filter(self, state, pod, node):
        if pod.metadata.name.startswith("late") or (FOLDER / "sick").exists():
            die()
"""
CONFIGURATION = f"""{DEFAULT}profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      enabled:
      - name: Poison
"""


def installed(folder: Path) -> dict[str, str]:
    """The environment in which processes find it. While ``folder / "sick"`` exists every engine dies in its first
    cycle."""
    install(folder, "poison", SOURCE.format(folder=str(folder)), "Poison = poison:Poison")
    return {"PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)}


@pytest.fixture
def poison(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Installed for this process and those that it starts."""
    for name, value in installed(tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path
