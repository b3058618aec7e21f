"""Notice: that somebody is told, was told or could not be told of one pod that waits, one proposed eviction, or a
shadow that came to agree too little."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from schedweb.runs.models import Run


class Notice(models.Model):
    class State(models.TextChoices):
        PENDING = "pending"
        SENDING = "sending"
        SENT = "sent"
        #: It was decided before it could be told.
        OVER = "over"
        GIVEN_UP = "given_up"
        #: The worker that sent it is gone, and nobody knows whether it arrived. It is not sent again.
        UNKNOWN = "unknown"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="notices", db_index=False)
    #: "" of a shadow.
    pod_uid = models.CharField(max_length=128)
    #: The pod's attempt that led to Permit: a pod that waits again later is told of again. 0 of an eviction.
    attempt = models.PositiveIntegerField()
    #: Of an eviction that is proposed for the pod: its number in the run. 0 of a pod that waits on Permit.
    proposal = models.PositiveIntegerField(default=0, db_default=0)
    #: Of a shadow: which time it is that it fell below its threshold. 0 of all else.
    alert = models.PositiveIntegerField(default=0, db_default=0)
    #: Which address, as a hash (schedweb/notices/targets.py): addresses hold secrets.
    target = models.CharField(max_length=32)
    state = models.CharField(max_length=10, choices=State.choices, default=State.PENDING)
    tries = models.PositiveIntegerField(default=0)
    #: When it is tried next; of one that is being sent, since when.
    at = models.DateTimeField()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["run", "pod_uid", "attempt", "proposal", "alert", "target"], name="one_notice_per_wait"
            )
        ]
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["state", "at"])]

    def __str__(self) -> str:
        return f"{self.pod_uid} of {self.run_id}: {self.state}"
