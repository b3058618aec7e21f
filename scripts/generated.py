"""Keeps the generated files of the API, of the socket and of the roles in a cluster in step with the code.

`frontend/openapi.json` comes from the REST API (drf-spectacular), `frontend/wire.json` from the messages of the
WebSocket (schedweb/runs/wire/messages.py); `frontend/src/api/schema.d.ts` and `frontend/src/live/wire.d.ts` from these
(openapi-typescript); the roles of `deploy/kubernetes` from the rules that the product asks for
(schedweb/clusters/reading/rights.py). `--check` fails when a committed file differs from what the code gives now;
`--write` (or `make generate`) writes all of them.
"""

from __future__ import annotations

import argparse
import difflib
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from schedweb.clusters.reading.rights import Mode, roles_yaml
from schedweb.runs.wire import messages
from scripts import node

ROOT = Path(__file__).resolve().parent.parent
SHOWN_LINES = 40


class GenerationError(Exception):
    """A schema or its types could not be made."""


def write_openapi(target: Path) -> None:
    command = [sys.executable, "manage.py", "spectacular", "--format", "openapi-json", "--validate", "--fail-on-warn"]
    if subprocess.run([*command, "--file", str(target)], cwd=ROOT, check=False).returncode:
        raise GenerationError("`manage.py spectacular` reported errors or warnings (above).")
    text = target.read_text(encoding="utf-8")
    target.write_text(text.rstrip("\n") + "\n", encoding="utf-8")


def write_wire(target: Path) -> None:
    target.write_text(json.dumps(wire_document(), indent=2) + "\n", encoding="utf-8")


def wire_document() -> dict[str, Any]:
    """The messages as components of an OpenAPI document, which is what openapi-typescript reads."""
    unions = {"FromBrowser": messages.FromBrowser, "ToBrowser": messages.ToBrowser}
    schemas, components = msgspec.json.schema_components(
        [*unions.values(), *messages.WITHIN_TEXTS], ref_template=messages.REFERENCES
    )
    components |= zip(unions, schemas, strict=False)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Messages of the WebSocket", "version": str(messages.VERSION)},
        "paths": {},
        "components": {"schemas": dict(sorted(components.items()))},
    }


def write_types(schema: Path, target: Path, *options: str) -> None:
    if node.run(["openapi-typescript", str(schema), "--output", str(target), *options], cwd=ROOT / "frontend"):
        raise GenerationError("openapi-typescript failed (above).")


@dataclass(frozen=True)
class Generated:
    """A schema, and the types that are made from it."""

    schema: Path
    types: Path
    write_schema: Callable[[Path], None]
    options: tuple[str, ...] = ()
    """For openapi-typescript."""


FRONTEND = ROOT / "frontend"
#: Messages leave out what has its default value.
LEAVES_OUT_DEFAULTS = ("--default-non-nullable=false",)
GENERATED = (
    Generated(FRONTEND / "openapi.json", FRONTEND / "src" / "api" / "schema.d.ts", write_openapi),
    Generated(FRONTEND / "wire.json", FRONTEND / "src" / "live" / "wire.d.ts", write_wire, LEAVES_OUT_DEFAULTS),
)

OVERLAYS = ROOT / "deploy" / "kubernetes" / "overlays"


def write_roles(mode: Mode, target: Path) -> None:
    target.write_text(
        f"# From schedweb/clusters/reading/rights.py, by `make generate`.\n{roles_yaml(mode)}", encoding="utf-8"
    )


ROLES: Final[dict[Mode, Path]] = {mode: OVERLAYS / mode / "role.yaml" for mode in ("look", "schedule")}


def difference(committed: Path, made: Path) -> str:
    old = committed.read_text(encoding="utf-8").splitlines() if committed.exists() else []
    new = made.read_text(encoding="utf-8").splitlines()
    name = committed.relative_to(ROOT).as_posix()
    lines = list(difflib.unified_diff(old, new, f"{name} (committed)", f"{name} (from the code)", lineterm="", n=2))
    hidden = len(lines) - SHOWN_LINES
    return "\n".join(lines[:SHOWN_LINES] + ([f"… {hidden} more lines"] if hidden > 0 else []))


def check() -> int:
    stale = []
    with tempfile.TemporaryDirectory() as folder:
        for each in GENERATED:
            schema, types = Path(folder) / each.schema.name, Path(folder) / each.types.name
            each.write_schema(schema)
            write_types(schema, types, *each.options)
            stale += [text for text in (difference(each.schema, schema), difference(each.types, types)) if text]
        for mode, committed in ROLES.items():
            made = Path(folder) / committed.name
            write_roles(mode, made)
            stale += filter(None, [difference(committed, made)])
    if stale:
        print("\n".join(stale))
        print("Out of date; `make generate` writes them.", file=sys.stderr)
        return 1
    print("The schemas of the API and the socket, the generated types and the roles are up to date.")
    return 0


def write() -> int:
    for each in GENERATED:
        each.types.parent.mkdir(parents=True, exist_ok=True)
        each.write_schema(each.schema)
        write_types(each.schema, each.types, *each.options)
    for mode, target in ROLES.items():
        write_roles(mode, target)
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description="The generated files of the API and of the socket.")
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
