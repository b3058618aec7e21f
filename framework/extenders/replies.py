"""The Go types that replies are read into (kube-scheduler's extender/v1, and core/v1's Node inside of it).

Names are Go's, because errors show them. Keys and their order are the types' own.
"""

from __future__ import annotations

from typing import Any, Final

from framework.extenders.go_json import (
    GoJsonError,
    Map,
    Number,
    Special,
    Text,
    Truth,
    Whole,
    map_of,
    pointer,
    slice_of,
    struct,
)
from framework.objects.go_time import parse_time
from framework.objects.quantity import FORMAT_WRONG, QuantityError, parse_quantity

RFC3339: Final = "2006-01-02T15:04:05Z07:00"
_KINDS: Final = {bool: "bool", Number: "number"}


def _time(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, str) and not isinstance(value, Number):
        try:
            parse_time(RFC3339, value)
        except ValueError as error:
            raise GoJsonError(str(error)) from None
        return value
    what = "object" if value is ... else _KINDS.get(type(value), "string")
    raise GoJsonError(f"json: cannot unmarshal {what} into Go value of type string")


def _quantity(value: Any) -> Any:
    if value is None:
        return "0"
    if value is ... or isinstance(value, bool):
        raise GoJsonError(FORMAT_WRONG)
    try:
        parse_quantity(str(value).strip())
    except QuantityError as error:
        raise GoJsonError(str(error)) from None
    return str(value)


TEXT: Final = Text()
TEXTS: Final = slice_of(TEXT)
TIME: Final = Special("v1.Time", _time)
QUANTITIES: Final[Map] = map_of(Special("resource.Quantity", _quantity), "v1.ResourceList")
ANYTHING: Final = Special("v1.FieldsV1", lambda value: None)
UID: Final = Text("types.UID")
BOOL: Final = pointer(Truth())
INT64: Final = Whole()

