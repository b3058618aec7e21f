"""Addresses of this app, below /api/v1/. Names of contexts may have slashes in them (``default/api:6443/admin``)."""

from __future__ import annotations

from django.urls import path

from schedweb.clusters import api

urlpatterns = [
    path("clusters/", api.ClustersApi.as_view(), name="clusters"),
    path("clusters/<path:name>/connect/", api.ClusterConnectApi.as_view(), name="cluster-connect"),
    path("clusters/<path:name>/disconnect/", api.ClusterDisconnectApi.as_view(), name="cluster-disconnect"),
    path("clusters/<path:name>/ask/", api.ClusterAskApi.as_view(), name="cluster-ask"),
    path("clusters/<path:name>/snapshot/", api.ClusterSnapshotApi.as_view(), name="cluster-snapshot"),
    path("clusters/<path:name>/", api.ClusterApi.as_view(), name="cluster"),
]
