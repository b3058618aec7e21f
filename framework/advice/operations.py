"""Operations of a remedy, done to a cluster: on a copy while trying, on a fork when somebody wants to see it."""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec
from msgspec.structs import replace

from framework.objects import KubeObject, Pod
from framework.objects.decode import decode_manifest, to_manifest
from framework.objects.pod import PodStatus
from framework.objects.pod_updates import is_update
from framework.reading.kept_seals import with_kept_seals
from framework.scheduler import Cluster, NotFound

Verb = Literal["add", "replace", "delete", "remove", "wait"]
WAIT: Final = "wait"


class Operation(msgspec.Struct, frozen=True):
    """``manifest`` is the object to add or to put in place; of a deletion it names the object; of ``wait`` it is how
    many ``seconds`` pass on the run's clock, in which pods are tried again that wait longer than five minutes.

    A run makes pods of controllers anew when they are deleted, but not those that are removed: they would take the
    room again that they are to make.
    """

    verb: Verb
    manifest: dict[str, Any]


def operation(verb: Verb, obj: KubeObject) -> Operation:
    manifest = to_manifest(obj)
    if verb in ("delete", "remove"):
        named = {key: manifest["metadata"][key] for key in ("namespace", "name") if key in manifest["metadata"]}
        manifest = {"apiVersion": manifest["apiVersion"], "kind": manifest["kind"], "metadata": named}
    return Operation(verb, manifest)


def perform(cluster: Cluster, asked: Operation) -> None:
    """Raises ObjectError for a manifest that cannot be read, NotFound, AlreadyExists. Time is not the cluster's: a
    ``wait`` is done by whoever plays.

    An object that is replaced keeps its identity, a pod also its status. A pod that no update can change so is deleted
    and made anew, as its owner would have to. Its volumes stay what they are where they are as they are shown.
    """
    obj = decode_manifest(asked.manifest)
    if asked.verb == "add":
        cluster.create_admitted(obj)
        return
    known = cluster.find(obj)
    if known is None:
        raise NotFound(f"{obj.kind} {obj.key} not found")
    if asked.verb in ("delete", "remove"):
        cluster.delete(known)
        return
    obj = with_kept_seals(known, obj)
    kept = replace(obj.metadata, uid=known.metadata.uid, creation_timestamp=known.metadata.creation_timestamp)
    changed = replace(obj, metadata=kept)
    if isinstance(changed, Pod) and isinstance(known, Pod):
        if not is_update(known, changed):
            status = known.status if known.spec.node_name else PodStatus(phase="Pending")
            cluster.make_anew(known, replace(changed, status=status))
            return
        changed = replace(changed, status=known.status)
    cluster.replace(changed)
