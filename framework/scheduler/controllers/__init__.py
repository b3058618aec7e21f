"""What other controllers of a real cluster would do at once, so that a simulated cluster does not stand still.

Each module is a controller or a few that belong together; the table below is all there are, in the order in which they
hear of a change. They run synchronously: a write that sets them off returns when they are done.
"""

from __future__ import annotations

from typing import Final

from framework.objects import KubeObject, Node, Pod
from framework.scheduler.controllers.api import ControlledCluster, Controller
from framework.scheduler.controllers.claims import control_claims
from framework.scheduler.controllers.volumes import (
    bind_what_comes,
    bind_what_was_decided,
    keep_ephemeral_claims,
    make_volumes_available,
    reclaim_volumes,
)

__all__ = ["CONTROLLERS", "DECIDED_ONLY", "OF_CHANGES", "ControlledCluster", "Controller", "concerns_controllers"]

CONTROLLERS: Final[tuple[Controller, ...]] = (
    control_claims,
    keep_ephemeral_claims,
    make_volumes_available,
    bind_what_was_decided,
    reclaim_volumes,
)
OF_CHANGES: Final[tuple[Controller, ...]] = (bind_what_comes,)
"""Those that leave alone what is there when a run begins."""
DECIDED_ONLY: Final[tuple[Controller, ...]] = (control_claims, bind_what_was_decided)
"""For decisions one by one, as the recorded ones of kube-scheduler were made: volumes are bound as it decided, nothing
else happens to them."""


def concerns_controllers(obj: KubeObject) -> bool:
    """False: none of CONTROLLERS does anything about an object that is there when a run begins."""
    if isinstance(obj, Pod):
        spec = obj.spec
        return (
            bool(spec.resource_claims)
            or obj.status.extended_resource_claim_status is not None
            or any(volume.ephemeral is not None for volume in spec.volumes)
        )
    return not isinstance(obj, Node)
