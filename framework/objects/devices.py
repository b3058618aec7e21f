"""Dynamic resource allocation (resource.k8s.io/v1): device classes, slices of devices, and claims for them."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from msgspec import field

from framework.objects.affinity import NodeSelector
from framework.objects.metadata import KubernetesObject, Manifest, ObjectMeta, RawQuantity

CLAIM_FINALIZER: Final = "resource.kubernetes.io/delete-protection"
EXTENDED_RESOURCE_CLAIM_ANNOTATION: Final = "resource.kubernetes.io/extended-resource-claim"
POD_CLAIM_NAME_ANNOTATION: Final = "resource.kubernetes.io/pod-claim-name"
DEVICE_CLASS_RESOURCE_PREFIX: Final = "deviceclass.resource.kubernetes.io/"
ALLOCATION_RESULTS_MAX_SIZE: Final = 32
"""So many devices the API lets one allocation name."""
FIRST_AVAILABLE_MAX_SIZE: Final = 8
"""So many alternatives the API lets one request have."""
EXACT_COUNT: Final = "ExactCount"
ALL_DEVICES: Final = "All"

# --- devices --------------------------------------------------------------------------------------------------------


class DeviceAttribute(Manifest, frozen=True, kw_only=True):
    """Exactly one is set. The lists need the feature gate DRAListTypeAttributes."""

    int_value: int | None = field(name="int", default=None)
    bool_value: bool | None = field(name="bool", default=None)
    string_value: str | None = field(name="string", default=None)
    version_value: str | None = field(name="version", default=None)
    int_values: tuple[int, ...] = field(name="ints", default=())
    bool_values: tuple[bool, ...] = field(name="bools", default=())
    string_values: tuple[str, ...] = field(name="strings", default=())
    version_values: tuple[str, ...] = field(name="versions", default=())


class CapacityRequestPolicyRange(Manifest, frozen=True, kw_only=True):
    min: RawQuantity | None = None
    max: RawQuantity | None = None
    step: RawQuantity | None = None


class CapacityRequestPolicy(Manifest, frozen=True, kw_only=True):
    default: RawQuantity | None = None
    valid_values: tuple[RawQuantity, ...] = ()
    valid_range: CapacityRequestPolicyRange | None = None


class DeviceCapacity(Manifest, frozen=True, kw_only=True):
    value: RawQuantity = "0"
    request_policy: CapacityRequestPolicy | None = None


class Counter(Manifest, frozen=True, kw_only=True):
    value: RawQuantity = "0"


class CounterSet(Manifest, frozen=True, kw_only=True):
    name: str = ""
    counters: dict[str, Counter] = field(default_factory=dict)


class DeviceCounterConsumption(Manifest, frozen=True, kw_only=True):
    counter_set: str = ""
    counters: dict[str, Counter] = field(default_factory=dict)


class DeviceTaint(Manifest, frozen=True, kw_only=True):
    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: str | None = None


class DeviceToleration(Manifest, frozen=True, kw_only=True):
    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class NodeAllocatableResourceMapping(Manifest, frozen=True, kw_only=True):
    capacity_key: str | None = None
    allocation_multiplier: RawQuantity | None = None


class Device(Manifest, frozen=True, kw_only=True):
    name: str = ""
    attributes: dict[str, DeviceAttribute] = field(default_factory=dict)
    capacity: dict[str, DeviceCapacity] = field(default_factory=dict)
    consumes_counters: tuple[DeviceCounterConsumption, ...] = ()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    taints: tuple[DeviceTaint, ...] = ()
    binds_to_node: bool | None = None
    # Absent and empty differ: a pool with any list of conditions is looked at last.
    binding_conditions: tuple[str, ...] | None = None
    binding_failure_conditions: tuple[str, ...] | None = None
    allow_multiple_allocations: bool | None = None
    node_allocatable_resource_mappings: dict[str, NodeAllocatableResourceMapping] = field(default_factory=dict)


class ResourcePool(Manifest, frozen=True, kw_only=True):
    name: str = ""
    generation: int = 0
    resource_slice_count: int = 0


class ResourceSliceSpec(Manifest, frozen=True, kw_only=True):
    driver: str = ""
    pool: ResourcePool = ResourcePool()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    devices: tuple[Device, ...] = ()
    per_device_node_selection: bool | None = None
    shared_counters: tuple[CounterSet, ...] = ()


class ResourceSlice(KubernetesObject, frozen=True, kw_only=True):
    api_version: ClassVar[str] = "resource.k8s.io/v1"
    kind: ClassVar[str] = "ResourceSlice"
    plural: ClassVar[str] = "resourceslices"
    namespaced: ClassVar[bool] = False

    spec: ResourceSliceSpec = ResourceSliceSpec()


# --- what is asked for ----------------------------------------------------------------------------------------------


class CELDeviceSelector(Manifest, frozen=True, kw_only=True):
    expression: str = ""


class DeviceSelector(Manifest, frozen=True, kw_only=True):
    cel: CELDeviceSelector | None = None


class OpaqueDeviceConfiguration(Manifest, frozen=True, kw_only=True):
    driver: str = ""
    parameters: Any = None


class DeviceClassConfiguration(Manifest, frozen=True, kw_only=True):
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClassSpec(Manifest, frozen=True, kw_only=True):
    selectors: tuple[DeviceSelector, ...] = ()
    config: tuple[DeviceClassConfiguration, ...] = ()
    extended_resource_name: str | None = None


class DeviceClass(KubernetesObject, frozen=True, kw_only=True):
    api_version: ClassVar[str] = "resource.k8s.io/v1"
    kind: ClassVar[str] = "DeviceClass"
    plural: ClassVar[str] = "deviceclasses"
    namespaced: ClassVar[bool] = False

    spec: DeviceClassSpec = DeviceClassSpec()


class CapacityRequirements(Manifest, frozen=True, kw_only=True):
    requests: dict[str, RawQuantity] = field(default_factory=dict)


class ExactDeviceRequest(Manifest, frozen=True, kw_only=True):
    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: str = ""
    count: int = 0
    admin_access: bool | None = None
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: CapacityRequirements | None = None


class DeviceSubRequest(Manifest, frozen=True, kw_only=True):
    name: str = ""
    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: str = ""
    count: int = 0
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: CapacityRequirements | None = None


class DeviceRequest(Manifest, frozen=True, kw_only=True):
    name: str = ""
    exactly: ExactDeviceRequest | None = None
    first_available: tuple[DeviceSubRequest, ...] = ()


class DeviceConstraint(Manifest, frozen=True, kw_only=True):
    requests: tuple[str, ...] = ()
    match_attribute: str | None = None
    distinct_attribute: str | None = None


class DeviceClaimConfiguration(Manifest, frozen=True, kw_only=True):
    requests: tuple[str, ...] = ()
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClaim(Manifest, frozen=True, kw_only=True):
    requests: tuple[DeviceRequest, ...] = ()
    constraints: tuple[DeviceConstraint, ...] = ()
    config: tuple[DeviceClaimConfiguration, ...] = ()


class ResourceClaimSpec(Manifest, frozen=True, kw_only=True):
    devices: DeviceClaim = DeviceClaim()


# --- what was given -------------------------------------------------------------------------------------------------


class DeviceRequestAllocationResult(Manifest, frozen=True, kw_only=True):
    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool | None = None
    tolerations: tuple[DeviceToleration, ...] = ()
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    share_id: str | None = field(name="shareID", default=None)
    consumed_capacity: dict[str, RawQuantity] | None = None


class DeviceAllocationConfiguration(Manifest, frozen=True, kw_only=True):
    source: str = ""
    requests: tuple[str, ...] = ()
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceAllocationResult(Manifest, frozen=True, kw_only=True):
    results: tuple[DeviceRequestAllocationResult, ...] = ()
    config: tuple[DeviceAllocationConfiguration, ...] = ()


class AllocationResult(Manifest, frozen=True, kw_only=True):
    devices: DeviceAllocationResult = DeviceAllocationResult()
    node_selector: NodeSelector | None = None
    allocation_timestamp: str | None = None


class ResourceClaimConsumerReference(Manifest, frozen=True, kw_only=True):
    api_group: str = ""
    resource: str = ""
    name: str = ""
    uid: str = ""


class DeviceCondition(Manifest, frozen=True, kw_only=True):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None
    observed_generation: int = 0


class AllocatedDeviceStatus(Manifest, frozen=True, kw_only=True):
    driver: str = ""
    pool: str = ""
    device: str = ""
    share_id: str | None = field(name="shareID", default=None)
    conditions: tuple[DeviceCondition, ...] = ()
    data: Any = None
    network_data: Any = None


class ResourceClaimStatus(Manifest, frozen=True, kw_only=True):
    allocation: AllocationResult | None = None
    reserved_for: tuple[ResourceClaimConsumerReference, ...] = ()
    devices: tuple[AllocatedDeviceStatus, ...] = ()


class ResourceClaim(KubernetesObject, frozen=True, kw_only=True):
    api_version: ClassVar[str] = "resource.k8s.io/v1"
    kind: ClassVar[str] = "ResourceClaim"
    plural: ClassVar[str] = "resourceclaims"

    spec: ResourceClaimSpec = ResourceClaimSpec()
    status: ResourceClaimStatus = ResourceClaimStatus()


class ResourceClaimTemplateSpec(Manifest, frozen=True, kw_only=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceClaimSpec = ResourceClaimSpec()


class ResourceClaimTemplate(KubernetesObject, frozen=True, kw_only=True):
    api_version: ClassVar[str] = "resource.k8s.io/v1"
    kind: ClassVar[str] = "ResourceClaimTemplate"
    plural: ClassVar[str] = "resourceclaimtemplates"

    spec: ResourceClaimTemplateSpec = ResourceClaimTemplateSpec()
