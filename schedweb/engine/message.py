"""What goes through the pipe between an engine and its worker (frames.py, asked.py) has in common."""

from __future__ import annotations

import msgspec


class Message(msgspec.Struct, frozen=True, tag_field="type"):
    pass
