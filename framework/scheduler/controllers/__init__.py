"""What other controllers of a real cluster would do at once, so that a simulated cluster does not stand still.

Each module is a controller or a few that belong together; the table below is all there are, in the order in which they
hear of a change. They run synchronously: a write that sets them off returns when they are done.
"""

from __future__ import annotations

from typing import Final

from framework.objects import (
    KubeObject,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    ResourceClaim,
    ResourceClaimTemplate,
    StorageClass,
)
from framework.objects.reservations import Reservation
from framework.scheduler.controllers.api import ControlledCluster, Controller
from framework.scheduler.controllers.claims import control_claims, give_claims_back
from framework.scheduler.controllers.reservations import expire_reservations, keep_reservations, next_expiry
from framework.scheduler.controllers.volumes import (
    bind_what_comes,
    bind_what_was_decided,
    keep_ephemeral_claims,
    make_volumes_available,
    reclaim_volumes,
)
from framework.scheduler.controllers.workloads import (
    dependents,
    is_workload,
    made_of,
    make_again,
    replacement,
    workload_in,
)
from framework.scheduler.store import ObjectAdded, ObjectDeleted, ObjectEvicted, ObjectUpdated

__all__ = [
    "CONTROLLERS",
    "DECIDED_ONLY",
    "OF_CHANGES",
    "OF_OWN_DECISIONS",
    "OF_RESERVATIONS",
    "OF_STORAGE",
    "ControlledCluster",
    "Controller",
    "concerns_controllers",
    "dependents",
    "expire_reservations",
    "is_workload",
    "made_of",
    "next_expiry",
    "replacement",
    "workload_in",
]

_CLAIMS: Final = Controller(control_claims, (Pod, ResourceClaim, ResourceClaimTemplate))
_DECIDED: Final = Controller(bind_what_was_decided, (PersistentVolume, PersistentVolumeClaim), (ObjectUpdated,))
OF_STORAGE: Final[tuple[Controller, ...]] = (
    _CLAIMS,
    Controller(keep_ephemeral_claims, (Pod,), (ObjectAdded, ObjectDeleted)),
    Controller(make_volumes_available, (PersistentVolume,), (ObjectAdded,)),
    _DECIDED,
    Controller(reclaim_volumes, (PersistentVolumeClaim,), (ObjectDeleted,)),
)
"""All but those of workloads: evicted pods stay away."""
OF_RESERVATIONS: Final = Controller(keep_reservations, (Reservation, Pod, Node))
"""Only hears of anything where a profile keeps reservations (``Cluster.reserve_for``)."""
CONTROLLERS: Final[tuple[Controller, ...]] = (
    *OF_STORAGE,
    Controller(make_again, (Pod,), (ObjectEvicted,)),
    OF_RESERVATIONS,
)
OF_CHANGES: Final[tuple[Controller, ...]] = (
    Controller(bind_what_comes, (PersistentVolume, PersistentVolumeClaim, StorageClass), (ObjectAdded, ObjectUpdated)),
)
"""Those that leave alone what is there when a run begins."""
DECIDED_ONLY: Final[tuple[Controller, ...]] = (_CLAIMS, _DECIDED)
"""For decisions one by one, as the recorded ones of kube-scheduler were made: volumes are bound as it decided, nothing
else happens to them."""
OF_OWN_DECISIONS: Final[tuple[Controller, ...]] = (
    _DECIDED,
    Controller(give_claims_back, (Pod,), (ObjectDeleted,)),
    Controller(reclaim_volumes, (PersistentVolumeClaim,), (ObjectDeleted,)),
)
"""Where a real cluster brings all else: what the scheduler decided about claims is carried out and given back."""


def concerns_controllers(obj: KubeObject) -> bool:
    """False: none of CONTROLLERS does anything about an object that is there when a run begins."""
    if isinstance(obj, Pod):
        spec = obj.spec
        if spec.resource_claims or obj.status.extended_resource_claim_status is not None:
            return True
        for volume in spec.volumes:  # noqa: SIM110 (asked about every pod: a generator costs three times as much)
            if volume.ephemeral is not None:
                return True
        return False
    return True
