"""A plugin package that cannot be loaded stops start-up with a sentence, not the first page that needs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Error, register

from framework.plugins.registry import ENTRY_POINT_GROUP
from schedweb.configurations.catalogue import plugin_catalogue


@register()
def check_plugins(app_configs: Sequence[Any] | None = None, **kwargs: Any) -> list[CheckMessage]:
    try:
        plugin_catalogue()
    except Exception as error:  # noqa: BLE001 - whatever a package does when it is imported
        hint = f"manage.py doctor says which package it is; its entry point is of the group {ENTRY_POINT_GROUP}."
        return [Error(f"The plugins of an installed package cannot be loaded: {error}.", hint, id="schedweb.E002")]
    return []
