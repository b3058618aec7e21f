"""Whose code an error came from."""

from __future__ import annotations

import traceback

from framework.interface import Plugin


def plugin_in(error: BaseException) -> str:
    """The innermost plugin whose code was running; empty when it was none."""
    found = ""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        owner = frame.f_locals.get("self")
        if isinstance(owner, Plugin):
            found = owner.name
    return found
