"""Keeps the two generated files of the API in step with the code.

`frontend/openapi.json` comes from the REST API (drf-spectacular), `frontend/src/api/schema.d.ts` from that file
(openapi-typescript). `--check` fails when a committed file differs from what the code gives now; `--write` (or
`make generate`) writes both.
"""

from __future__ import annotations

import argparse
import difflib
import subprocess
import sys
import tempfile
from pathlib import Path

from scripts import node

ROOT = Path(__file__).resolve().parent.parent
OPENAPI = ROOT / "frontend" / "openapi.json"
TYPES = ROOT / "frontend" / "src" / "api" / "schema.d.ts"
SHOWN_LINES = 40


class GenerationError(Exception):
    """The API's schema or its types could not be made."""


def write_openapi(target: Path) -> None:
    command = [sys.executable, "manage.py", "spectacular", "--format", "openapi-json", "--validate", "--fail-on-warn"]
    if subprocess.run([*command, "--file", str(target)], cwd=ROOT, check=False).returncode:
        raise GenerationError("`manage.py spectacular` reported errors or warnings (above).")
    text = target.read_text(encoding="utf-8")
    target.write_text(text.rstrip("\n") + "\n", encoding="utf-8")


def write_types(openapi: Path, target: Path) -> None:
    if node.run(["openapi-typescript", str(openapi), "--output", str(target)], cwd=ROOT / "frontend"):
        raise GenerationError("openapi-typescript failed (above).")


def difference(committed: Path, made: Path) -> str:
    old = committed.read_text(encoding="utf-8").splitlines() if committed.exists() else []
    new = made.read_text(encoding="utf-8").splitlines()
    name = committed.relative_to(ROOT).as_posix()
    lines = list(difflib.unified_diff(old, new, f"{name} (committed)", f"{name} (from the code)", lineterm="", n=2))
    hidden = len(lines) - SHOWN_LINES
    return "\n".join(lines[:SHOWN_LINES] + ([f"… {hidden} more lines"] if hidden > 0 else []))


def check() -> int:
    with tempfile.TemporaryDirectory() as folder:
        openapi, types = Path(folder) / "openapi.json", Path(folder) / "schema.d.ts"
        write_openapi(openapi)
        write_types(openapi, types)
        stale = [text for text in (difference(OPENAPI, openapi), difference(TYPES, types)) if text]
    if stale:
        print("\n".join(stale))
        print("Out of date; `make generate` writes them.", file=sys.stderr)
        return 1
    print("The OpenAPI file and the generated types are up to date.")
    return 0


def write() -> int:
    TYPES.parent.mkdir(parents=True, exist_ok=True)
    write_openapi(OPENAPI)
    write_types(OPENAPI, TYPES)
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description="The API's generated files.")
    chosen = parser.add_mutually_exclusive_group(required=True)
    chosen.add_argument("--check", action="store_true")
    chosen.add_argument("--write", action="store_true")
    try:
        return check() if parser.parse_args().check else write()
    except GenerationError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
