"""How many examples hypothesis plays of a property that takes seconds: a third of them in every run of the tests.

All of them by ``HYPOTHESIS_PROFILE=thorough``.
"""

from __future__ import annotations

import os
from typing import Final

THOROUGH: Final = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"


def examples(many: int) -> int:
    return many if THOROUGH else many // 3
