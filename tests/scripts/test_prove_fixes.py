"""A sample of the proof that every proposed fix does what it says; `python -m scripts.prove_fixes` is all of it."""

from __future__ import annotations

from pathlib import Path

from schedweb.engine.sums import VERIFY
from scripts.processes import Playground
from scripts.prove_fixes import prove
from scripts.site import Site
from tests.first_start import FirstStart

#: Seeds of one cluster per form of export and per thing that nobody serves, and what made a fix differ from its fork
#: before.
SEEDS = (102, 105, 110, 121)


def test_every_proposed_fix_does_on_a_fork_what_it_says(tmp_path: Path, first_start: FirstStart) -> None:
    playground = Playground(first_start.into(tmp_path), **{VERIFY: "1"})
    try:
        site = Site(playground.origin)
        site.open_link(playground.link)
        count = prove(site, SEEDS)
    finally:
        playground.process.stop()
    assert count.wrong == []
    assert count.clusters == len(SEEDS)
    assert count.fixes >= len(SEEDS), count.kinds
