"""Names and uids that an API server draws at random. Ours follow from what they are for: replays repeat them."""

from __future__ import annotations

import hashlib
from typing import Final

_ALPHABET: Final = "bcdfghjklmnpqrstvwxz2456789"
"""Of generated names (upstream: apimachinery/pkg/util/rand)."""
_SUFFIX: Final = 5
_LONGEST_BASE: Final = 58
"""Names have up to 63 characters (upstream: apiserver/pkg/storage/names)."""


def generated_uid(*parts: str) -> str:
    digits = _digits(parts)
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:32]))


def generated_name(base: str, *parts: str) -> str:
    """``base`` shortened to fit, and five characters that ``parts`` decide."""
    number = int(_digits((base, *parts)), 16)
    suffix = ""
    for _ in range(_SUFFIX):
        number, digit = divmod(number, len(_ALPHABET))
        suffix += _ALPHABET[digit]
    return base[:_LONGEST_BASE] + suffix


def _digits(parts: tuple[str, ...]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
