"""Plugins of kube-scheduler that are not built here yet: names, extension points and arguments, no behaviour.

They are registered but off by default. Where a configuration enables one it stays in the effective plugin set marked
"not evaluated yet", and a run that uses it says so before it begins (design §11.7).
"""

from __future__ import annotations

from typing import Final

from framework.configuration.catalogue import CatalogueEntry, ExtensionPoint, PluginArgs

_P = ExtensionPoint


def _absent(
    name: str, description: str, *points: ExtensionPoint, args_type: type[PluginArgs] | None = None
) -> CatalogueEntry:
    return CatalogueEntry(name, frozenset(points), args_type, description, evaluated=False)


NOT_EVALUATED_YET: Final = (
    _absent(
        "TopologyPlacementGenerator",
        "Proposes placements for pod groups (feature gate TopologyAwareWorkloadScheduling, off).",
        _P.PLACEMENT_GENERATE,
    ),
    _absent(
        "PodGroupPodsCount",
        "Scores placements of pod groups (feature gate TopologyAwareWorkloadScheduling, off).",
        _P.PLACEMENT_SCORE,
    ),
)
