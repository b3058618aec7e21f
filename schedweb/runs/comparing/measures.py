"""A run's cluster in numbers: how full nodes are, what still fits, how even zones are, and how long pods wait.

Pure functions over arrays of shape (nodes, resources); ``used`` is what bound pods and reservations take together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Amounts = NDArray[np.int64]
GPU_SIZES: Final = (1, 2, 4, 8)


def is_gpu(resource: str) -> bool:
    return resource.endswith("/gpu")


def used_shares(allocatable: Amounts, used: Amounts) -> NDArray[np.float64]:
    """Of one resource, per node that has any of it."""
    having = allocatable > 0
    shares: NDArray[np.float64] = used[having] / allocatable[having]
    return shares


def resource_spread(name: str, allocatable: Amounts, used: Amounts) -> dict[str, Any]:
    """Mean, standard deviation (of all nodes, not of a sample) and maximum of the nodes' shares in use."""
    shares = used_shares(allocatable, used)
    total = int(allocatable.sum())
    return {
        "name": name,
        "nodes": len(shares),
        "allocatable": total,
        "used": int(used.sum()),
        "share": float(used.sum() / total) if total else None,
        "mean": float(shares.mean()) if len(shares) else None,
        "deviation": float(shares.std()) if len(shares) else None,
        "highest": float(shares.max()) if len(shares) else None,
    }


def largest_fit(names: Sequence[str], free: Amounts, open_: NDArray[np.bool_]) -> dict[str, Any]:
    """The largest request of one resource that a node still has room for, and all that is free. Cordoned: not open."""
    room = np.where(open_, np.maximum(free, 0), 0)
    place = int(room.argmax()) if len(room) else 0
    largest = int(room[place]) if len(room) else 0
    return {"free": int(room.sum()), "largest": largest, "largest_node": names[place] if largest else ""}


def islands(free: Amounts, slots: Amounts, open_: NDArray[np.bool_]) -> dict[str, Any]:
    """GPUs of one kind: how many nodes have how many free, and how many pods of 1, 2, 4, 8 still fit.

    ``slots``: how many more pods a node may have. A node without a slot offers nothing, whatever is free on it.
    """
    room = np.where(open_, np.maximum(free, 0), 0)
    slots = np.where(open_, np.maximum(slots, 0), 0)
    sizes, nodes = np.unique(room[room > 0], return_counts=True)
    return {
        "nodes": [{"free": int(size), "nodes": int(count)} for size, count in zip(sizes, nodes, strict=True)],
        "fits": [{"gpus": size, "pods": int(np.minimum(room // size, slots).sum())} for size in GPU_SIZES],
    }


def zones(
    names: Sequence[str], zone: Sequence[str], resources: Sequence[str], allocatable: Amounts, used: Amounts
) -> list[dict[str, Any]]:
    """Per zone, by name: nodes, and the share in use of every resource that the zone has. ``names`` only counts."""
    assert len(names) == len(zone)
    where = np.array(zone, dtype=object)
    found = []
    for name in sorted(set(zone)):
        chosen = where == name
        have, taken = allocatable[chosen].sum(axis=0), used[chosen].sum(axis=0)
        shares = [
            {"name": resource, "share": float(taken[place] / have[place])}
            for place, resource in enumerate(resources)
            if have[place] > 0
        ]
        found.append({"name": name, "nodes": int(chosen.sum()), "shares": shares})
    return found


def imbalance(found: Sequence[dict[str, Any]], resource: str) -> float | None:
    """The fullest zone's share less the emptiest's; None with fewer than two zones."""
    shares = [each["share"] for zone in found for each in zone["shares"] if each["name"] == resource]
    return max(shares) - min(shares) if len(shares) > 1 else None


def quantile(ascending: Sequence[int], share: float) -> int:
    """The smallest value that at least ``share`` of the values do not exceed (nearest rank)."""
    return ascending[max(0, -int(-share * len(ascending) // 1) - 1)]


def waiting_times(nanoseconds: Sequence[int]) -> dict[str, Any]:
    ordered = sorted(nanoseconds)
    if not ordered:
        return {"count": 0, "p50": None, "p95": None, "longest": None}
    return {
        "count": len(ordered),
        "p50": quantile(ordered, 0.5) / 1e9,
        "p95": quantile(ordered, 0.95) / 1e9,
        "longest": ordered[-1] / 1e9,
    }
