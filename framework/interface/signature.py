"""What equal pods have in common."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec.structs import astuple

from framework.interface.node_info import PodInfo

_encode: Final = msgspec.msgpack.Encoder().encode


def signature(pod: PodInfo) -> bytes:
    """Everything of a pod that a fragment may read: not its name, its uid, times, conditions, and not its nomination.

    A pod that preempted others comes back with one, and is then like the others still.
    """
    metadata, status = pod.pod.metadata, pod.pod.status
    return _encode(
        (
            metadata.namespace,
            metadata.labels,
            metadata.annotations,
            metadata.owner_references,
            metadata.finalizers,
            metadata.deletion_timestamp,
            astuple(pod.pod.spec),
            status.container_statuses,
            status.init_container_statuses,
            status.resources,
            status.allocated_resources,
            status.resource_claim_statuses,
        )
    )
