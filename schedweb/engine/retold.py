"""A fork of a run whose past went begins with its parent's machine, and nothing of it is stored yet: all is told."""

from __future__ import annotations

from framework.objects import Node, Pod
from schedweb.engine.player import Player


def tell_all(player: Player) -> None:
    """As if all that the machine holds had changed since the last batch."""
    projection = player.projection
    for view in projection.views.values():
        if view.column == "bound":
            projection.unwritten[view.uid] = None  # a few thousand with each batch
        else:
            projection.dirty[view.uid] = view
    projection.objects_changed.update(projection.views)
    for obj in projection.cluster.all():
        if not isinstance(obj, Pod | Node):
            projection.object_changed(None, obj)
    projection.evictions.budgets_changed()
    made = (*projection.open_decisions.values(), *projection.approved_evictions.values())
    projection.decisions.update((each.number, each) for each in made)
    table = projection.nodes
    table.dirty.update((view.row, view) for view in table.views.values())
    table.objects_changed.update(table.views)
    table.topology_changed = True
    projection.usage.start(player.recorded + 1)
    if player.own is not None:
        player.own.beside.told.update((each.uid, each) for each in player.own.beside.pods.values() if each is not None)
