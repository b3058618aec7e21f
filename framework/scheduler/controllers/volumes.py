"""What the PersistentVolume, provisioner and ephemeral-volume controllers do about claims, at once.

After the scheduler's PreBind wrote a volume's claimRef or a claim's selected node, the claim is bound or provisioned.
Claims that a user adds during a run are bound as in a real cluster, too: a matching volume that is there, else one that
the class's provisioner makes. What a snapshot holds unbound stays as it is: nobody knows why it was.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from framework.objects import CSINode, Node, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass
from framework.objects.affinity import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from framework.objects.claims import (
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    NO_PROVISIONER,
    PROVISIONED_BY,
    SELECTED_NODE,
    STORAGE,
    WAIT_FOR_FIRST_CONSUMER,
    capacity_quantity,
    class_of_claim,
    class_of_volume,
    is_bound_to,
    is_fully_bound,
    requested_quantity,
    requested_storage,
)
from framework.objects.csi_migration import plugin_named
from framework.objects.metadata import ObjectMeta, OwnerReference
from framework.objects.storage import (
    CSIPersistentVolumeSource,
    ObjectReference,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
    VolumeNodeAffinity,
)
from framework.scheduler.controllers.api import ControlledCluster
from framework.scheduler.informer import InformerEvent, ObjectAdded, ObjectDeleted, ObjectUpdated
