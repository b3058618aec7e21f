"""Finds the nginx that the tests behind TLS go through, and installs one where it can: `apt-get` as root on Debian and
Ubuntu. When none can be had, the command says so and succeeds: no other test needs it."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence

from scripts.chromium import attempt, is_root

PLACES = "/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin"
SKIPPED = "no nginx on this machine and none could be installed (Debian: nginx-light)"


def find_nginx() -> str | None:
    return shutil.which("nginx") or shutil.which("nginx", path=PLACES)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Print the nginx to test with.")
    parser.add_argument("--install", action="store_true", help="install one where none is found")
    chosen = parser.parse_args(arguments)
    if find_nginx() is None and chosen.install and is_root() and shutil.which("apt-get") is not None:
        attempt("apt-get", "update", "-qq", seconds=180)
        attempt("apt-get", "install", "-y", "-qq", "--no-install-recommends", "nginx-light", seconds=300)
    found = find_nginx()
    if found is None:
        print(f"!! THE TESTS BEHIND TLS WILL BE SKIPPED: {SKIPPED}", file=sys.stderr)
        return 0 if chosen.install else 1
    print(f"nginx: {found}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
