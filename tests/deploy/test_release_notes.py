"""What is released says which formats it reads and has a database in the tests; what comes next says what it writes."""

from __future__ import annotations

import re
from typing import Final

from framework.trace.encoding import FORMAT
from schedweb.engine.payload import VERSION
from schedweb.engine.version import ENGINE_VERSION
from scripts.processes import ROOT
from scripts.release_fixture import RELEASES

#: The text of each release after its name, with the newest, which has none yet, first.
NOTES: Final = re.split(r"^## \[", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]


def told(notes: str) -> tuple[str, str]:
    """The name of a release, and what stands before its first heading, in one line."""
    name, _, text = notes.partition("]")
    return name, " ".join(text.partition("\n### ")[0].split())


def test_a_release_says_what_it_reads_and_its_database_is_in_the_tests() -> None:
    released = dict(told(notes) for notes in NOTES)
    assert released.pop("Unreleased")
    assert released
    assert [name for name, text in released.items() if "Reads" not in text or "Writes" not in text] == []
    assert [name for name in released if not (RELEASES / f"{name}.sqlite3.zst").exists()] == []


def test_what_comes_next_says_what_it_writes() -> None:
    name, text = told(NOTES[0])
    assert name == "Unreleased"
    assert "Reads" in text
    assert f"writes attempts {FORMAT}, snapshots {VERSION}, engine {ENGINE_VERSION}." in text
