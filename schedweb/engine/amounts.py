"""Amounts of resources for people: cpu in cores or milli-cores, memory in binary units, the rest as numbers.

Integers are the scheduler's: cpu in thousandths, memory and storage in bytes.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

BINARY: Final = ((1 << 40, "Ti"), (1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki"))


def in_bytes(resource: str) -> bool:
    return resource in ("memory", "ephemeral-storage", "storage") or resource.startswith("hugepages-")


@lru_cache(maxsize=1 << 12)
def amount_text(resource: str, amount: int) -> str:
    sign, size = ("-", -amount) if amount < 0 else ("", amount)
    if resource == "cpu":
        return f"{sign}{size // 1000}" if size % 1000 == 0 else f"{sign}{size}m"
    if in_bytes(resource):
        for unit, letters in BINARY:
            if size >= unit:
                scaled = size / unit
                text = f"{scaled:.0f}" if size % unit == 0 or scaled >= 100 else f"{scaled:.1f}"
                return f"{sign}{text}{letters}"
    return f"{sign}{size}"
