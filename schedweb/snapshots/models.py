"""Snapshot: an immutable cluster. Its payload (objects and timeline) is in the form of schedweb/engine/payload.py."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models


class Snapshot(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)
    #: The cluster's own time: where the clock of a run starts.
    taken_at = models.DateTimeField()
    payload = models.BinaryField()

    class Meta:
        ordering: ClassVar[list[str]] = ["-created_at"]

    def __str__(self) -> str:
        return self.name
