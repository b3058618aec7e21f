"""Feature gates of kube-scheduler 1.36: the ones its scheduler reads, as ``--feature-gates`` sets them.

Upstream ``kube_features.go`` (defaults, stages, locks, dependencies) and ``component-base/featuregate`` (errors).
Gates are no part of KubeSchedulerConfiguration but a flag of the process, so a text that is to be run with some
says so in a comment: ``# kube-scheduler --feature-gates=A=true,B=false``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import msgspec

from framework.configuration.errors import aggregate, go_quote
from framework.sentences import Words, joined_with_and, noted, sentence

Stage = Literal["alpha", "beta", "GA"]
FLAG: Final = "--feature-gates"


@dataclass(frozen=True, slots=True)
class FeatureGate:
    name: str
    stage: Stage
    default: bool
    description: str = ""
    """What it does when it is on, in one sentence."""
    locked: bool = False
    """Upstream refuses any other value than the default."""
    depends_on: tuple[str, ...] = ()
    switchable: bool = False
    """False: what the other value would change is not simulated, so only the default is accepted."""
    elsewhere: bool = False
    """The scheduler does not read it; it is here because it depends on a gate that the scheduler reads."""


_DRA: Final = ("DynamicResourceAllocation",)

TABLE: Final[tuple[FeatureGate, ...]] = (
    FeatureGate("DRAAdminAccess", "GA", True, locked=True, depends_on=_DRA),
    FeatureGate("DRAConsumableCapacity", "beta", True, depends_on=_DRA),
    FeatureGate(
        "DRADeviceBindingConditions",
        "beta",
        True,
        depends_on=("DRAResourceClaimDeviceStatus", "DynamicResourceAllocation"),
    ),
    FeatureGate("DRADeviceTaintRules", "beta", False, depends_on=("DRADeviceTaints",)),
    FeatureGate(
        "DRADeviceTaints",
        "beta",
        True,
        noted("Without it taints of devices keep nobody off."),
        depends_on=_DRA,
        switchable=True,
    ),
    FeatureGate(
        "DRAExtendedResource",
        "beta",
        True,
        noted("Without it extended resources come from nodes only, never from devices of a class."),
        depends_on=_DRA,
        switchable=True,
    ),
    FeatureGate("DRAListTypeAttributes", "alpha", False, depends_on=_DRA),
    FeatureGate("DRANodeAllocatableResources", "alpha", False, depends_on=_DRA),
    FeatureGate(
        "DRAPartitionableDevices",
        "beta",
        True,
        noted("Without it devices that share counters, or name nodes of their own, are not allocated."),
        depends_on=_DRA,
        switchable=True,
    ),
    FeatureGate(
        "DRAPrioritizedList",
        "GA",
        True,
        noted("Without it claims with a list of alternatives are not allocated."),
        depends_on=_DRA,
        switchable=True,
    ),
    FeatureGate("DRAResourceClaimDeviceStatus", "beta", True),
    FeatureGate("DRASchedulerFilterTimeout", "beta", True, depends_on=_DRA),
    FeatureGate("DRAWorkloadResourceClaims", "alpha", False, depends_on=(*_DRA, "GenericWorkload")),
    FeatureGate("DynamicResourceAllocation", "GA", True, locked=True),
    FeatureGate("ExtendWebSocketsToKubelet", "beta", True, depends_on=("NodeDeclaredFeatures",), elsewhere=True),
    FeatureGate(
        "GangScheduling",
        "alpha",
        False,
        noted("Pods of a PodGroup with a gang policy wait until minCount of them can run."),
        depends_on=("GenericWorkload",),
        switchable=True,
    ),
    FeatureGate(
        "GenericWorkload",
        "alpha",
        False,
        noted("Pods that name a PodGroup in spec.schedulingGroup are scheduled together, in one cycle."),
        switchable=True,
    ),
    FeatureGate(
        "InPlacePodLevelResourcesVerticalScaling",
        "beta",
        True,
        depends_on=("InPlacePodVerticalScaling", "NodeDeclaredFeatures", "PodLevelResources"),
    ),
    FeatureGate("InPlacePodVerticalScaling", "GA", True, locked=True),
    FeatureGate(
        "InPlacePodVerticalScalingInitContainers",
        "beta",
        True,
        depends_on=("InPlacePodVerticalScaling", "NodeDeclaredFeatures"),
        elsewhere=True,
    ),
    FeatureGate("MatchLabelKeysInPodTopologySpread", "beta", True),
    FeatureGate(
        "MatchLabelKeysInPodTopologySpreadSelectorMerge",
        "beta",
        True,
        depends_on=("MatchLabelKeysInPodTopologySpread",),
        elsewhere=True,
    ),
    FeatureGate("NodeDeclaredFeatures", "beta", True),
    FeatureGate("NodeInclusionPolicyInPodTopologySpread", "GA", True, locked=True),
    FeatureGate(
        "NominatedNodeNameForExpectation",
        "beta",
        True,
        noted("A pod that waits on Permit or PreBind says in status.nominatedNodeName where it is about to go."),
        switchable=True,
    ),
    FeatureGate(
        "OpportunisticBatching",
        "beta",
        True,
        noted("Where each of several equal pods fills a node, the next one takes the next best node without scoring."),
        switchable=True,
    ),
    FeatureGate("PodLevelResources", "beta", True),
    FeatureGate(
        "RestartAllContainersOnContainerExits", "beta", True, depends_on=("NodeDeclaredFeatures",), elsewhere=True
    ),
    FeatureGate("SchedulerAsyncAPICalls", "beta", False),
    FeatureGate("SchedulerAsyncPreemption", "beta", True),
    FeatureGate(
        "SchedulerPopFromBackoffQ",
        "beta",
        True,
        noted("When no pod is active, the one that backs off the longest is tried before its time."),
        switchable=True,
    ),
    FeatureGate("SchedulerQueueingHints", "GA", True, locked=True),
    FeatureGate("SidecarContainers", "GA", True, locked=True),
    FeatureGate(
        "StorageCapacityScoring",
        "alpha",
        False,
        noted("VolumeBinding scores nodes by how full their storage would be; its arguments take a shape."),
        switchable=True,
    ),
    FeatureGate(
        "TaintTolerationComparisonOperators",
        "alpha",
        False,
        noted("Tolerations may use the operators Gt and Lt: they tolerate taints with a higher or a lower number."),
        switchable=True,
    ),
    FeatureGate(
        "TopologyAwareWorkloadScheduling",
        "alpha",
        False,
        noted("The pods of a PodGroup are placed within one domain of its topology key, the one that scores best."),
        depends_on=("GenericWorkload",),
        switchable=True,
    ),
    FeatureGate("VolumeAttributesClass", "GA", True, locked=True),
    FeatureGate(
        "VolumeLimitScaling",
        "alpha",
        False,
        noted("A CSI driver may ask that pods with its volumes stay away from nodes on which it is not installed."),
        switchable=True,
    ),
    FeatureGate("WorkloadAwarePreemption", "alpha", False, depends_on=("GangScheduling",)),
)
"""By name."""

GATES: Final[Mapping[str, FeatureGate]] = {gate.name: gate for gate in TABLE}

_TRUE: Final = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE: Final = frozenset({"0", "f", "F", "FALSE", "false", "False"})


class FeatureGatesError(ValueError):
    """Feature gates that cannot be set; ``texts`` has one sentence per gate, upstream's where upstream refuses it."""

    def __init__(self, texts: tuple[Words, ...]) -> None:
        super().__init__(aggregate(map(str, texts)))
        self.texts = texts


