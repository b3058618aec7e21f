"""API addresses of this app, below /api/v1/."""

from __future__ import annotations

from django.urls import path

from schedweb.snapshots.api import (
    ImportCommitView,
    ImportLoadView,
    ImportsView,
    ImportView,
    SnapshotEventsView,
    SnapshotObjectsView,
    SnapshotsView,
    SnapshotView,
)

urlpatterns = [
    path("snapshots/", SnapshotsView.as_view(), name="snapshots"),
    path("snapshots/<uuid:snapshot_id>/", SnapshotView.as_view(), name="snapshot"),
    path("snapshots/<uuid:snapshot_id>/objects/", SnapshotObjectsView.as_view(), name="snapshot-objects"),
    path("snapshots/<uuid:snapshot_id>/events/", SnapshotEventsView.as_view(), name="snapshot-events"),
    path("imports/", ImportsView.as_view(), name="imports"),
    path("imports/<uuid:import_id>/", ImportView.as_view(), name="import"),
    path("imports/<uuid:import_id>/load/", ImportLoadView.as_view(), name="import-load"),
    path("imports/<uuid:import_id>/commit/", ImportCommitView.as_view(), name="import-commit"),
]
