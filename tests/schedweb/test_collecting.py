"""A process that lives long looks for garbage as Python does, and never at what it loaded."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from schedweb.processes.collecting import LOADED, LOADING, begin_loading
from schedweb.processes.long_lived import settle_down


@pytest.fixture(autouse=True)
def _thresholds_again() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_what_a_long_lived_process_loaded_is_not_looked_at_again() -> None:
    begin_loading()
    assert gc.get_threshold() == LOADING
    loaded: list[list[int]] = [[] for _ in range(1000)]
    frozen = gc.get_freeze_count()
    settle_down()
    assert gc.get_threshold() == LOADED
    assert gc.get_freeze_count() >= frozen + len(loaded)