class FeatureGates(msgspec.Struct, frozen=True):
    """Valid gates; made by ``feature_gates`` or ``parse_feature_gates``, or the defaults by ``FeatureGates()``."""

    given: dict[str, bool] = {}
    """What was set, by name; the others have their defaults. A value equal to the default may stand here, too."""

    def enabled(self, name: str) -> bool:
        """Raises KeyError for a name that is not in the table."""
        given = self.given.get(name)
        return GATES[name].default if given is None else given

    def flag_value(self) -> str:
        """``A=true,B=false``, by name; empty when nothing was set."""
        return ",".join(f"{name}={'true' if value else 'false'}" for name, value in sorted(self.given.items()))


DEFAULT_GATES: Final = FeatureGates()


def feature_gates(given: Mapping[str, bool]) -> FeatureGates:
    """Raises FeatureGatesError. Upstream goes through its map at random and stops at an unknown name; here by name."""
    texts: list[Words] = []
    for name, value in sorted(given.items()):
        gate = GATES.get(name)
        if gate is None:
            raise FeatureGatesError((*texts, f"unrecognized feature gate: {name}"))
        if gate.locked and value != gate.default:
            texts.append(
                f"cannot set feature gate {name} to {_go_bool(value)}, feature is locked to {_go_bool(gate.default)}"
            )
    if texts:
        raise FeatureGatesError(tuple(texts))
    gates = FeatureGates(dict(sorted(given.items())))
    for gate in TABLE:
        missing = [name for name in gate.depends_on if not gates.enabled(name)]
        if missing and gates.enabled(gate.name):
            texts.append(f"{gate.name} is enabled, but depends on features that are disabled: [{' '.join(missing)}]")
    if texts:
        raise FeatureGatesError(tuple(texts))
    for name, value in gates.given.items():
        gate = GATES[name]
        if value != gate.default and not (gate.switchable or gate.elsewhere):
            texts.append(
                sentence(
                    "cannot set feature gate {gate} to {value} here: what it changes is not simulated, "
                    "so only its default ({default}) can be played",
                    gate=name,
                    value=_go_bool(value),
                    default=_go_bool(gate.default),
                )
            )
    if texts:
        raise FeatureGatesError(tuple(texts))
    return gates


