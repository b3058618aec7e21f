"""What the pages show of a moment: the same rows that a live run stores, all of them, in one compressed blob."""

from __future__ import annotations

from typing import Final

import msgspec
import zstandard

from framework.objects import Node, Pod
from schedweb.engine.batch import Gatherer
from schedweb.engine.frames import NodeRow, ObjectRow, PodRow
from schedweb.engine.player import Player
from schedweb.engine.projection import SHOWN_KINDS, object_key
from schedweb.engine.shapes import QueueName

_LARGEST: Final = 4 * 1024**3


class MomentView(msgspec.Struct, frozen=True):
    """Texts named `*_json` are JSON as the browser gets it."""

    position: int
    clock: int
    points: int
    attempts: int
    digest: str
    counts: dict[str, int]
    columns_json: dict[QueueName, str]
    cycle_json: str
    resources: list[str]
    pods: list[PodRow]
    nodes: list[NodeRow]
    objects: list[ObjectRow]
    arrivals_left: int
    next_arrival: int | None


def view_of(player: Player) -> MomentView:
    projection, cluster = player.projection, player.world.cluster
    projection.dirty = dict(projection.views)
    projection.objects_changed = set(projection.views)
    projection.nodes.dirty = {view.row: view for view in projection.nodes.views.values()}
    projection.nodes.objects_changed = set(projection.nodes.views)
    projection.others_changed = {
        object_key(obj): obj for obj in cluster.all() if not isinstance(obj, Pod | Node) and obj.kind in SHOWN_KINDS
    }
    gatherer = Gatherer(player)
    return MomentView(
        position=player.position,
        clock=player.now,
        points=player.scheduler.points,
        attempts=player.recorded,
        digest=player.digest,
        counts=projection.board.counts(),
        columns_json=gatherer.columns(whole=True),
        cycle_json=gatherer.cycle(),
        resources=projection.nodes.resources,
        pods=gatherer.pods(),
        nodes=sorted(gatherer.nodes()[0], key=lambda row: row.row),
        objects=gatherer.objects(),
        arrivals_left=player.arrivals[0],
        next_arrival=player.next_arrival,
    )


def packed(view: MomentView) -> bytes:
    return zstandard.ZstdCompressor(level=3).compress(msgspec.msgpack.encode(view))


class MomentUnreadable(Exception):
    """Another version of this program packed it."""


def unpacked(blob: bytes) -> MomentView:
    """Raises MomentUnreadable."""
    try:
        content = zstandard.ZstdDecompressor().decompress(blob, max_output_size=_LARGEST)
        return msgspec.msgpack.decode(content, type=MomentView)
    except (zstandard.ZstdError, msgspec.DecodeError) as error:
        raise MomentUnreadable(str(error)) from error
