"""Programs that some tests need and Debian packages: finds them, and installs what is missing where it can (`apt-get`
as root on Debian and Ubuntu). When one cannot be had, the command says so and succeeds: no other test needs it."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from scripts.chromium import attempt, is_root

PLACES = "/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin"


@dataclass(frozen=True)
class Program:
    name: str
    package: str
    tests: str
    """Which tests need it."""

    @property
    def skipped(self) -> str:
        return f"no {self.name} on this machine and none could be installed (Debian: {self.package})"

    def find(self) -> str | None:
        return shutil.which(self.name) or shutil.which(self.name, path=PLACES)


NGINX: Final = Program("nginx", "nginx-light", "THE TESTS BEHIND TLS")
KUBECTL: Final = Program("kubectl", "kubernetes-client", "THE TESTS OF deploy/kubernetes")
PROGRAMS: Final = (NGINX, KUBECTL)


def install(programs: Sequence[Program]) -> None:
    attempt("apt-get", "update", "-qq", seconds=180)
    for each in programs:
        attempt("apt-get", "install", "-y", "-qq", "--no-install-recommends", each.package, seconds=300)


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
