"""The table of all plugins: name → class. Read it top to bottom; a new plugin is one line here.

Plugins of other packages come through the entry-point group ``scheduling_playground.plugins``. The registry answers the
configuration layer as its PluginCatalogue and gives the framework's runtime the classes.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from framework.configuration.catalogue import CatalogueEntry, ExtensionPoint
from framework.interface import (
    BindPlugin,
    ColumnFilterPlugin,
    ColumnScorePlugin,
    FilterPlugin,
    PermitPlugin,
    Plugin,
    PostBindPlugin,
    PostFilterPlugin,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    PreScorePlugin,
    QueueSortPlugin,
    ReservePlugin,
    ScorePlugin,
)
from framework.interface.plugin import PlacementGeneratePlugin, PlacementScorePlugin
from framework.plugins.capacityscheduling.plugin import CapacityScheduling
from framework.plugins.coscheduling.plugin import Coscheduling
from framework.plugins.crossnodepreemption.plugin import CrossNodePreemption
from framework.plugins.defaultbinder import DefaultBinder
from framework.plugins.defaultpreemption.plugin import DefaultPreemption
from framework.plugins.dynamicresources.plugin import DynamicResources
from framework.plugins.evictionapproval.plugin import EvictionApproval
from framework.plugins.gangscheduling import GangScheduling
from framework.plugins.imagelocality import ImageLocality
from framework.plugins.interpodaffinity.plugin import InterPodAffinity
from framework.plugins.loadaware.plugin import LoadAwareScheduling
from framework.plugins.manualapproval.plugin import ManualApproval
from framework.plugins.networkaware.networkoverhead import NetworkOverhead
from framework.plugins.networkaware.topologicalsort import TopologicalSort
from framework.plugins.nodeaffinity.plugin import NodeAffinity
from framework.plugins.nodedeclaredfeatures import NodeDeclaredFeatures
from framework.plugins.nodemetadata.plugin import NodeMetadata
from framework.plugins.nodename import NodeName
from framework.plugins.nodeports import NodePorts
from framework.plugins.noderesources.balanced import NodeResourcesBalancedAllocation
from framework.plugins.noderesources.fit import NodeResourcesFit
from framework.plugins.noderesourcesallocatable import NodeResourcesAllocatable
from framework.plugins.noderesourcetopology.plugin import NodeResourceTopologyMatch
from framework.plugins.nodeunschedulable import NodeUnschedulable
from framework.plugins.nodevolumelimits.plugin import NodeVolumeLimits
from framework.plugins.podgrouppodscount import PodGroupPodsCount
from framework.plugins.podstate import PodState
from framework.plugins.podtopologyspread.plugin import PodTopologySpread
from framework.plugins.preemptiontoleration.plugin import PreemptionToleration
from framework.plugins.prioritysort import PrioritySort
from framework.plugins.qossort import QOSSort
from framework.plugins.quotatree.plugin import ElasticQuotaTree
from framework.plugins.reservation.plugin import ReservationPlugin
from framework.plugins.schedulinggates import SchedulingGates
from framework.plugins.sysched.plugin import SySched
from framework.plugins.tainttoleration import TaintToleration
from framework.plugins.topologyplacement import TopologyPlacementGenerator
from framework.plugins.trimaran.loadvariation import LoadVariationRiskBalancing
from framework.plugins.trimaran.lowrisk import LowRiskOverCommitment
from framework.plugins.trimaran.peaks import Peaks
from framework.plugins.trimaran.targetloadpacking import TargetLoadPacking
from framework.plugins.volumebinding.plugin import VolumeBinding
from framework.plugins.volumerestrictions import VolumeRestrictions
from framework.plugins.volumezone import VolumeZone

ENTRY_POINT_GROUP: Final = "scheduling_playground.plugins"

_P = ExtensionPoint

PLUGINS: Final[tuple[type[Plugin] | CatalogueEntry, ...]] = (
    SchedulingGates,
    PrioritySort,
    NodeUnschedulable,
    NodeName,
    TaintToleration,
    NodeAffinity,
    NodePorts,
    NodeResourcesFit,
    VolumeRestrictions,
    NodeVolumeLimits,
    VolumeBinding,
    VolumeZone,
    PodTopologySpread,
    InterPodAffinity,
    DynamicResources,
    DefaultPreemption,
    NodeResourcesBalancedAllocation,
    ImageLocality,
    DefaultBinder,
    NodeDeclaredFeatures,
    GangScheduling,
    TopologyPlacementGenerator,
    PodGroupPodsCount,
    Coscheduling,
    CapacityScheduling,
    NodeResourcesAllocatable,
    NodeResourceTopologyMatch,
    PreemptionToleration,
    TargetLoadPacking,
    LoadVariationRiskBalancing,
    LowRiskOverCommitment,
    Peaks,
    NetworkOverhead,
    TopologicalSort,
    SySched,
    PodState,
    QOSSort,
    NodeMetadata,
    ManualApproval,
    EvictionApproval,
    LoadAwareScheduling,
    ElasticQuotaTree,
    ReservationPlugin,
)

OPTIONAL: Final[tuple[type[Plugin], ...]] = (CrossNodePreemption,)
"""What scheduler-plugins has and leaves out of the scheduler that it builds. Configurations of runs may name them;
``decide`` refuses them, as that scheduler does."""

_BASES: Final[dict[ExtensionPoint, tuple[type[Plugin], ...]]] = {
    _P.PRE_ENQUEUE: (PreEnqueuePlugin,),
    _P.QUEUE_SORT: (QueueSortPlugin,),
    _P.PRE_FILTER: (PreFilterPlugin,),
    _P.FILTER: (FilterPlugin, ColumnFilterPlugin),
    _P.POST_FILTER: (PostFilterPlugin,),
    _P.PRE_SCORE: (PreScorePlugin,),
    _P.SCORE: (ScorePlugin, ColumnScorePlugin),
    _P.RESERVE: (ReservePlugin,),
    _P.PERMIT: (PermitPlugin,),
    _P.PRE_BIND: (PreBindPlugin,),
    _P.BIND: (BindPlugin,),
    _P.POST_BIND: (PostBindPlugin,),
    _P.PLACEMENT_GENERATE: (PlacementGeneratePlugin,),
    _P.PLACEMENT_SCORE: (PlacementScorePlugin,),
}


class PluginRefused(ValueError):
    """A plugin cannot be registered; the text says which and why."""


class Registry:
    """Name → plugin. Immutable; ``with_plugins`` gives a larger one."""

    def __init__(self, plugins: Iterable[type[Plugin] | CatalogueEntry]) -> None:
        self._classes: dict[str, type[Plugin]] = {}
        self._entries: dict[str, CatalogueEntry] = {}
        for plugin in plugins:
            entry = plugin if isinstance(plugin, CatalogueEntry) else describe(plugin)
            if entry.name in self._entries:
                raise PluginRefused(f"a plugin named {entry.name} already exists")
            self._entries[entry.name] = entry
            if not isinstance(plugin, CatalogueEntry):
                self._classes[entry.name] = plugin

    def names(self) -> tuple[str, ...]:
        return tuple(self._entries)

    def get(self, name: str) -> CatalogueEntry | None:
        return self._entries.get(name)

    def plugin_class(self, name: str) -> type[Plugin] | None:
        """None for a name that is only described."""
        return self._classes.get(name)

    def entries(self) -> tuple[CatalogueEntry, ...]:
        return tuple(self._entries.values())

    def with_plugins(self, plugins: Iterable[type[Plugin]]) -> Registry:
        mine: list[type[Plugin] | CatalogueEntry] = [
            self._classes.get(name, entry) for name, entry in self._entries.items()
        ]
        return Registry([*mine, *plugins])


def describe(plugin: type[Plugin]) -> CatalogueEntry:
    """What the configuration layer needs to know of a class."""
    name = getattr(plugin, "name", None)
    if not isinstance(name, str) or not name:
        raise PluginRefused(f"{plugin.__module__}.{plugin.__qualname__} has no name")
    points = frozenset(point for point, bases in _BASES.items() if issubclass(plugin, bases))
    if not points:
        raise PluginRefused(f"plugin {name} extends no extension point")
    if inspect.isabstract(plugin):
        missing = ", ".join(sorted(getattr(plugin, "__abstractmethods__", ())))
        raise PluginRefused(f"plugin {name} does not implement {missing}")
    return CatalogueEntry(name, points, plugin.args_type, plugin.description, plugin.origin)


def installed_plugins(found: Iterable[EntryPoint] | None = None) -> Iterator[type[Plugin]]:
    """Plugin classes that installed packages offer, by the name of their entry point."""
    chosen = entry_points(group=ENTRY_POINT_GROUP) if found is None else found
    for entry_point in sorted(chosen, key=lambda each: each.name):
        yield plugin_of(entry_point)


def plugin_of(entry_point: EntryPoint) -> type[Plugin]:
    """Raises PluginRefused for what is no plugin, and whatever importing it raises."""
    plugin = entry_point.load()
    if not (isinstance(plugin, type) and issubclass(plugin, Plugin)):
        raise PluginRefused(f"entry point {entry_point.name} ({entry_point.value}) is not a Plugin class")
    if problem := called_otherwise(plugin):
        raise PluginRefused(f"plugin {getattr(plugin, 'name', plugin.__qualname__)}: {problem}")
    return plugin


def called_otherwise(plugin: type[Plugin]) -> str:
    """Which method cannot take what the framework calls it with; "" when all can."""
    for base in {base: None for bases in _BASES.values() for base in bases if issubclass(plugin, base)}:
        for name, method in inspect.getmembers(base, inspect.isfunction):
            own = getattr(plugin, name)
            if own is method or name.startswith("_"):
                continue
            given = [p for p in inspect.signature(method).parameters.values() if p.default is p.empty]
            try:
                inspect.signature(own).bind(*given)
            except TypeError:
                takes = ", ".join(inspect.signature(own).parameters)
                return f"{name} takes ({takes}) and is called with ({', '.join(each.name for each in given)})"
            except ValueError:
                continue  # written in another language: nothing is known of it
    return ""


def built_in_registry() -> Registry:
    """What kube-scheduler and the scheduler of scheduler-plugins know, and plugins of ours."""
    return Registry(PLUGINS)


def installed_registry() -> Registry:
    """The built-in plugins, optional ones, and those of installed packages."""
    return built_in_registry().with_plugins((*OPTIONAL, *installed_plugins()))
