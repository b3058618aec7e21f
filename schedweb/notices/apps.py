"""Registers the app with Django."""

from __future__ import annotations

from django.apps import AppConfig


class NoticesConfig(AppConfig):
    name = "schedweb.notices"
    label = "notices"
