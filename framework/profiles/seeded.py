"""The run's pseudo-random numbers: SplitMix64, whose whole state is one integer that a checkpoint can hold."""

from __future__ import annotations

from typing import Final

_MASK: Final = (1 << 64) - 1


class SeededGenerator:
    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK

    def next(self) -> int:
        """64 bits. The constants are those of Steele, Lea and Flood (OOPSLA 2014)."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        z = self._state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def below(self, n: int) -> int:
        """0 ≤ result < n, every value equally likely."""
        if n <= 0:
            raise ValueError(f"below({n})")
        limit = (1 << 64) - (1 << 64) % n
        while (value := self.next()) >= limit:
            pass
        return value % n
