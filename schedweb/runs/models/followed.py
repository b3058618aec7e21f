"""A run that follows a real cluster: what is known of the reading, and of its shadow. The journal is the run's own."""

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
    #: How much of the run is kept, all that it stores together; then its oldest part goes.
    most_bytes = models.PositiveBigIntegerField()
    #: Changes, and when the last one came.
    changes = models.PositiveBigIntegerField(default=0)
    changed_at = models.DateTimeField(null=True, default=None)
    #: Why it follows no more.
    ended = SentenceField(blank=True, default="")
    #: What its scheduler decides is judged with the run's configuration; agreement below so many percent is told.
    shadow = models.BooleanField(default=False)
    alert_below = models.PositiveSmallIntegerField(null=True, default=None)
    #: Since when it is below, as far as it was looked at for notices, and how often it came to be.
    below_since = models.DateTimeField(null=True, default=None)
    alerts = models.PositiveIntegerField(default=0)
    #: When it is stopped by itself.
    ends_at = models.DateTimeField(null=True, default=None)
    #: Judgements that were stored, and how many of the oldest made room since.
    judgements_stored = models.PositiveBigIntegerField(default=0)
    judgements_dropped = models.PositiveBigIntegerField(default=0)

    #: Of a run that schedules the cluster: how it stands (JSON of ``SchedulingState``), and what became of its writes.
    scheduling = models.TextField(blank=True, default="")
    writes_done = models.PositiveBigIntegerField(default=0)
    writes_refused = models.PositiveBigIntegerField(default=0)
    #: Of such a run: ``OtherSchedulerRow``s (schedweb/engine/real_rows.py).
    other_schedulers = models.JSONField(default=list)

    class Meta:
        ordering: ClassVar[list[str]] = ["run"]

    def __str__(self) -> str:
        return f"{self.run_id} follows"


class ClusterWrite(models.Model):
    """A write to a real cluster: stored with the batch that decided it, and sent afterwards."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="cluster_writes", db_index=False)
    number = models.PositiveBigIntegerField()
    purpose = models.CharField(max_length=20)
    namespace = models.CharField(max_length=63, blank=True)
    name = models.CharField(max_length=253, blank=True)
    #: ``Write`` and ``Outcome`` (schedweb/writes/writes.py). Without an outcome nobody knows whether it was sent.
    write = models.JSONField()
    outcome = models.JSONField(null=True, default=None)
    #: An outcome is an input of the run.
    is_awaited = models.BooleanField()
    stored_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True, default=None)

    class Meta:
        ordering: ClassVar[list[str]] = ["number"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["run", "number"], name="one_row_per_write")
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(
                fields=["run", "number"], condition=models.Q(outcome__isnull=True), name="writes_without_outcome"
            ),
            # Pages ask every two seconds how many the last minute had.
            models.Index(fields=["run", "answered_at"], condition=models.Q(purpose="bind"), name="bindings_by_answer"),
        ]

    def __str__(self) -> str:
        return f"{self.purpose} {self.namespace}/{self.name}"


class RealPodRecord(models.Model):
    """A pod of the real cluster beside a world of our own: ``RealPodRow`` (schedweb/engine/real_rows.py)."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="real_pods", db_index=False)
    uid = models.CharField(max_length=128)
    namespace = models.CharField(max_length=63)
    name = models.CharField(max_length=253)
    workload = models.TextField()
    profile = models.CharField(max_length=253)
    amounts = models.JSONField()
    decided = models.BooleanField()
    came = models.BigIntegerField()
    since = models.BigIntegerField()
    node = models.CharField(max_length=253, blank=True)
    gated = models.BooleanField()
    message = models.TextField(blank=True)
    preempted = models.BooleanField()
    present = models.BooleanField()

    class Meta:
        ordering: ClassVar[list[str]] = ["namespace", "name"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["run", "uid"], name="one_real_pod_per_uid")
        ]

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


class ShadowJudgement(models.Model):
    """A decision of the real scheduler beside ours: ``JudgementRow`` (schedweb/engine/real_rows.py)."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="judgements", db_index=False)
    number = models.PositiveBigIntegerField()
    at = models.BigIntegerField()
    uid = models.CharField(max_length=128)
    namespace = models.CharField(max_length=63)
    name = models.CharField(max_length=253)
    workload = models.TextField()
    profile = models.CharField(max_length=253)
    kind = models.CharField(max_length=20)
    bound = models.BooleanField()
    real_node = models.CharField(max_length=253, blank=True)
    own_node = models.CharField(max_length=253, blank=True)
    plugin = models.CharField(max_length=253, blank=True)
    margin = models.BigIntegerField()
    detail = models.JSONField()

    class Meta:
        ordering: ClassVar[list[str]] = ["-number"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["run", "number"], name="one_judgement_per_change")
        ]
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["run", "at"])]

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name} {self.kind}"
