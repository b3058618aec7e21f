"""Checkpoints: the player and its pace between two cycles, pickled and compressed.

They are made and read by the same program only, and come from our own database; one of another engine version is left
out by the supervisor.
"""

from __future__ import annotations

import pickle

import zstandard

from schedweb.engine.pace import Pace
from schedweb.engine.player import Player

LEVEL = 3


def save_checkpoint(player: Player, pace: Pace) -> bytes:
    """After a batch was taken, so that nothing in it is told again."""
    content = pickle.dumps((player, pace), protocol=pickle.HIGHEST_PROTOCOL)
    return zstandard.ZstdCompressor(level=LEVEL).compress(content)


def load_checkpoint(blob: bytes) -> tuple[Player, Pace]:
    content = zstandard.ZstdDecompressor().decompress(blob)
    player, pace = pickle.loads(content)
    assert isinstance(player, Player)
    assert isinstance(pace, Pace)
    return player, pace
