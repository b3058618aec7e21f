"""Analysis: a question about a moment of a run, and its answer. Equal questions have one row, so it is a cache too."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models

from schedweb.runs.models.run import Run
from schedweb.sentence_field import SentenceField


class Analysis(models.Model):
    class Status(models.TextChoices):
        PENDING = "pending"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="analyses")
    position = models.PositiveBigIntegerField()
    name = models.CharField(max_length=30)
    arguments = models.JSONField(default=dict)
    #: Digest of the engine's version, the name and the arguments.
    key = models.CharField(max_length=64)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.PENDING)
    asked_by = models.CharField(max_length=150)
    created_at = models.DateTimeField(auto_now_add=True)
    #: After this nobody works on it any more, whatever the status says: its worker is gone. A moment that failed is
    #: tried again then.
    expires = models.DateTimeField()
    seconds = models.FloatField(null=True, default=None)
    error = SentenceField(blank=True)
    #: JSON text, passed on as it is.
    result = models.TextField(blank=True)
    #: Of a moment: what the pages show (schedweb/engine/moment_view.py).
    blob = models.BinaryField(null=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["-created_at"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["run", "position", "key"], name="one_analysis_per_question")
        ]

    def __str__(self) -> str:
        return f"{self.run_id} {self.name} at {self.position}"
