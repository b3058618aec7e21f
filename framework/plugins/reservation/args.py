"""Reservation's arguments (docs/koordinator.md#reservation)."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta

from framework.configuration.catalogue import PluginArgs
from framework.configuration.types import Int64
from framework.sentences import noted

DAY: Final = 86_400


class ReservationArgs(PluginArgs, frozen=True):
    default_ttl_seconds: Annotated[
        Int64,
        Meta(
            ge=0,
            le=10 * 366 * DAY,
            description=noted(
                "After how many seconds a Reservation expires that names neither ttl nor expires. 0: never."
            ),
        ),
    ] = DAY
