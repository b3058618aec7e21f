"""Leaving extenders out of what is tried out: nobody asks them there (docs/extenders.md#what-is-kept)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from framework.extenders import EXTENDER, Answer, Request
from framework.scheduler import Scheduler

LEFT_OUT: Final = Answer(error="nobody asks it here")


def leave_out_extenders(scheduler: Scheduler) -> None:
    """``scheduler`` goes on as if its configuration named none, also where an attempt waits for one.

    Those that have answered in the attempt under way have had their say; of the others each is passed over, as an
    ignorable one that fails is.
    """
    core = scheduler.core
    for extender in core.services.extenders:
        # An attempt under way keeps the list that it began with.
        extender.configured = replace(extender.configured, ignorable=True)
    core.services.extenders = ()
    core.answerer = _nobody
    while requests := scheduler.asks:
        scheduler.answer(_nobody(requests))


def try_again_without(scheduler: Scheduler) -> None:
    """Pods that an extender refused wait for events that could change its mind: nothing has to happen for them now."""
    queue = scheduler.core.queue
    refused = (each.pod for each in queue.unschedulable() if EXTENDER in each.unschedulable_plugins)
    queue.activate(list(refused), scheduler.now)


def _nobody(requests: Sequence[Request]) -> list[Answer]:
    return [LEFT_OUT] * len(requests)
