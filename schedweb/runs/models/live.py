"""PodRecord, NodeRecord, ObjectRecord: what a run's cluster holds now, so that the web answers windows by SQL."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from schedweb.runs.models.packed import PackedField
from schedweb.runs.models.run import Run


class PodRecord(models.Model):
    class Column(models.TextChoices):
        GATED = "gated"
        ACTIVE = "active"
        BACKOFF = "backoff"
        UNSCHEDULABLE = "unschedulable"
        IN_FLIGHT = "in_flight"
        WAITING = "waiting"
        BOUND = "bound"
        COMPLETED = "completed"
        DELETED = "deleted"

    #: Pods that hold nothing any more: they have ended, or are not there.
    GONE = (Column.COMPLETED, Column.DELETED)

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="pod_records", db_index=False)
    uid = models.CharField(max_length=128)
    namespace = models.CharField(max_length=63)
    name = models.CharField(max_length=253)
    column = models.CharField(max_length=15, choices=Column.choices)
    #: Place within the column; smaller is nearer to the top.
    place = models.BigIntegerField(default=0)
    #: Equal for pods that the board shows as one card.
    group_key = models.CharField(max_length=64, blank=True)
    node = models.CharField(max_length=253, blank=True)
    priority = models.IntegerField(default=0)
    attempts = models.PositiveIntegerField(default=0)
    since = models.BigIntegerField(null=True)
    asks_person = models.BooleanField(default=False)
    gang = models.CharField(max_length=317, blank=True)
    labels = models.JSONField(default=dict)
    #: The card as the browser gets it (schedweb/engine/pod_view.py).
    card = PackedField(default=dict)
    #: What only the pod's own page shows: spec summary, message, journey.
    detail = PackedField(default=dict)
    #: JSON, packed (schedweb/runs/records/manifests.py).
    manifest = models.BinaryField(null=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["run", "uid"], name="one_record_per_pod")
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["run", "column", "place"]),
            models.Index(fields=["run", "namespace", "name"]),
            models.Index(fields=["run", "node"]),
            models.Index(fields=["column", "run"]),
        ]

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


class RunMetrics(models.Model):
    """What /metrics of the run said last (framework/reports/metrics.py). What an older version plays has none."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, primary_key=True, related_name="metrics")
    position = models.BigIntegerField()
    #: Prometheus' text format, zstd.
    text = models.BinaryField()

    def __str__(self) -> str:
        return f"{self.run_id} at {self.position}"


class NodeRecord(models.Model):
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="node_records", db_index=False)
    #: The node's place in every table of this run; never used again after its deletion.
    row = models.PositiveIntegerField()
    name = models.CharField(max_length=253)
    present = models.BooleanField(default=True)
    zone = models.CharField(max_length=253, blank=True)
    pool = models.CharField(max_length=253, blank=True)
    type = models.CharField(max_length=253, blank=True)
    cordoned = models.BooleanField(default=False)
    tainted = models.BooleanField(default=False)
    #: Integers per resource, in the order of Run.resources.
    allocatable = models.JSONField(default=list)
    requested = models.JSONField(default=list)
    reserved = models.JSONField(default=list)
    #: How many pods are bound, waiting, in flight.
    pods = models.JSONField(default=list)
    manifest = models.BinaryField(null=True)
    #: Of a node that is gone: it went no later than at this nanosecond of run time.
    gone_by = models.BigIntegerField(null=True, default=None)

    class Meta:
        ordering: ClassVar[list[str]] = ["row"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["run", "row"], name="one_record_per_row")
        ]
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["run", "name"])]

    def __str__(self) -> str:
        return self.name


class ObjectRecord(models.Model):
    """What is neither pod nor node: claims, volumes, classes, slices, budgets, groups.

    Two API groups may have a kind of the same name (PodGroup), so both are part of the key.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="object_records")
    kind = models.CharField(max_length=63)
    group = models.CharField(max_length=253, blank=True, default="")
    """The API group, without a version; "" is the core group."""
    namespace = models.CharField(max_length=63, blank=True)
    name = models.CharField(max_length=253)
    present = models.BooleanField(default=True)
    manifest = models.BinaryField(null=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["kind", "group", "namespace", "name"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["run", "kind", "group", "namespace", "name"], name="one_record_per_object")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"
