"""Registers the app with Django."""

from __future__ import annotations

from django.apps import AppConfig


class EngineConfig(AppConfig):
    name = "schedweb.engine"
    label = "engine"
