"""Registers the app with Django: it has commands and no tables."""

from __future__ import annotations

from django.apps import AppConfig


class KeepingConfig(AppConfig):
    name = "schedweb.keeping"
    label = "keeping"
