"""The order of the scheduling queue, from the profiles' QueueSort plugin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from framework.interface.plugin import QueueSortPlugin
from framework.profiles.profile import Profile
from framework.queue.queued_pod import QueueOrder


def queue_order(profiles: Mapping[str, Profile]) -> QueueOrder:
    """All profiles have the same QueueSort plugin."""
    plugin = next(iter(profiles.values())).queue_sort
    # A subclass that has a ``less`` of its own does not sort by the key it inherits.
    owner = next(each for each in type(plugin).__mro__ if "less" in vars(each) or "sort_key" in vars(each))
    keyed = owner is not QueueSortPlugin and "sort_key" in vars(owner)
    return QueueOrder(cast(Any, plugin.less), cast(Any, plugin.sort_key) if keyed else None)
