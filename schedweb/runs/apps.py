"""Registers the app with Django."""

from __future__ import annotations

from django.apps import AppConfig


class RunsConfig(AppConfig):
    name = "schedweb.runs"
    label = "runs"
