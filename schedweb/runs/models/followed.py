"""What is known of the reading for a run that follows a real cluster. The journal is the run's own."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from schedweb.runs.models.run import Run
from schedweb.sentence_field import SentenceField


class Followed(models.Model):
    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="followed", primary_key=True)
    #: JSON of ``ClusterState`` (schedweb/clusters/reading/following.py), "" before the first.
    state = models.TextField(blank=True)
    state_at = models.DateTimeField(null=True, default=None)
    #: Of what the cluster told and the journal holds; and after how many no more is taken.
    journal_bytes = models.PositiveBigIntegerField(default=0)
    most_bytes = models.PositiveBigIntegerField()
    #: Changes, and when the last one came.
    changes = models.PositiveBigIntegerField(default=0)
    changed_at = models.DateTimeField(null=True, default=None)
    #: Why it follows no more.
    ended = SentenceField(blank=True, default="")

    class Meta:
        ordering: ClassVar[list[str]] = ["run"]

    def __str__(self) -> str:
        return f"{self.run_id} follows"
