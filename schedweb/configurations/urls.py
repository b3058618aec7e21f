"""API addresses of this app, below /api/v1/."""

from __future__ import annotations

from django.urls import path

from schedweb.configurations.api import (
    CheckView,
    ConfigurationsView,
    ConfigurationView,
    ConvertView,
    PluginsView,
    PresetsView,
    VersionDiffView,
    VersionExportView,
    VersionsView,
    VersionView,
)

_ONE = "configurations/<uuid:configuration_id>"
_VERSION = f"{_ONE}/versions/<int:number>"

urlpatterns = [
    path("configurations/", ConfigurationsView.as_view(), name="configurations"),
    path("configurations/check/", CheckView.as_view(), name="configuration-check"),
    path("configurations/convert/", ConvertView.as_view(), name="configuration-convert"),
    path(f"{_ONE}/", ConfigurationView.as_view(), name="configuration"),
    path(f"{_ONE}/versions/", VersionsView.as_view(), name="configuration-versions"),
    path(f"{_VERSION}/", VersionView.as_view(), name="configuration-version"),
    path(f"{_VERSION}/diff/", VersionDiffView.as_view(), name="configuration-version-diff"),
    path(f"{_VERSION}/export/", VersionExportView.as_view(), name="configuration-version-export"),
    path("plugins/", PluginsView.as_view(), name="plugins"),
    path("presets/", PresetsView.as_view(), name="presets"),
]
