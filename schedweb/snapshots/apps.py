"""Registers the app with Django."""

from __future__ import annotations

from django.apps import AppConfig


class SnapshotsConfig(AppConfig):
    name = "schedweb.snapshots"
    label = "snapshots"
