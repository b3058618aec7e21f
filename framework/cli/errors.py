"""What a command says when it was given something it cannot use."""

from __future__ import annotations


class InputError(Exception):
    """``where: what is wrong``: a file, a line or an object, and the field."""

    def __init__(self, where: str, what: str) -> None:
        at = f"{where}: " if where else ""
        super().__init__("\n".join(f"{at}{line}" for line in what.splitlines()))
