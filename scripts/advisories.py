"""Holds the locks against known advisories (`make advisories`), with pip-audit and npm audit.

What could not be looked up is said in capitals and is no failure, because a build must not depend on somebody else's
server; with ``--strict`` it is one. An advisory about a locked version is a failure always.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass, field
from typing import Any, Final

from scripts.node import ROOT

PYTHON_LOCK: Final = "requirements-dev.lock"
"""It has all of requirements.lock in the same versions."""
SECONDS: Final = 60


@dataclass
class Looked:
    """``checked``: of how many packages the list was asked; ``missed``: of how many, or why, it could not be."""

    lock: str
    checked: int = 0
    found: list[str] = field(default_factory=list)
    missed: str = ""


def python_packages() -> Looked:
    command = [
        *(sys.executable, "-m", "pip_audit", "--requirement", PYTHON_LOCK, "--no-deps", "--disable-pip"),
        *("--format", "json", "--progress-spinner", "off", "--timeout", "15"),
    ]
    return of_pip_audit(*run(command))


def npm_packages() -> Looked:
    command = [sys.executable, "-m", "scripts.node", "npm", "--prefix", "frontend", "audit", "--json"]
    return of_npm_audit(*run([*command, "--fetch-retries=1", "--fetch-timeout=15000"]))


def run(command: list[str]) -> tuple[str, str]:
    """(standard output, the last line of complaints)."""
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return "", f"no answer within {SECONDS} seconds"
    return done.stdout, (done.stderr.strip().splitlines() or ["no answer"])[-1]


def of_pip_audit(output: str, complaint: str) -> Looked:
    """It takes a package that its list does not have for sound; here that is one that was not looked up."""
    looked = Looked(PYTHON_LOCK)
    answer = parsed(output)
    if answer is None:
        looked.missed = complaint
        return looked
    skipped = [each["name"] for each in answer["dependencies"] if "skip_reason" in each]
    looked.checked = len(answer["dependencies"]) - len(skipped)
    if skipped:
        looked.missed = f"{len(skipped)} packages are not in the list that was asked"
    for each in answer["dependencies"]:
        for known in each.get("vulns", ()):
            mended = ", ".join(known.get("fix_versions") or ["no version yet"])
            looked.found.append(f"{each['name']} {each['version']}: {known['id']}, mended in {mended}")
    return looked


def of_npm_audit(output: str, complaint: str) -> Looked:
    looked = Looked("frontend/package-lock.json")
    answer = parsed(output)
    if answer is None or "vulnerabilities" not in answer:
        looked.missed = (answer or {}).get("message") or complaint
        return looked
    looked.checked = answer["metadata"]["dependencies"]["total"]
    for name, known in answer["vulnerabilities"].items():
        titles = [via["title"] for via in known["via"] if isinstance(via, dict)]
        about = f"{name} {known['range']}".strip()
        looked.found.append(f"{about}: {known['severity']}, {'; '.join(titles) or 'by what it needs'}")
    return looked


def parsed(output: str) -> Any:
    try:
        answer = json.loads(output)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) else None


def told(looked: Looked) -> list[str]:
    lines = [f"{looked.lock}: {looked.checked} packages held against known advisories, {len(looked.found)} found"]
    lines += [f"  {each}" for each in looked.found]
    if looked.missed:
        lines.append(f"NOT CHECKED, {looked.lock}: {looked.missed}")
    return lines


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--strict", action="store_true", help="what could not be looked up is a failure, too")
    strict = options.parse_args().strict
    results = [python_packages(), npm_packages()]
    for looked in results:
        print("\n".join(told(looked)), flush=True)
    failed = any(looked.found or (strict and looked.missed) for looked in results)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