def parse_feature_gates(text: str) -> FeatureGates:
    """``A=true,B=false``, the value of the flag. Raises FeatureGatesError."""
    return feature_gates(parse_flag(text))


def parse_flag(text: str) -> dict[str, bool]:
    """What the flag's value names, whether it can be set or not. Raises FeatureGatesError for what is no such value."""
    given: dict[str, bool] = {}
    for part in text.split(","):
        if not part:
            continue
        name, equals, value = part.partition("=")
        name, value = name.strip(), value.strip()
        if not equals:
            raise FeatureGatesError((f"missing bool value for {name}",))
        if value not in _TRUE and value not in _FALSE:
            parsing = f"strconv.ParseBool: parsing {go_quote(value)}: invalid syntax"
            raise FeatureGatesError((f"invalid value of {name}={value}, err: {parsing}",))
        given[name] = value in _TRUE
    return given


def _go_bool(value: bool) -> str:
    return "true" if value else "false"


# In a configuration's text -------------------------------------------------------------------------------------------

_LINE: Final = re.compile(rf"^# kube-scheduler {FLAG}=(\S*)[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
"""A YAML comment, so kube-scheduler reads the file as it did, and whoever starts it sees the flag to start it with."""


@dataclass(frozen=True, slots=True)
class GatesLine:
    """The line of a text that says the flag. ``line`` counts from 1."""

    value: str
    line: int
    start: int
    end: int
    """Characters; the line's end is included."""


def has_gates_line(text: str) -> bool:
    return _LINE.search(text) is not None


def gates_line(text: str) -> GatesLine | None:
    """Raises FeatureGatesError when there are two such lines."""
    found = list(_LINE.finditer(text))
    if len(found) > 1:
        lines = [text.count("\n", 0, each.start()) + 1 for each in found[:2]]
        raise FeatureGatesError(
            (sentence("the text sets {flag} twice, in lines {lines}", flag=FLAG, lines=joined_with_and(lines)),)
        )
    if not found:
        return None
    [only] = found
    return GatesLine(only[1], text.count("\n", 0, only.start()) + 1, only.start(), only.end())


def gates_of(text: str) -> FeatureGates:
    """The gates that a text sets in its line; the defaults without one. Raises FeatureGatesError."""
    line = gates_line(text)
    return DEFAULT_GATES if line is None else parse_feature_gates(line.value)


def with_gates(text: str, given: Mapping[str, bool]) -> str:
    """The text with its line saying these gates, first in the text when it is new; without one for no gates.

    Raises FeatureGatesError when the text has two such lines. Whether the gates can be set is not asked.
    """
    line = gates_line(text)
    comment = f"# kube-scheduler {FLAG}={FeatureGates(dict(given)).flag_value()}\n" if given else ""
    return comment + text if line is None else text[: line.start] + comment + text[line.end :]
