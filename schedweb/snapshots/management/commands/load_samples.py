"""`manage.py load_samples`: the sample clusters, once each."""

from __future__ import annotations

from typing import Any

from schedweb.snapshots.samples.loading import samples_load
from schedweb.stored_command import StoredCommand


class Command(StoredCommand):
    help = "Loads the sample clusters that are not there yet in their newest version."

    def handle(self, *args: Any, **options: Any) -> None:
        loaded = samples_load()
        names = ", ".join(snapshot.name for snapshot in loaded)
        self.stdout.write(f"Loaded {names}." if loaded else "All samples are there.")
