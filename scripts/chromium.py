"""Finds the Chromium that browser tests and screenshots drive, and installs one where it can.

In this order: the one `CHROMIUM` names, an installed Chromium or Chrome, one that Playwright has downloaded; a headless
shell first, the same engine without a desktop's window around it, which takes a fifth less processor time. With
`--install` and none found: `apt-get` as root on Debian and Ubuntu, then Playwright's own download. A candidate counts
only if it starts and tells its version (Ubuntu's package is a stub that may not). When none can be had, the command
says loudly that the browser tests will be skipped, and succeeds: they are the only tests that need it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

PACKAGES = ("chromium-headless-shell", "chromium")
"""Of Debian; not every release has the first."""
NAMES = (*PACKAGES, "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge")
APPLICATIONS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
PLAYWRIGHT_CACHES = ("~/.cache/ms-playwright", "~/Library/Caches/ms-playwright", "~/AppData/Local/ms-playwright")
PLAYWRIGHT_BINARIES = (
    "chromium_headless_shell-*/chrome-*/*headless*shell",
    "chromium-*/chrome-linux*/chrome",
    "chromium-*/chrome-mac*/Chromium.app/Contents/MacOS/Chromium",
    "chromium-*/chrome-win*/chrome.exe",
)
SKIPPED = "no Chromium on this machine and none could be installed; CHROMIUM=/path/to/chromium names one"


def candidates() -> Iterator[Path]:
    named = os.environ.get("CHROMIUM")
    if named:
        yield Path(named)
        return
    for name in NAMES:
        found = shutil.which(name)
        if found is not None:
            yield Path(found)
    yield from (Path(path) for path in APPLICATIONS)
    roots = [os.environ["PLAYWRIGHT_BROWSERS_PATH"]] if "PLAYWRIGHT_BROWSERS_PATH" in os.environ else PLAYWRIGHT_CACHES
    for root in roots:
        for pattern in PLAYWRIGHT_BINARIES:
            yield from sorted(Path(root).expanduser().glob(pattern), reverse=True)


def starts(binary: Path) -> bool:
    if not binary.exists():
        return False
    try:
        asked = subprocess.run([str(binary), "--version"], capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return asked.returncode == 0


def find_chromium() -> Path | None:
    return next((binary for binary in candidates() if starts(binary)), None)


def attempt(*command: str, seconds: int) -> bool:
    print(f"installing: {' '.join(command)}", flush=True)
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    try:
        done = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, timeout=seconds, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        print(f"installing: {error}", file=sys.stderr)
        return False
    return done.returncode == 0


def is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def install_chromium() -> Path | None:
    if is_root() and shutil.which("apt-get") is not None:
        attempt("apt-get", "update", "-qq", seconds=180)
        for package in PACKAGES:
            wanted = ("--no-install-recommends", package, "fonts-liberation")
            attempt("apt-get", "install", "-y", "-qq", *wanted, seconds=600)
            found = find_chromium()
            if found is not None:
                return found
    dependencies = ["--with-deps"] if is_root() else []
    attempt(sys.executable, "-m", "playwright", "install", *dependencies, "chromium", seconds=600)
    return find_chromium()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Print the Chromium to test with.")
    parser.add_argument("--install", action="store_true", help="install one where none is found")
    chosen = parser.parse_args(arguments)
    found = find_chromium()
    if found is None and chosen.install and "CHROMIUM" not in os.environ:
        found = install_chromium()
    if found is None:
        rule = "!" * 100
        print(f"{rule}\n!! BROWSER TESTS WILL BE SKIPPED: {SKIPPED}\n{rule}", file=sys.stderr)
        return 0 if chosen.install else 1
    print(f"chromium: {found}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
