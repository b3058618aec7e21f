"""KubeSchedulerConfiguration: loading with upstream's rules and texts, the effective plugin set, forms, YAML editing.

``load`` turns text into a ``Loaded``; ``Loaded.effective`` is what the framework's runtime builds profiles from. This
layer knows plugins only through a ``PluginCatalogue`` (``framework.plugins.registry`` is one).
"""

from __future__ import annotations

from framework.configuration.catalogue import CatalogueEntry, ExtensionPoint, PluginArgs, PluginCatalogue
from framework.configuration.effective import (
    DisabledPlugin,
    EffectiveConfiguration,
    EffectivePlugin,
    EffectivePoint,
    EffectiveProfile,
)
from framework.configuration.errors import ConfigurationError, FieldError, FieldPath
from framework.configuration.feature_gates import FeatureGates, FeatureGatesError, parse_feature_gates
from framework.configuration.load import Loaded, load, load_value
from framework.configuration.types import API_VERSION, KIND, Extender, KubeSchedulerConfiguration

__all__ = [
    "API_VERSION",
    "KIND",
    "CatalogueEntry",
    "ConfigurationError",
    "DisabledPlugin",
    "EffectiveConfiguration",
    "EffectivePlugin",
    "EffectivePoint",
    "EffectiveProfile",
    "Extender",
    "ExtensionPoint",
    "FeatureGates",
    "FeatureGatesError",
    "FieldError",
    "FieldPath",
    "KubeSchedulerConfiguration",
    "Loaded",
    "PluginArgs",
    "PluginCatalogue",
    "load",
    "load_value",
    "parse_feature_gates",
]
