"""Registers the app with Django."""

from __future__ import annotations

from importlib import import_module

from django.apps import AppConfig


class ConfigurationsConfig(AppConfig):
    name = "schedweb.configurations"
    label = "configurations"

    def ready(self) -> None:
        import_module("schedweb.configurations.checks")
