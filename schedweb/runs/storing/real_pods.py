"""What stands beside a world of our own: the pods of the real cluster that may be elsewhere there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from schedweb.engine.real_rows import RealPodRow
from schedweb.runs.models import RealPodRecord
from schedweb.runs.storing.upserts import upsert


def store_real_pods(run_key: Any, rows: Sequence[RealPodRow]) -> None:
    """In the transaction of their batch. One that is gone stays, as its record in the run does."""
    columns = ("run", *RealPodRow.__struct_fields__)
    upsert(RealPodRecord, columns, ("run", "uid"), [(run_key, *msgspec.structs.astuple(row)) for row in rows])
