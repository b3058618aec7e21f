"""What the configuration layer needs to know of plugins, without importing any.

``framework.plugins.registry`` answers as a ``PluginCatalogue``. Plugins own their arguments: a Struct that derives from
``PluginArgs`` carries its defaulting and its validation.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, Self

import msgspec
from msgspec import inspect

from framework.configuration.errors import FieldError, FieldPath, invalid
from framework.configuration.feature_gates import DEFAULT_GATES, FeatureGates

Origin = Literal["", "scheduler-plugins"]
"""Whose plugin it is: kubernetes-sigs/scheduler-plugins', which is built on Kubernetes 1.35; "" is everybody else's."""


class ExtensionPoint(enum.StrEnum):
    """The keys of ``profiles[].plugins``, in the order in which upstream instantiates them (``getExtensionPoints``)."""

    PRE_FILTER = "preFilter"
    FILTER = "filter"
    POST_FILTER = "postFilter"
    RESERVE = "reserve"
    PRE_SCORE = "preScore"
    SCORE = "score"
    PRE_BIND = "preBind"
    BIND = "bind"
    POST_BIND = "postBind"
    PERMIT = "permit"
    PRE_ENQUEUE = "preEnqueue"
    QUEUE_SORT = "queueSort"
    PLACEMENT_GENERATE = "placementGenerate"
    PLACEMENT_SCORE = "placementScore"

    @property
    def label(self) -> str:
        """As it is called where people read of it: ``PreFilter``."""
        return f"{self.value[0].upper()}{self.value[1:]}"

    @property
    def field(self) -> str:
        """As fields of Structs and methods of plugins spell it: ``pre_filter``."""
        return self.name.lower()

    @property
    def interface_name(self) -> str:
        """Upstream's Go interface, which its messages name: ``ScorePlugin``."""
        return f"{self.label}Plugin"


WEIGHTED_POINTS = frozenset({ExtensionPoint.SCORE, ExtensionPoint.PLACEMENT_SCORE})

PLACEMENT_POINTS = frozenset({ExtensionPoint.PLACEMENT_GENERATE, ExtensionPoint.PLACEMENT_SCORE})

CYCLE_ORDER: tuple[ExtensionPoint, ...] = (
    ExtensionPoint.PRE_ENQUEUE,
    ExtensionPoint.QUEUE_SORT,
    ExtensionPoint.PRE_FILTER,
    ExtensionPoint.FILTER,
    ExtensionPoint.POST_FILTER,
    ExtensionPoint.PRE_SCORE,
    ExtensionPoint.SCORE,
    ExtensionPoint.RESERVE,
    ExtensionPoint.PERMIT,
    ExtensionPoint.PRE_BIND,
    ExtensionPoint.BIND,
    ExtensionPoint.POST_BIND,
    ExtensionPoint.PLACEMENT_GENERATE,
    ExtensionPoint.PLACEMENT_SCORE,
)
"""As a pod meets them: the order to show."""

POD_POINTS = tuple(point for point in CYCLE_ORDER if point not in PLACEMENT_POINTS)
"""Those that a pod passes by itself, without a group."""


class PluginArgs(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Base of arguments. Field defaults are the defaults of fields that are not given."""

    VALIDATED_BY: ClassVar[Literal["configuration", "constructor"]] = "constructor"
    """Where upstream refuses bad values: with the configuration's own errors, or as ``initializing plugin "X": …``."""

    REFUSED_WITH: ClassVar[str] = ""
    """What upstream's constructor puts before the errors."""

    def defaulted(self) -> Self:
        """Defaults that depend on more than absence (a weight of 0 that means 1)."""
        return self

    def with_gates(self, gates: FeatureGates) -> Self:
        """Defaults that depend on feature gates."""
        return self

    def validate(self, path: FieldPath) -> list[FieldError]:
        """What is wrong, each under ``path``. The default checks the bounds of ``Meta``."""
        return check_bounds(self, path)

    def validate_with_gates(self, path: FieldPath, gates: FeatureGates) -> list[FieldError]:
        """For arguments of which some need a feature gate."""
        return self.validate(path)


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    name: str
    extension_points: frozenset[ExtensionPoint]
    args_type: type[msgspec.Struct] | None = None
    description: str = ""
    origin: Origin = ""

    @property
    def args_kind(self) -> str:
        return f"{self.name}Args"


class PluginCatalogue(Protocol):
    def names(self) -> tuple[str, ...]:
        """All plugins, in the registry's order."""
        ...

    def get(self, name: str) -> CatalogueEntry | None: ...


def defaulted_args(args: msgspec.Struct, gates: FeatureGates = DEFAULT_GATES) -> msgspec.Struct:
    return args.defaulted().with_gates(gates) if isinstance(args, PluginArgs) else args


def validate_args(args: msgspec.Struct, path: FieldPath, gates: FeatureGates = DEFAULT_GATES) -> list[FieldError]:
    return args.validate_with_gates(path, gates) if isinstance(args, PluginArgs) else check_bounds(args, path)


def validated_with_configuration(args: msgspec.Struct) -> bool:
    return isinstance(args, PluginArgs) and args.VALIDATED_BY == "configuration"


def check_bounds(value: msgspec.Struct, path: FieldPath) -> list[FieldError]:
    """Checks the bounds that the Struct's annotations give (``Meta(ge=…, le=…)``, ``Literal``), nested Structs too."""
    info = inspect.type_info(type(value))
    assert isinstance(info, inspect.StructType)
    errors: list[FieldError] = []
    for field in info.fields:
        errors += _check(getattr(value, field.name), field.type, path.child(field.encode_name))
    return errors


def _check(value: object, type_: inspect.Type, path: FieldPath) -> list[FieldError]:
    match type_:
        case inspect.Metadata():
            return _check(value, type_.type, path)
        case inspect.UnionType():
            members = [member for member in type_.types if not isinstance(member, inspect.NoneType)]
            return [] if value is None or len(members) != 1 else _check(value, members[0], path)
        case inspect.StructType() if isinstance(value, msgspec.Struct):
            return check_bounds(value, path)
        case inspect.VarTupleType() | inspect.ListType() if isinstance(value, tuple | list):
            return [error for i, item in enumerate(value) for error in _check(item, type_.item_type, path.index(i))]
        case inspect.LiteralType() if value not in type_.values:
            supported = ", ".join(f'"{choice}"' for choice in type_.values)
            return [FieldError("Unsupported value", path, value, f"supported values: {supported}")]
        case inspect.IntType() | inspect.FloatType() if isinstance(value, int | float):
            return _check_range(value, type_, path)
        case inspect.StrType() if isinstance(value, str):
            return _check_length(value, type_, path)
    return []


def _check_range(value: float, type_: inspect.IntType | inspect.FloatType, path: FieldPath) -> list[FieldError]:
    for bound, holds, word in (
        (type_.ge, type_.ge is None or value >= type_.ge, "greater than or equal to"),
        (type_.gt, type_.gt is None or value > type_.gt, "greater than"),
        (type_.le, type_.le is None or value <= type_.le, "less than or equal to"),
        (type_.lt, type_.lt is None or value < type_.lt, "less than"),
    ):
        if not holds:
            return [invalid(path, value, f"must be {word} {bound}")]
    return []


def _check_length(value: str, type_: inspect.StrType, path: FieldPath) -> list[FieldError]:
    if type_.min_length is not None and len(value) < type_.min_length:
        return [FieldError("Required value", path)]
    if type_.max_length is not None and len(value) > type_.max_length:
        return [invalid(path, value, f"must be no more than {type_.max_length} characters")]
    return []
