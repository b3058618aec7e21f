"""Addresses of this app, below /api/v1/."""

from __future__ import annotations

from django.urls import path

from schedweb.keeping import api, storage_api

urlpatterns = [
    path("deleted/", api.DeletedApi.as_view()),
    path("deleted/restore/", api.DeletedRestoreApi.as_view()),
    path("deleted/remove/", api.DeletedRemoveApi.as_view()),
    path("storage/", storage_api.StorageApi.as_view()),
    path("storage/trouble/", storage_api.StorageTroubleApi.as_view()),
    path("storage/runs/", storage_api.StorageRunsApi.as_view()),
]
