"""Pods that other weights would move: the answer's figures, and its rows as a blob to be read in windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import zstandard

from framework.advice import Elsewhere, Estimate
from schedweb.engine.names import split_name

WORKLOADS: Final = 50
_LARGEST: Final = 1 << 30
_ROWS: Final = msgspec.msgpack.Decoder(list[Elsewhere])


def packed_rows(rows: Sequence[Elsewhere]) -> bytes:
    return zstandard.ZstdCompressor(level=3).compress(msgspec.msgpack.encode(rows))


def unpacked_rows(blob: bytes) -> list[Elsewhere]:
    return _ROWS.decode(zstandard.ZstdDecompressor().decompress(blob, max_output_size=_LARGEST))


def figures(estimate: Estimate) -> dict[str, Any]:
    """``elsewhere``: for certain; ``open``: equally good nodes, of which the seed would choose."""
    workloads: dict[tuple[str, str], list[int]] = {}
    for row in estimate.moved:
        namespace, _, name = row.pod.partition("/")
        counts = workloads.setdefault((namespace, split_name(name)[0]), [0, 0])
        counts[row.stays_possible] += 1
    most = sorted(workloads.items(), key=lambda item: (-item[1][0], -item[1][1], item[0]))
    open_ = sum(row.stays_possible for row in estimate.moved)
    return {
        "attempts": estimate.attempts,
        "unscored": estimate.unscored,
        "same": estimate.same,
        "elsewhere": len(estimate.moved) - open_,
        "open": open_,
        "workload_count": len(most),
        "workloads": [
            {"namespace": namespace, "workload": workload, "elsewhere": elsewhere, "open": open_here}
            for (namespace, workload), (elsewhere, open_here) in most[:WORKLOADS]
        ],
    }
