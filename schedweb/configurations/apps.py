"""Registers the app with Django."""

from __future__ import annotations

from django.apps import AppConfig


class ConfigurationsConfig(AppConfig):
    name = "schedweb.configurations"
    label = "configurations"
