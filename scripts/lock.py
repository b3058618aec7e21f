"""Resolves pyproject.toml into the hashed requirements locks (`make lock`).

One resolution for every platform and Python (`--universal`), with hashes and without naming an index, so that whoever
installs decides where the files come from. The development lock contains the runtime lock, version for version.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCKS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("requirements.lock", ("pyproject.toml",)),
    ("requirements-dev.lock", ("pyproject.toml", "--group", "dev", "--constraint", "requirements.lock")),
    ("requirements-node.lock", ("--group", "node")),
    ("requirements-sbom.lock", ("--group", "sbom", "--constraint", "requirements-dev.lock")),
)


def main() -> int:
    for name, sources in LOCKS:
        command = [
            sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal", "--generate-hashes",
            "--no-emit-index-url", "--no-emit-find-links", "--no-annotate", "--python-version", "3.11",
            "--custom-compile-command", "make lock", *sources, "--output-file", name, *sys.argv[1:],
        ]  # fmt: skip
        if subprocess.run(command, cwd=ROOT, check=False).returncode:
            return 1
        print(f"{name}: {sum(1 for line in (ROOT / name).read_text().splitlines() if '==' in line)} packages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
