"""What may be set of a scheduler beside its configuration: what is kept and repeated, and whether that is verified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from framework.cycle.repetition import RepeatRule
from framework.objects.timestamps import SECOND
from framework.profiles import ReuseRule

DEFAULT_MAX_IN_UNSCHEDULABLE: Final = 300 * SECOND


@dataclass(frozen=True, slots=True)
class SchedulerOptions:
    max_in_unschedulable: int | None = DEFAULT_MAX_IN_UNSCHEDULABLE
    """Nanoseconds after which a pod that nothing has woken is tried again; None: never."""
    repeats: RepeatRule = "used"
    reuse: ReuseRule = "used"
    sends_secrets: bool = True
    """To extenders, of volumes of pods: names of Secrets, attributes of drivers and the like, as kube-scheduler sends
    them; False: where they would leave a server."""
    takes_first_fit: bool = True
    """A profile without Score plugins takes the first feasible node; else it looks at all and breaks the tie."""
    verify_reuse: int = 0
    """Every how many cycles what was reused is compared with what plugins say anew (ReuseDiffers); 0: never."""


DEFAULT: SchedulerOptions = SchedulerOptions()
"""Of schedulers that are given none. The tests replace it by one that verifies (``tests/conftest.py``)."""
