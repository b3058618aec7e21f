"""Snapshot: an immutable cluster with a timeline. Import: an uploaded file on its way to become one.

Import states: reading → ready → (committed: the row goes) | failed (also when its worker is lost). The uploaded file is
deleted as soon as it was read; what stays until the commit is redacted.
"""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import ClassVar

from django.conf import settings
from django.db import models

from schedweb.sentence_field import SentenceField
from schedweb.soft_delete import Deletable


class Snapshot(Deletable):
    class Source(models.TextChoices):
        SAMPLE = "sample"
        IMPORT = "import"
        TRACE = "trace"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=200)
    description = models.CharField(max_length=300, blank=True)
    source = models.CharField(max_length=10, choices=Source.choices)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    #: The cluster's own time: where the clock of a run starts.
    taken_at = models.DateTimeField()
    #: SHA-256 of the payload: two imports of one file have one digest.
    digest = models.CharField(max_length=64, db_index=True)
    counts = models.JSONField(default=dict)
    bars = models.JSONField(default=list)
    size_bytes = models.PositiveBigIntegerField(default=0)
    sample_slug = models.CharField(max_length=50, blank=True, db_index=True)
    sample_version = models.PositiveIntegerField(null=True, default=None)
    #: Slug of the configuration that it is made for, or that came with it.
    configuration_slug = models.CharField(max_length=50, blank=True)
    #: In the form of schedweb/engine/payload.py.
    payload = models.BinaryField()
    #: Of the cluster that it was taken from (schedweb/clusters); "" when it came as a file.
    context = models.CharField(max_length=253, blank=True, db_index=True)
    #: How many events of its real scheduler are known (SnapshotEvents).
    event_count = models.PositiveIntegerField(default=0)

    class Meta:
        ordering: ClassVar[list[str]] = ["-created_at", "name"]

    def __str__(self) -> str:
        return self.name


class SnapshotEvents(models.Model):
    """What the real cluster's scheduler said of its pods. Unlike the snapshot it grows: more can be added later."""

    snapshot = models.OneToOneField(Snapshot, on_delete=models.CASCADE, primary_key=True, related_name="events")
    #: In the form of schedweb/snapshots/scheduler_events.py.
    payload = models.BinaryField()

    def __str__(self) -> str:
        return f"events of {self.snapshot_id}"


class Import(models.Model):
    class State(models.TextChoices):
        READING = "reading"
        READY = "ready"
        FAILED = "failed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, related_name="+")
    filename = models.CharField(max_length=255)
    #: Of the cluster that is read in place of an upload (schedweb/clusters); "" of a file.
    context = models.CharField(max_length=253, blank=True)
    size_bytes = models.PositiveBigIntegerField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.READING)
    #: Of the worker that reads it, which renews it; None until one does. An import whose lease ran out has failed.
    lease_expires = models.DateTimeField(null=True, default=None)
    #: Until then it may wait for a worker; longer while one is there that has no place for it.
    waits_until = models.DateTimeField(null=True, default=None)
    error = SentenceField(blank=True)
    seconds = models.FloatField(null=True, default=None)
    counts = models.JSONField(default=dict)
    #: Sentences of framework/sentences.py.
    warnings = models.JSONField(default=list)
    #: What became of its workloads; sentences, too.
    notes = models.JSONField(default=list)
    #: The scheduler's own, as YAML, when the file has one; and why it cannot be used (framework/sentences.py).
    configuration = models.TextField(blank=True)
    configuration_errors = models.JSONField(default=list)
    #: Objects that could not be taken, the first ones: kind, namespace, name, and a sentence. And how many there are.
    problems = models.JSONField(default=list)
    problem_count = models.PositiveIntegerField(default=0)
    #: Of the load that was brought beside it: source, how many nodes it is of, and notes. Empty: none was.
    load = models.JSONField(default=dict)

    class Meta:
        ordering: ClassVar[list[str]] = ["-created_at"]

    def __str__(self) -> str:
        return self.filename

    @property
    def upload(self) -> Path:
        """The file as it came; gone once it was read."""
        return Path(settings.UPLOAD_DIR) / f"{self.id}.upload"

    @property
    def cluster(self) -> Path:
        """The redacted payload that the reader made of it."""
        return Path(settings.UPLOAD_DIR) / f"{self.id}.cluster"

    @property
    def progress(self) -> Path:
        """How far the reader of a cluster is."""
        return Path(settings.UPLOAD_DIR) / f"{self.id}.progress"

    @property
    def asked(self) -> Path:
        """What the credentials of the cluster have to be allowed for it to be read, as whoever reads it asks."""
        return Path(settings.UPLOAD_DIR) / f"{self.id}.asked"

    @property
    def granted(self) -> Path:
        """The same file once they were found to be."""
        return Path(settings.UPLOAD_DIR) / f"{self.id}.granted"

    @property
    def events(self) -> Path:
        """What schedulers said in it."""
        return Path(settings.UPLOAD_DIR) / f"{self.id}.events"

    @property
    def load_file(self) -> Path:
        """The load that was brought beside it, as a manifest."""
        return Path(settings.UPLOAD_DIR) / f"{self.id}.load"

    @property
    def index(self) -> Path:
        """Namespace, labels and state of every pod, for the preview of filters."""
        return Path(settings.UPLOAD_DIR) / f"{self.id}.index"
