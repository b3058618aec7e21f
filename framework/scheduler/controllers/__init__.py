"""What other controllers of a real cluster would do at once, so that a simulated cluster does not stand still.

Each module is a controller or a few that belong together; the table below is all there are, in the order in which they
hear of a change. They run synchronously: a write that sets them off returns when they are done.
"""

from __future__ import annotations

from typing import Final

from framework.scheduler.controllers.api import ControlledCluster, Controller
from framework.scheduler.controllers.claims import control_claims

__all__ = ["CONTROLLERS", "ControlledCluster", "Controller"]

CONTROLLERS: Final[tuple[Controller, ...]] = (control_claims,)
