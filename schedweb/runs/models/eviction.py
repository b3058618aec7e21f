"""EvictionProposal: pods that a scheduler would evict for another one, and that a person is asked about."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from schedweb.runs.models.run import Run


class EvictionProposal(models.Model):
    """One that stands no longer stays, closed: what became of it is a decision, or a line of the feed."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="eviction_proposals", db_index=False)
    #: Counts the run's.
    number = models.PositiveIntegerField()
    #: The pod that needs room.
    pod_uid = models.CharField(max_length=128)
    namespace = models.CharField(max_length=63)
    name = models.CharField(max_length=253)
    node = models.CharField(max_length=253)
    since = models.BigIntegerField()
    is_open = models.BooleanField()
    #: schedweb/engine/evictions.py
    body = models.JSONField()

    class Meta:
        ordering: ClassVar[list[str]] = ["number"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["run", "number"], name="one_proposal_per_number")
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["run"], condition=models.Q(is_open=True), name="open_proposals")
        ]

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name} on {self.node}"
