"""Beside the API: the addresses that probes and Prometheus ask for."""

from __future__ import annotations

from django.urls import path

from schedweb.operation import views

urlpatterns = [
    path("livez", views.livez, name="livez"),
    path("readyz", views.readyz, name="readyz"),
    path("metrics", views.metrics, name="metrics"),
]
