"""What happened: attempts with their compressed breakdown, decisions about waiting pods, the activity feed."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from schedweb.runs.models.packed import PackedField
from schedweb.runs.models.run import JournalEntry, Run
from schedweb.sentence_field import SentenceField


class AttemptChunk(models.Model):
    """Consecutive attempts as framework.trace encodes them, and what nodes had free before each."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="chunks")
    first = models.PositiveIntegerField()
    count = models.PositiveIntegerField()
    traces = models.BinaryField()
    #: schedweb/engine/usage_log.py: changes of the nodes' usage during these attempts.
    usage = models.BinaryField()
    #: The whole usage table before `first`; not in every chunk.
    usage_base = models.BinaryField(null=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["first"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["run", "first"], name="one_chunk_per_first_attempt")
        ]

    def __str__(self) -> str:
        return f"{self.run_id} attempts {self.first} to {self.first + self.count - 1}"


class StepChunk(models.Model):
    """When the run was at consecutive steps, and the counts there (schedweb/engine/steps.py). What an older version
    played has none."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="step_chunks")
    first = models.PositiveBigIntegerField()
    steps = models.BinaryField()

    class Meta:
        ordering: ClassVar[list[str]] = ["first"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["run", "first"], name="one_chunk_per_first_step")
        ]

    def __str__(self) -> str:
        return f"{self.run_id} steps from {self.first}"


class Attempt(models.Model):
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="attempt_rows", db_index=False)
    number = models.PositiveIntegerField()
    pod_uid = models.CharField(max_length=128)
    namespace = models.CharField(max_length=63)
    name = models.CharField(max_length=253)
    attempt = models.PositiveIntegerField(help_text="the pod's own count")
    profile = models.CharField(max_length=253)
    at = models.BigIntegerField()
    ended = models.BigIntegerField(null=True)
    result = models.CharField(max_length=20)
    node = models.CharField(max_length=253, blank=True)
    message = models.TextField(blank=True)
    score = models.BigIntegerField(null=True)
    duration_us = models.PositiveBigIntegerField(null=True)
    #: {"points": {point: µs}, "plugins": [[point, plugin, µs]]} of the cycles in which plugins were timed.
    timing = models.JSONField(null=True, default=None)
    #: What was decided after the scheduling cycle (Permit, PreBind, Bind); the chunk holds the rest.
    ending = PackedField(null=True, default=None)
    #: Of the run, behind the attempt's cycle.
    position = models.PositiveBigIntegerField(null=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["number"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["run", "number"], name="one_attempt_per_number")
        ]
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["run", "pod_uid", "number"])]

    def __str__(self) -> str:
        return f"{self.run_id} attempt {self.number}"


class Decision(models.Model):
    class Kind(models.TextChoices):
        APPROVED = "approved"
        REJECTED = "rejected"
        OVERRIDDEN = "overridden"
        TIMED_OUT = "timed_out"
        PREEMPTED = "preempted"
        #: About pods that would be evicted: they may, or they stay.
        EVICT = "evict"
        KEEP = "keep"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="decisions")
    number = models.PositiveIntegerField()
    entry = models.ForeignKey(JournalEntry, on_delete=models.SET_NULL, null=True, related_name="decisions")
    decision = models.CharField(max_length=12, choices=Kind.choices)
    pod_uid = models.CharField(max_length=128)
    namespace = models.CharField(max_length=63)
    name = models.CharField(max_length=253)
    workload = models.CharField(max_length=253)
    tail = models.CharField(max_length=253, blank=True)
    node = models.CharField(max_length=253, blank=True)
    plugin = models.CharField(max_length=253, blank=True)
    reason = models.TextField(blank=True)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    by = SentenceField()
    at = models.BigIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)
    outcome = SentenceField(blank=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["-created_at", "-number"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["run", "number"], name="one_decision_per_number")
        ]

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name} {self.decision}"


class Preemption(models.Model):
    """One victim: which pod it had to leave for, in which attempt, on which node."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="preemptions")
    #: The attempt, and the victim's place among that attempt's victims.
    number = models.PositiveIntegerField()
    place = models.PositiveIntegerField()
    attempt = models.PositiveIntegerField(help_text="the pod's own count")
    at = models.BigIntegerField()
    node = models.CharField(max_length=253)
    uid = models.CharField(max_length=128)
    namespace = models.CharField(max_length=63)
    name = models.CharField(max_length=253)
    priority = models.IntegerField()
    victim_uid = models.CharField(max_length=128)
    victim_namespace = models.CharField(max_length=63)
    victim_name = models.CharField(max_length=253)
    victim_priority = models.IntegerField()

    class Meta:
        ordering: ClassVar[list[str]] = ["-number", "place"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["run", "number", "place"], name="one_victim_per_place")
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["run", "victim_uid"]),
            models.Index(fields=["run", "uid"]),
        ]

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name} preempted {self.victim_namespace}/{self.victim_name}"


class FeedItem(models.Model):
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="feed", db_index=False)
    number = models.PositiveIntegerField()
    at = models.BigIntegerField()
    kind = models.CharField(max_length=15)
    #: " ns/name ns/name node " for the feed's filter.
    subjects = models.TextField(blank=True)
    item = models.JSONField()

    class Meta:
        ordering: ClassVar[list[str]] = ["-number"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["run", "number"], name="one_feed_item_per_number")
        ]

    def __str__(self) -> str:
        return f"{self.run_id} feed {self.number}"
