"""Integer arrays as bytes: the narrowest type that holds them, whole or as what differs from a reference.

Frames are msgpack-able lists, so that a chunk of attempts is one document that zstandard compresses at once.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Packed = list[Any]
"""[type code, bytes], or [CONSTANT, value, length], or [LISTED, numbers]."""

CONSTANT: Final = "="
LISTED: Final = ","
SHORT: Final = 64
_TYPES: Final = {code: np.dtype(f"<{code}") for code in "bhiq"}
_LIMITS: Final = (("b", 1 << 7), ("h", 1 << 15), ("i", 1 << 31))


def pack(values: NDArray[Any], limits: tuple[int, int] | None = None) -> Packed:
    """``limits``: lowest and highest, if known."""
    if len(values) == 0:
        return ["b", b""]
    low, high = limits or (int(np.minimum.reduce(values)), int(np.maximum.reduce(values)))
    if low == high:
        return [CONSTANT, low, len(values)]
    for code, limit in _LIMITS:
        if -limit <= low and high < limit:
            return [code, values.astype(_TYPES[code], copy=False).tobytes()]
    return ["q", values.astype(_TYPES["q"], copy=False).tobytes()]


def pack_list(values: list[int]) -> Packed:
    """Numbers that are few: nothing is gained by looking at how large they are."""
    return [LISTED, values] if len(values) <= SHORT else pack(np.array(values, dtype=np.int64))


def unpack(packed: Packed) -> Ints:
    if packed[0] == CONSTANT:
        return np.full(packed[2], packed[1], dtype=np.int64)
    if packed[0] == LISTED:
        return np.array(packed[1], dtype=np.int64)
    return np.frombuffer(packed[1], dtype=_TYPES[packed[0]]).astype(np.int64)
