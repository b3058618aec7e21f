"""Threads read Structs for the first time at the same moment, and the process goes on."""

from __future__ import annotations

import subprocess
import sys

from schedweb.processes.structs import learn_structs

READ = """
import sys, threading, types
import msgspec
from schedweb.processes.structs import learn_structs

def kind(number):
    text = "from __future__ import annotations\\nimport msgspec\\n"
    for each in range(30):
        below = f"S{each - 1} | None" if each else "dict[str, tuple[int, ...]] | None"
        fields = [f"    f0: {below} = None\\n"]
        fields += [f"    f{place}: dict[str, tuple[int, ...]] | None = None\\n" for place in range(1, 10)]
        text += f"class S{each}(msgspec.Struct):\\n" + "".join(fields)
    module = sys.modules[f"made{number}"] = types.ModuleType(f"made{number}")
    exec(text, module.__dict__)
    return module.S29

kinds = [kind(number) for number in range(40)]
if sys.argv[1] == "learnt":
    learn_structs()
sys.setswitchinterval(1e-6)

def read(kind, together):
    together.wait()
    msgspec.convert({"f0": {"f0": {"f1": {"a": [1, 2]}}}}, kind)

for each in kinds:
    together = threading.Barrier(4)
    threads = [threading.Thread(target=read, args=(each, together)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def read_by_threads(how: str) -> int:
    return subprocess.run([sys.executable, "-c", READ, how], check=False, timeout=120).returncode


def test_threads_may_read_what_is_learnt() -> None:
    assert read_by_threads("learnt") == 0


def test_all_that_is_imported_is_learnt() -> None:
    from schedweb.engine import frames  # noqa: F401, PLC0415 - to be imported is all

    assert learn_structs() > 100