_OWNER: Final = struct(
    "v1.OwnerReference",
    kind=TEXT,
    name=TEXT,
    uid=UID,
    apiVersion=TEXT,
    controller=BOOL,
    blockOwnerDeletion=BOOL,
)
_MANAGED_FIELDS: Final = struct(
    "v1.ManagedFieldsEntry",
    manager=TEXT,
    operation=Text("v1.ManagedFieldsOperationType"),
    apiVersion=TEXT,
    time=TIME,
    fieldsType=TEXT,
    fieldsV1=ANYTHING,
    subresource=TEXT,
)
_METADATA: Final = struct(
    "v1.ObjectMeta",
    name=TEXT,
    generateName=TEXT,
    namespace=TEXT,
    selfLink=TEXT,
    uid=UID,
    resourceVersion=TEXT,
    generation=INT64,
    creationTimestamp=TIME,
    deletionTimestamp=TIME,
    deletionGracePeriodSeconds=pointer(INT64),
    labels=map_of(TEXT),
    annotations=map_of(TEXT),
    ownerReferences=slice_of(_OWNER),
    finalizers=TEXTS,
    managedFields=slice_of(_MANAGED_FIELDS),
)
_TAINT: Final = struct("v1.Taint", key=TEXT, value=TEXT, effect=Text("v1.TaintEffect"), timeAdded=TIME)
_CONFIG_MAP: Final = struct(
    "v1.ConfigMapNodeConfigSource", namespace=TEXT, name=TEXT, uid=UID, resourceVersion=TEXT, kubeletConfigKey=TEXT
)
_CONFIG: Final = pointer(struct("v1.NodeConfigSource", configMap=pointer(_CONFIG_MAP)))
_SPEC: Final = struct(
    "v1.NodeSpec",
    podCIDR=TEXT,
    podCIDRs=TEXTS,
    providerID=TEXT,
    unschedulable=Truth(),
    taints=slice_of(_TAINT),
    configSource=_CONFIG,
    externalID=TEXT,
)
_CONDITION: Final = struct(
    "v1.NodeCondition",
    type=Text("v1.NodeConditionType"),
    status=Text("v1.ConditionStatus"),
    lastHeartbeatTime=TIME,
    lastTransitionTime=TIME,
    reason=TEXT,
    message=TEXT,
)
_SYSTEM: Final = struct(
    "v1.NodeSystemInfo",
    machineID=TEXT,
    systemUUID=TEXT,
    bootID=TEXT,
    kernelVersion=TEXT,
    osImage=TEXT,
    containerRuntimeVersion=TEXT,
    kubeletVersion=TEXT,
    kubeProxyVersion=TEXT,
    operatingSystem=TEXT,
    architecture=TEXT,
    swap=pointer(struct("v1.NodeSwapStatus", capacity=pointer(INT64))),
)
_ENDPOINT: Final = struct("v1.DaemonEndpoint", Port=Whole("int32", 32))
_RUNTIME_HANDLER: Final = struct(
    "v1.NodeRuntimeHandler",
    name=TEXT,
    features=pointer(
        struct("v1.NodeRuntimeHandlerFeatures", recursiveReadOnlyMounts=BOOL, userNamespaces=BOOL),
    ),
)
_STATUS: Final = struct(
    "v1.NodeStatus",
    capacity=QUANTITIES,
    allocatable=QUANTITIES,
    phase=Text("v1.NodePhase"),
    conditions=slice_of(_CONDITION),
    addresses=slice_of(struct("v1.NodeAddress", type=Text("v1.NodeAddressType"), address=TEXT)),
    daemonEndpoints=struct("v1.NodeDaemonEndpoints", kubeletEndpoint=_ENDPOINT),
    nodeInfo=_SYSTEM,
    images=slice_of(struct("v1.ContainerImage", names=TEXTS, sizeBytes=INT64)),
    volumesInUse=slice_of(Text("v1.UniqueVolumeName")),
    volumesAttached=slice_of(struct("v1.AttachedVolume", name=Text("v1.UniqueVolumeName"), devicePath=TEXT)),
    config=pointer(
        struct("v1.NodeConfigStatus", assigned=_CONFIG, active=_CONFIG, lastKnownGood=_CONFIG, error=TEXT),
    ),
    runtimeHandlers=slice_of(_RUNTIME_HANDLER),
    features=pointer(struct("v1.NodeFeatures", supplementalGroupsPolicy=BOOL)),
    declaredFeatures=TEXTS,
)
NODE: Final = struct("v1.Node", kind=TEXT, apiVersion=TEXT, metadata=_METADATA, spec=_SPEC, status=_STATUS)
_LIST_METADATA: Final = struct(
    "v1.ListMeta",
    **{
        "selfLink": TEXT,
        "resourceVersion": TEXT,
        "continue": TEXT,
        "remainingItemCount": pointer(INT64),
    },
)
_NODES: Final = struct("v1.NodeList", kind=TEXT, apiVersion=TEXT, metadata=_LIST_METADATA, items=slice_of(NODE))
_FAILED: Final = map_of(TEXT, "v1.FailedNodesMap")
FILTER_RESULT: Final = struct(
    "v1.ExtenderFilterResult",
    Nodes=pointer(_NODES),
    NodeNames=pointer(TEXTS),
    FailedNodes=_FAILED,
    FailedAndUnresolvableNodes=_FAILED,
    Error=TEXT,
)
PRIORITIES: Final = slice_of(struct("v1.HostPriority", Host=TEXT, Score=INT64))
PRIORITY_LIST: Final = type(PRIORITIES)("v1.HostPriorityList", PRIORITIES.of)
BINDING_RESULT: Final = struct("v1.ExtenderBindingResult", Error=TEXT)
_META_VICTIMS: Final = struct(
    "v1.MetaVictims", Pods=slice_of(pointer(struct("v1.MetaPod", UID=TEXT))), NumPDBViolations=INT64
)
PREEMPTION_RESULT: Final = struct("v1.ExtenderPreemptionResult", NodeNameToMetaVictims=map_of(pointer(_META_VICTIMS)))
