"""NodeResourceTopologyMatchArgs (docs/semantics/catalogue.md#noderesourcetopologymatch)."""

from __future__ import annotations

from typing import Annotated, Final, Self

from msgspec import Meta
from msgspec.structs import replace

from framework.configuration.catalogue import PluginArgs
from framework.configuration.errors import FieldError, FieldPath, invalid
from framework.configuration.types import ConfigurationStruct, Int64
from framework.sentences import noted

LEAST_ALLOCATED: Final = "LeastAllocated"
MOST_ALLOCATED: Final = "MostAllocated"
BALANCED_ALLOCATION: Final = "BalancedAllocation"
LEAST_NUMA_NODES: Final = "LeastNUMANodes"
STRATEGIES: Final = (LEAST_ALLOCATED, MOST_ALLOCATED, BALANCED_ALLOCATION, LEAST_NUMA_NODES)
ENABLED: Final = "Enabled"
DISABLED: Final = "Disabled"
ALL: Final = "All"
NONE: Final = "None"
ONLY_EXCLUSIVE: Final = "OnlyExclusiveResources"
ONLY_RESOURCES: Final = "OnlyResources"
AUTODETECT: Final = "Autodetect"
SHARED: Final = "Shared"
DEDICATED: Final = "Dedicated"


class ZoneResourceSpec(ConfigurationStruct, frozen=True):
    name: Annotated[str, Meta(description=noted("A resource such as cpu, memory or nvidia.com/gpu."))] = ""
    weight: Annotated[Int64, Meta(description=noted("Its weight among the others."))] = 0


DEFAULT_RESOURCES: Final = (ZoneResourceSpec(name="cpu", weight=1), ZoneResourceSpec(name="memory", weight=1))


class ZoneScoringStrategy(ConfigurationStruct, frozen=True):
    type: Annotated[
        str,
        Meta(
            description=noted(
                "LeastAllocated spreads over zones, MostAllocated packs them, BalancedAllocation evens resources out, "
                "LeastNUMANodes takes the fewest zones."
            ),
            extra_json_schema={"enum": list(STRATEGIES)},
        ),
    ] = ""
    resources: Annotated[
        tuple[ZoneResourceSpec, ...], Meta(description=noted("Weights of resources; others have the weight 1."))
    ] = ()


class TopologyCache(ConfigurationStruct, frozen=True):
    foreign_pods_detect: Annotated[
        str | None,
        Meta(
            description=noted("Which pods of other schedulers make a node's zones unreliable."),
            extra_json_schema={"enum": [ALL, NONE, ONLY_EXCLUSIVE]},
        ),
    ] = None
    resync_method: Annotated[
        str | None,
        Meta(
            description=noted("Which pods the fingerprint is made from that a node's zones are believed by."),
            extra_json_schema={"enum": [AUTODETECT, ALL, ONLY_EXCLUSIVE]},
        ),
    ] = None
    informer_mode: Annotated[
        str | None,
        Meta(
            description=noted("Shared counts pods that run, Dedicated all pods that have a node and have begun."),
            extra_json_schema={"enum": [SHARED, DEDICATED]},
        ),
    ] = None
    resync_scope: Annotated[
        str | None,
        Meta(
            description=noted("All takes over changed policies of a node, too; OnlyResources does not."),
            extra_json_schema={"enum": [ALL, ONLY_RESOURCES]},
        ),
    ] = None


class NodeResourceTopologyMatchArgs(PluginArgs, frozen=True):
    scoring_strategy: Annotated[ZoneScoringStrategy | None, Meta(description=noted("How nodes are ranked."))] = None
    cache_resync_period_seconds: Annotated[
        Int64 | None,
        Meta(description=noted("How often zones are read anew. 0: no cache, every attempt reads them.")),
    ] = None
    discard_reserved_nodes: Annotated[
        bool, Meta(description=noted("Nodes are left out while a pod is on its way to them; then there is no cache."))
    ] = False
    cache: Annotated[TopologyCache | None, Meta(description=noted("How the cache of zones is kept."))] = None
    preemption_mode: Annotated[
        str | None,
        Meta(
            description=noted("Enabled: preemption counts what victims give back to their zone."),
            extra_json_schema={"enum": [ENABLED, DISABLED]},
        ),
    ] = None

    def defaulted(self) -> Self:
        strategy = self.scoring_strategy or ZoneScoringStrategy(type=LEAST_ALLOCATED)
        cache = self.cache or TopologyCache()
        return replace(
            self,
            scoring_strategy=replace(
                strategy,
                resources=tuple(replace(each, weight=each.weight or 1) for each in strategy.resources)
                or DEFAULT_RESOURCES,
            ),
            cache=replace(
                cache,
                foreign_pods_detect=_given(cache.foreign_pods_detect, ALL),
                resync_method=_given(cache.resync_method, AUTODETECT),
                informer_mode=_given(cache.informer_mode, DEDICATED),
            ),
            preemption_mode=_given(self.preemption_mode, DISABLED),
        )

    def validate(self, path: FieldPath) -> list[FieldError]:
        errors = []
        strategy = self.scoring_strategy.type if self.scoring_strategy else ""
        if strategy not in STRATEGIES:
            at = path.child("scoringStrategy").child("type")
            errors.append(invalid(at, strategy, "invalid ScoringStrategyType"))
        if self.preemption_mode is not None and self.preemption_mode not in (ENABLED, DISABLED):
            errors.append(invalid(path.child("preemptionMode"), self.preemption_mode, "invalid PreemptionMode"))
        return errors


def _given(value: str | None, default: str) -> str:
    return default if value is None else value
