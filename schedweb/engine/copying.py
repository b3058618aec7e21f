"""A process that copies itself (os.fork): the copy has the very machine of the process, and costs little to make."""

from __future__ import annotations

import os
from typing import Final

MOST_FILES: Final = 4096


def let_go_of_all_but(pipe: int) -> None:
    """Of what the copy has from the process that made it: its pipes end with that process, not with the copy."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    os.closerange(3, pipe)
    os.closerange(pipe + 1, MOST_FILES)
