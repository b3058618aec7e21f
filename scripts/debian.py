"""Programs that some tests need and Debian packages: finds them, and installs what is missing where it can (`apt-get`
as root on Debian and Ubuntu). When one cannot be had, the command says so and succeeds: no other test needs it.

A program whose package would start a server is taken out of the package, into `.venv`; the package is not installed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scripts.chromium import attempt, is_root

TAKEN: Final = Path(sys.prefix) / "debian"
PLACES: Final = os.pathsep.join(
    ("/usr/sbin", "/usr/local/sbin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", str(TAKEN / "usr/bin"))
)


@dataclass(frozen=True)
class Program:
    name: str
    package: str
    tests: str
    """Which tests need it."""
    is_taken: bool = False
    """Out of its package, which is not installed."""

    @property
    def skipped(self) -> str:
        return f"no {self.name} on this machine and none could be installed (Debian: {self.package})"

    def find(self) -> str | None:
        return shutil.which(self.name) or shutil.which(self.name, path=PLACES)


NGINX: Final = Program("nginx", "nginx-light", "THE TESTS BEHIND TLS")
KUBECTL: Final = Program("kubectl", "kubernetes-client", "THE TESTS OF deploy/kubernetes")
PROMTOOL: Final = Program("promtool", "prometheus", "THE TESTS THAT PLAY ALERTS", is_taken=True)
PROGRAMS: Final = (NGINX, KUBECTL, PROMTOOL)


def install(programs: Sequence[Program]) -> None:
    attempt("apt-get", "update", "-qq", seconds=180)
    for each in programs:
        if each.is_taken:
            take(each)
        else:
            attempt("apt-get", "install", "-y", "-qq", "--no-install-recommends", each.package, seconds=300)


def take(program: Program) -> None:
    with tempfile.TemporaryDirectory() as folder:
        if not attempt("sh", "-c", f"cd {folder} && apt-get download -qq {program.package}", seconds=300):
            return
        for package in Path(folder).glob("*.deb"):
            unpacked = Path(folder) / "unpacked"
            if attempt("dpkg-deb", "--extract", str(package), str(unpacked), seconds=120):
                found = unpacked / "usr/bin" / program.name
                target = TAKEN / "usr/bin" / program.name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(found, target)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Print the programs to test with.")
    parser.add_argument("--install", action="store_true", help="install those that are not found")
    chosen = parser.parse_args(arguments)
    missing = [each for each in PROGRAMS if each.find() is None]
    if missing and chosen.install and is_root() and shutil.which("apt-get") is not None:
        install(missing)
    for each in PROGRAMS:
        found = each.find()
        if found is None:
            print(f"!! {each.tests} WILL BE SKIPPED: {each.skipped}", file=sys.stderr)
        else:
            print(f"{each.name}: {found}")
    lacks = any(each.find() is None for each in PROGRAMS)
    return 1 if lacks and not chosen.install else 0


if __name__ == "__main__":
    sys.exit(main())
