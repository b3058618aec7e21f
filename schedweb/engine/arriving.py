"""What comes to a run by itself at its time: of its snapshot's timeline, and of the cluster that a fork left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from framework.sentences import sentence
from schedweb.engine.world import Refused

if TYPE_CHECKING:
    from schedweb.engine.player import Player


def arrive(player: Player) -> None:
    """The next, which is due."""
    if player.later is not None and player.later.next == player.next_arrival:
        player.later.arrive(player)
        return
    entry = player.timeline[player.arrived]
    player.arrived += 1
    try:
        if entry.delete:
            metadata = entry.manifest.get("metadata", {})
            found = player.world.cluster.find_unstructured(
                str(entry.manifest.get("apiVersion", "v1")),
                str(entry.manifest.get("kind", "Pod")),
                str(metadata.get("namespace", "")),
                str(metadata.get("name", "")),
            )
            if found is not None:
                player.world.delete(found)
        else:
            player.create(entry.manifest)
    except Refused as error:
        # The timeline goes on, as the cluster it was taken from did.
        player.projection.feed.line(player.now, "engine", sentence("An arrival was refused: {why}", why=error.words))
