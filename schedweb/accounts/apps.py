"""Registers the app with Django."""

from __future__ import annotations

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "schedweb.accounts"
    label = "accounts"
