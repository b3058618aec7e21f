"""`<run:run>` in an address: a run's id, or `id@position` for the run as it was there."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True)
class MomentRef:
    """A run at a position; everything that reads a run reads a moment by the same address."""

    run: UUID
    position: int

    def __str__(self) -> str:
        return f"{self.run}@{self.position}"


RunKey = UUID | MomentRef


def run_of(key: RunKey) -> UUID:
    return key.run if isinstance(key, MomentRef) else key


class RunConverter:
    regex = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:@[0-9]{1,15})?"

    def to_python(self, value: str) -> RunKey:
        run, at, position = value.partition("@")
        return MomentRef(UUID(run), int(position)) if at else UUID(run)

    def to_url(self, value: RunKey) -> str:
        return str(value)
