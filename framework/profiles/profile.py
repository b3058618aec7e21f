"""Profile: the plugins of one scheduler name, and what asks them at every extension point.

Filtering (PreFilter, Filter), PostFilter, Scoring (PreScore, Score) and Binding (Reserve to PostBind) are prepared when
the profile is built: per point a tuple of names and bound methods. A point returns the framework's Status and notes
what every plugin said in the attempt's trace.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from framework.configuration.effective import EffectiveProfile
from framework.extenders import EXTENDER
from framework.interface import plugin as points
from framework.interface.signature import signature
from framework.profiles.batch import Batch, batch_of
from framework.profiles.binding import Binding
from framework.profiles.build import EnabledPlugins, ask_for_events, enabled_plugins
from framework.profiles.filtering import Filtering
from framework.profiles.handle import ProfileHandle
from framework.profiles.pod_class import PodClass
from framework.profiles.post_filter import PostFilter
from framework.profiles.scoring import Scoring
from framework.profiles.services import Services
from framework.queue import HintMap, build_hint_map, default_registrations
from framework.reuse.columns import ColumnStore
from framework.reuse.pod_classes import Fragment, PodClasses


class Profile:
    def __init__(
        self,
        effective: EffectiveProfile,
        plugins: dict[str, points.Plugin],
        handle: ProfileHandle,
        services: Services,
    ) -> None:
        self.name = effective.scheduler_name
        self._effective = effective
        self.percentage_of_nodes_to_score = effective.percentage_of_nodes_to_score
        self.plugins = plugins
        self.handle = handle
        self._services = services
        self.batch: Batch | None = None
        """None where pods are not batched."""
        self.prepare()

    def prepare(self) -> None:
        """Everything that follows from the plugins; also after unpickling, when all of them are there again."""
        services = self._services
        self.hints = HintMap(())
        self.enabled = enabled_plugins(self._effective, self.plugins)
        self.columns = ColumnStore(services.snapshot, keeps=services.reuse == "used")
        self.classes = _pod_classes(self.enabled, self.columns, services)
        self.filtering = Filtering(self.enabled, services, self.classes, self.columns)
        self.post_filter = PostFilter(self.enabled.post_filter)
        self.scoring = Scoring(self.enabled, services, self.classes, self.columns)
        self.binding = Binding(
            self.enabled,
            frozenset(plugin.name for plugin in self.plugins.values() if plugin.skip_is_final),
            announces_node=self.handle.feature_gates.enabled("NominatedNodeNameForExpectation"),
        )
        self.handle.make_filter_run = self.filtering.make_run
        self.handle.asks_before_evicting = self.enabled.asks_before_evicting
        before, self.batch = self.batch, None
        if self.handle.feature_gates.enabled("OpportunisticBatching") and not services.extenders:
            self.batch = batch_of(self.enabled, services.objects)
        if self.batch is not None and before is not None:
            self.batch.go_on_from(before)

    def __getstate__(self) -> dict[str, Any]:
        """The plugins with what they remember; bound methods and hints are prepared again by ``Scheduler``."""
        kept = ("name", "_effective", "percentage_of_nodes_to_score", "plugins", "handle", "_services", "batch")
        return {name: self.__dict__[name] for name in kept}

    def ask_for_events(self) -> None:
        """Separate from construction: upstream asks when all profiles are built. Raises ProfileError."""
        registered = ask_for_events(self.plugins)
        if self._services.extenders:
            # Nobody asks extenders what they wait for (docs/semantics/extenders.md#events).
            registered = ((EXTENDER, default_registrations()), *registered)
        self.hints = build_hint_map(registered)


def _pod_classes(enabled: EnabledPlugins, columns: ColumnStore, services: Services) -> PodClasses[PodClass]:
    """Pods are of one class when all plugins that read them read the same."""
    filtering = [*enabled.pre_filter, *(p for p in enabled.filter if points.filters_columns(p))]
    scoring = [*enabled.pre_score, *(p for p in enabled.score if points.scores_columns(p))]
    reading: tuple[points.Plugin, ...] = tuple(dict.fromkeys((*filtering, *scoring)))
    make_class = partial(
        PodClass,
        frozenset(number for number, each in enumerate(reading) if each in filtering),
        frozenset(number for number, each in enumerate(reading) if each in scoring),
    )
    fragments: list[Fragment] = [each.fragment for each in reading]
    asked_by_node = [
        *(p for p in enabled.filter if not points.filters_columns(p)),
        *(p for p in enabled.score if not points.scores_columns(p)),
    ]
    if any(plugin.is_node_local for plugin in asked_by_node):
        # What they read of a pod they do not say: it may be all that equal pods have in common.
        fragments.append(signature)
    return PodClasses(fragments, services.snapshot, columns, make_class, keeps=services.reuse == "used")
