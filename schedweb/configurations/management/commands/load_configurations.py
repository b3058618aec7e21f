"""`manage.py load_configurations`: the built-in configurations in their newest texts."""

from __future__ import annotations

from typing import Any

from schedweb.configurations import services
from schedweb.stored_command import StoredCommand


class Command(StoredCommand):
    help = "Loads the built-in configurations that are not there yet in their newest text."

    def handle(self, *args: Any, **options: Any) -> None:
        loaded = services.builtins_load()
        names = ", ".join(str(version) for version in loaded)
        self.stdout.write(f"Loaded {names}." if loaded else "All built-in configurations are there.")
