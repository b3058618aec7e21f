"""Registers the app with Django, for its commands."""

from __future__ import annotations

from django.apps import AppConfig


class OperationConfig(AppConfig):
    name = "schedweb.operation"
    label = "operation"
