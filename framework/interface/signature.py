"""What equal pods have in common."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec.structs import replace

from framework.interface.node_info import PodInfo
from framework.objects.pod import PodSpec, Volume

_encode: Final = msgspec.msgpack.Encoder().encode
_TOKEN: Final = "kube-api-access-"
_TOKEN_LENGTH: Final = len(_TOKEN) + 5


def signature(pod: PodInfo) -> bytes:
    """Everything of a pod that a fragment may read: not its name, its uid, times, conditions, and not its nomination.

    A pod that preempted others comes back with one, and is then like the others still. Neither is the end of the name
    of the volume with its token, which the API server draws at random: replicas differ in nothing else.
    """
    spec = pod.pod.spec
    for volume in spec.volumes:
        if volume.name.startswith(_TOKEN):
            spec = replace(spec, volumes=tuple([_without_end(each) for each in spec.volumes]))
            break
    return _signature(pod, spec)


def exact_signature(pod: PodInfo) -> bytes:
    """``signature`` with the names of all volumes: for code that may look at anything."""
    return _signature(pod, pod.pod.spec)


def _without_end(volume: Volume) -> Volume:
    name = volume.name
    if not name.startswith(_TOKEN) or len(name) != _TOKEN_LENGTH:
        return volume
    # Of one that an older version stored, no source was kept.
    bare = replace(volume, name="", projected=None)
    return replace(volume, name=_TOKEN) if bare == _NOTHING else volume


_NOTHING: Final = Volume()


def _signature(pod: PodInfo, spec: PodSpec) -> bytes:
    metadata, status = pod.pod.metadata, pod.pod.status
    return _encode(
        (
            metadata.namespace,
            metadata.labels,
            metadata.annotations,
            metadata.owner_references,
            metadata.finalizers,
            metadata.deletion_timestamp,
            spec,
            status.qos_class,
            status.container_statuses,
            status.init_container_statuses,
            status.resources,
            status.allocated_resources,
            status.resource_claim_statuses,
        )
    )
