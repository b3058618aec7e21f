"""Brings the set-up up to date: `.venv`, `frontend/node_modules` and the built UI.

Runs on the system's Python before anything is installed, so it uses the standard library only. Every step has a stamp:
a file holding the hash of what the step was made from. A step whose stamp still fits is skipped, which is why a second
`make run` starts at once. `--dev` also installs what tests and checks need.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from scripts import node as nodes

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
FRONTEND = ROOT / "frontend"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
MINIMUM, MAXIMUM = (3, 11), (3, 14)  # pyproject.toml: requires-python
RUNTIME_LOCK = ROOT / "requirements.lock"
DEV_LOCK = ROOT / "requirements-dev.lock"
NODE_LOCK = ROOT / "requirements-node.lock"
# Everything outside src/ and public/ that decides what the bundler writes.
UI_SETTINGS = ("index.html", "package.json", "package-lock.json", "*.config.*", "tsconfig*.json")


class SetupError(Exception):
    """A sentence for the person at the terminal."""


def digest(paths: Iterable[Path], *facts: str) -> str:
    total = hashlib.sha256("\n".join(facts).encode())
    for path in sorted(paths):
        total.update(path.relative_to(ROOT).as_posix().encode() + b"\0")
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def is_stamped(stamp: Path, wanted: str) -> bool:
    return stamp.exists() and stamp.read_text(encoding="utf-8").strip() == wanted


def execute(*command: str | Path, cwd: Path = ROOT) -> None:
    line = [str(part) for part in command]
    if subprocess.run(line, cwd=cwd, check=False).returncode:
        raise SetupError(f"This failed: {' '.join(line)}")


def say(text: str) -> None:
    print(f"setup: {text}", flush=True)


def python_for_venv() -> str:
    """This interpreter if it fits, else the newest that the machine has beside it."""
    if MINIMUM <= sys.version_info[:2] <= MAXIMUM:
        return sys.executable
    for minor in range(MAXIMUM[1], MINIMUM[1] - 1, -1):
        found = shutil.which(f"python3.{minor}")
        if found is not None:
            return found
    raise SetupError("Python 3.11 to 3.14 is needed; `make setup PYTHON=/path/to/python3` names one.")


def ensure_venv() -> None:
    if PYTHON.exists() and subprocess.run([str(PYTHON), "-m", "pip", "--version"], capture_output=True).returncode == 0:
        return
    say("making .venv")
    python = python_for_venv()
    if subprocess.run([python, "-m", "venv", "--clear", str(VENV)], check=False).returncode:
        raise SetupError(
            "`python3 -m venv` failed. On Debian and Ubuntu the package python3-venv brings what it needs; "
            "`make setup PYTHON=/path/to/python3` names another Python."
        )


def install(lock: Path) -> None:
    execute(
        PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "-r", lock
    )  # fmt: skip


def ensure_packages(*, dev: bool) -> None:
    ensure_venv()
    runtime, everything = VENV / ".stamp-runtime", VENV / ".stamp-dev"
    runtime_hash = digest([RUNTIME_LOCK])
    dev_hash = digest([RUNTIME_LOCK, DEV_LOCK])
    if is_stamped(everything, dev_hash) or (not dev and is_stamped(runtime, runtime_hash)):
        return
    lock = DEV_LOCK if dev else RUNTIME_LOCK
    say(f"installing {lock.name} into .venv")
    install(lock)
    runtime.write_text(runtime_hash, encoding="utf-8")
    if dev:
        everything.write_text(dev_hash, encoding="utf-8")


def venv_packages() -> Path:
    asked = subprocess.run(
        [str(PYTHON), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return Path(asked.stdout.strip())


def ensure_node() -> nodes.Node:
    node = nodes.system_node() or nodes.wheel_node(venv_packages())
    if node is not None:
        return node
    say(f"no {nodes.NEEDED} on this machine: installing one into .venv")
    install(NODE_LOCK)
    node = nodes.wheel_node(venv_packages())
    if node is None:
        raise SetupError(f"No Node could be installed here; please install {nodes.NEEDED}.")
    return node


def ui_sources() -> list[Path]:
    found = {path for pattern in UI_SETTINGS for path in FRONTEND.glob(pattern)}
    for folder in ("src", "public"):
        found.update(path for path in (FRONTEND / folder).rglob("*") if path.is_file() and ".test." not in path.name)
    return sorted(found)


def ensure_ui() -> None:
    modules = FRONTEND / "node_modules"
    modules_stamp, ui_stamp = modules / ".stamp", FRONTEND / "dist" / ".stamp"
    modules_hash = digest(FRONTEND / name for name in ("package.json", "package-lock.json", ".npmrc"))
    ui_hash = digest(ui_sources())
    modules_fit, ui_fits = is_stamped(modules_stamp, modules_hash), is_stamped(ui_stamp, ui_hash)
    if modules_fit and ui_fits and (FRONTEND / "dist" / "index.html").exists():
        return
    ensure_node()
    if not modules_fit:
        say("installing frontend/node_modules")
        execute(PYTHON, "-m", "scripts.node", "npm", "--prefix", "frontend", "ci", "--no-audit", "--no-fund")
        modules_stamp.write_text(modules_hash, encoding="utf-8")
    say("building the UI")
    execute(PYTHON, "-m", "scripts.node", "npm", "--prefix", "frontend", "run", "build")
    ui_stamp.write_text(ui_hash, encoding="utf-8")


@contextlib.contextmanager
def one_at_a_time() -> Iterator[None]:
    """Two make commands in two terminals must not install into the same folders at once."""
    try:
        import fcntl  # noqa: PLC0415 - absent on Windows, where two set-ups at once are the user's own business
    except ImportError:
        yield
        return
    with (ROOT / ".setup.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main() -> int:
    parser = argparse.ArgumentParser(prog="make setup", description="Bring .venv, node_modules and the UI up to date.")
    parser.add_argument("--dev", action="store_true", help="also what tests and checks need")
    arguments = parser.parse_args()
    try:
        with one_at_a_time():
            ensure_packages(dev=arguments.dev)
            ensure_ui()
    except SetupError as error:
        print(f"setup: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
