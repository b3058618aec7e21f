"""Texts of rows in few bytes: compressed with a dictionary of what a cluster's rows have in common.

A pod's manifest, its card and its facts are a few hundred bytes each, most of them the same for all pods of a workload
and for all runs of a snapshot. What is the same stands in the dictionary, once; a row keeps what is its own.

A packed text is a zstd frame, whose header names its dictionary, or none; or it is the JSON itself, as earlier versions
stored it. So each can be read by itself, whoever wrote it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

import zstandard

MAGIC: Final = b"\x28\xb5\x2f\xfd"
LEVEL: Final = 3
SIZE: Final = 64 * 1024
"""Of a dictionary; larger ones help little."""
LEAST_TEXTS: Final = 600
"""Fewer than these are not worth a dictionary."""
MOST_TEXTS: Final = 2_000
PRIVATE: Final = 1 << 15
MOST: Final = (1 << 31) - 1
"""Numbers of dictionaries that are nobody else's, as zstd has it."""


@dataclass(frozen=True)
class Dictionary:
    number: int
    data: bytes


def trained(texts: Sequence[bytes], taken: Collection[int] = (), *, whole: bytes = b"") -> Dictionary | None:
    """Of the texts evenly. None where they are too few, or have nothing in common. ``taken``: numbers of others.
    ``whole``: what is in it as it is: training leaves out what few of the texts have."""
    if len(texts) < LEAST_TEXTS:
        return None
    step = -(-len(texts) // MOST_TEXTS)
    try:
        made = zstandard.train_dictionary(SIZE, list(texts[::step]), k=200, d=8, dict_id=PRIVATE).as_bytes()
    except zstandard.ZstdError:
        return None
    made += whole
    number = int.from_bytes(hashlib.blake2b(made, digest_size=4).digest(), "little") % (MOST - PRIVATE) + PRIVATE
    while number in taken:
        number = number + 1 if number < MOST else PRIVATE
    # Bytes 4 to 7 of a dictionary are its number.
    return Dictionary(number, made[:4] + number.to_bytes(4, "little") + made[8:])


class Unpacked:
    """For what is compressed as a whole: texts stay as they are."""

    def pack(self, text: bytes) -> bytes:
        return text


class Packer(Unpacked):
    """Without a dictionary each text is compressed by itself."""

    def __init__(self, dictionary: Dictionary | None = None) -> None:
        self.compressor = zstandard.ZstdCompressor(level=LEVEL)
        if dictionary is not None:
            known = zstandard.ZstdCompressionDict(dictionary.data)
            known.precompute_compress(level=LEVEL)
            self.compressor = zstandard.ZstdCompressor(dict_data=known, level=LEVEL)

    def pack(self, text: bytes) -> bytes:
        return self.compressor.compress(text)


def dictionary_number(packed: bytes) -> int:
    """0: none."""
    return zstandard.get_frame_parameters(packed).dict_id if packed[:4] == MAGIC else 0
