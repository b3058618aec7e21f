"""Arguments of the Trimaran plugins (docs/semantics/catalogue.md#trimaran)."""

from __future__ import annotations

from typing import Annotated, Final, Self

from msgspec import Meta, field
from msgspec.structs import replace

from framework.configuration.catalogue import PluginArgs
from framework.configuration.errors import FieldError, FieldPath
from framework.configuration.types import ConfigurationStruct, Int64
from framework.objects.go_numbers import parse_float
from framework.objects.resources import CPU, MEMORY
from framework.sentences import noted

METRICS_SERVER: Final = "KubernetesMetricsServer"
PROVIDERS: Final = (METRICS_SERVER, "Prometheus", "SignalFx")
DEFAULT_MILLI_CPU: Final = "1000m"
DEFAULT_MULTIPLIER: Final = "1.5"
DEFAULT_TARGET: Final = 40
DEFAULT_WINDOW: Final = 5
DEFAULT_WEIGHT: Final = 0.5
"""Of the risk that limits promise, against the risk that was measured."""


class MetricProvider(ConfigurationStruct, frozen=True):
    """Where load is read from; a run reads it from its snapshot instead."""

    type: Annotated[
        str,
        Meta(
            description=noted("Who measures: KubernetesMetricsServer, Prometheus or SignalFx."),
            extra_json_schema={"enum": list(PROVIDERS)},
        ),
    ] = ""
    address: Annotated[str | None, Meta(description=noted("Its address."))] = None
    token: Annotated[str | None, Meta(description=noted("Its token; it is not used here."))] = None
    insecure_skip_verify: Annotated[bool | None, Meta(description=noted("Its certificate is not verified."))] = None


class TrimaranArgs(PluginArgs, frozen=True):
    metric_provider: Annotated[
        MetricProvider, Meta(description=noted("Who measures the load of nodes, where no load-watcher is named."))
    ] = MetricProvider()
    watcher_address: Annotated[
        str | None, Meta(description=noted("Address of a load-watcher. Runs take the load that the snapshot brings."))
    ] = None

    def defaulted(self) -> Self:
        if self.watcher_address is None and not self.metric_provider.type:
            return replace(self, metric_provider=replace(self.metric_provider, type=METRICS_SERVER))
        return self

    def validate(self, path: FieldPath) -> list[FieldError]:
        return unknown_provider(path, self.watcher_address, self.metric_provider.type)


def unknown_provider(path: FieldPath, watcher: str | None, provider: str) -> list[FieldError]:
    if watcher or provider in PROVIDERS:
        return []
    text = f"invalid MetricProvider.Type, got {provider}"
    return [FieldError("Invalid value", path.child("metricProvider", "type"), provider, text=text)]


class TargetLoadPackingArgs(TrimaranArgs, frozen=True):
    default_requests: Annotated[
        dict[str, str | Int64] | None, Meta(description=noted("What a container without requests is taken to use."))
    ] = None
    default_requests_multiplier: Annotated[
        str | None, Meta(description=noted("A container without limits is taken to use its requests times this."))
    ] = None
    target_utilization: Annotated[
        Int64 | None,
        Meta(
            description=noted("How busy nodes should be, in percent of their cpu."),
            extra_json_schema={"minimum": 1, "maximum": 100},
        ),
    ] = None

    def defaulted(self) -> Self:
        args = super().defaulted()
        target = self.target_utilization
        return replace(
            args,
            default_requests={CPU: DEFAULT_MILLI_CPU} if self.default_requests is None else self.default_requests,
            default_requests_multiplier=self.default_requests_multiplier
            if self.default_requests_multiplier is not None
            else DEFAULT_MULTIPLIER,
            target_utilization=DEFAULT_TARGET if target is None or target <= 0 else target,
        )

    def validate(self, path: FieldPath) -> list[FieldError]:
        errors = super().validate(path)
        multiplier = self.default_requests_multiplier or ""
        if not errors and parse_float(multiplier) is None:
            text = (
                f'unable to parse DefaultRequestsMultiplier: strconv.ParseFloat: parsing "{multiplier}": invalid syntax'
            )
            errors.append(FieldError("Invalid value", path.child("defaultRequestsMultiplier"), multiplier, text=text))
        return errors


class LoadVariationRiskBalancingArgs(TrimaranArgs, frozen=True):
    safe_variance_margin: Annotated[
        float | None, Meta(description=noted("How much the variation of load counts against its average."))
    ] = None
    safe_variance_sensitivity: Annotated[
        float | None, Meta(description=noted("The variation counts by its root of this degree."))
    ] = None

    def defaulted(self) -> Self:
        return replace(
            super().defaulted(),
            safe_variance_margin=_not_negative(self.safe_variance_margin),
            safe_variance_sensitivity=_not_negative(self.safe_variance_sensitivity),
        )


def _not_negative(given: float | None) -> float:
    return 1.0 if given is None or given < 0 else given


class LowRiskOverCommitmentArgs(TrimaranArgs, frozen=True):
    smoothing_window_size: Annotated[
        Int64 | None, Meta(description=noted("Over how many windows the measured load was averaged."))
    ] = None
    risk_limit_weights: Annotated[
        dict[str, float] | None,
        Meta(description=noted("Per resource, how much limits count against measured load, 0 to 1.")),
    ] = None

    def defaulted(self) -> Self:
        window, weights = self.smoothing_window_size, self.risk_limit_weights
        kept = weights or {CPU: DEFAULT_WEIGHT, MEMORY: DEFAULT_WEIGHT}
        return replace(
            super().defaulted(),
            smoothing_window_size=DEFAULT_WINDOW if window is None or window <= 0 else window,
            risk_limit_weights={name: weight if 0 <= weight <= 1 else DEFAULT_WEIGHT for name, weight in kept.items()},
        )


class PowerModel(ConfigurationStruct, frozen=True):
    """Power of a node at ``u`` percent: k0 + k1 · e^(k2 · u)."""

    k0: Annotated[float, Meta(description=noted("Power of the idle node."))] = 0.0
    k1: Annotated[float, Meta(description=noted("What the exponential is multiplied with."))] = 0.0
    k2: Annotated[float, Meta(description=noted("How fast power grows with the load."))] = 0.0


class PeaksArgs(PluginArgs, frozen=True):
    # Upstream's tags are malformed, so that its fields are called as in Go.
    watcher_address: Annotated[
        str, Meta(description=noted("Address of a load-watcher. Runs take the load that the snapshot brings."))
    ] = field(name="WatcherAddress", default="")
    node_power_model: Annotated[
        dict[str, PowerModel], Meta(description=noted("Per node, how its power grows with its load."))
    ] = field(name="NodePowerModel", default_factory=dict)

    def validate(self, path: FieldPath) -> list[FieldError]:
        errors = unknown_provider(path, self.watcher_address, "")
        if not errors and not self.node_power_model:
            text = "open : no such file or directory"
            errors.append(FieldError("Invalid value", path.child("NodePowerModel"), "", text=text))
        return errors
