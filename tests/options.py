"""Options of schedulers that are made where a test cannot hand them over."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from framework.scheduler import options


def by_default(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    """Until the test ends, schedulers that are given no options have the usual ones with these ``changes``."""
    monkeypatch.setattr(options, "DEFAULT", replace(options.DEFAULT, **changes))
