"""Run, its journal and its checkpoints: what a worker needs to play a run, or to take it over.

States: created → playing ⇄ paused; playing → waiting_for_person → playing; playing → finished (a command may give it
work again); any → stopped; any → parked (its engine does not live), and back when somebody tries again. A run that
plays is paused when it comes back from a deletion. Only the holder of the lease, in its epoch, writes what the engine
derives.
"""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone

from schedweb.configurations.models import ConfigurationVersion
from schedweb.runs.models.packed import Dictionary
from schedweb.sentence_field import SentenceField
from schedweb.snapshots.models import Snapshot
from schedweb.soft_delete import Deletable


class Run(Deletable):
    class State(models.TextChoices):
        CREATED = "created"
        PLAYING = "playing"
        PAUSED = "paused"
        WAITING_FOR_PERSON = "waiting_for_person"
        FINISHED = "finished"
        STOPPED = "stopped"
        PARKED = "parked"

    #: Nobody plays it any more, or until somebody tries again.
    AT_REST = (State.STOPPED, State.PARKED)

    class ClockMode(models.TextChoices):
        VIRTUAL = "virtual"
        REAL = "real"

    class Approvals(models.TextChoices):
        HOLD = "hold"
        TIMEOUT = "timeout"
        AUTO = "auto"

    class Ties(models.TextChoices):
        SEEDED = "seeded"
        UPSTREAM = "upstream"
        SMALLEST = "smallest"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    number = models.PositiveIntegerField(unique=True)
    snapshot = models.ForeignKey(Snapshot, on_delete=models.PROTECT, related_name="runs")
    configuration_version = models.ForeignKey(ConfigurationVersion, on_delete=models.PROTECT, related_name="runs")
    #: What the run began with; a `set_configuration` command changes the one above.
    first_configuration_version = models.ForeignKey(
        ConfigurationVersion, on_delete=models.PROTECT, related_name="begun_runs"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    #: A fork: it began with its parent's machine at `parent_position`; its journal begins with its parent's.
    parent = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="forks")
    parent_name = models.CharField(max_length=20, blank=True)
    parent_position = models.PositiveBigIntegerField(null=True)
    #: The parent's digest there, if one was stored: the fork's own must be the same.
    parent_digest = models.CharField(max_length=64, blank=True)
    #: The context of the real cluster whose changes are its inputs; "" of all other runs, forks of such a run included.
    follows = models.CharField(max_length=253, blank=True, default="")
    #: It began as a picture of a real cluster: a run that follows one, and its forks (schedweb/engine/observed.py).
    began_observing = models.BooleanField(default=False)
    #: It began as a scheduler of a real cluster, which `follows` names while it is one; its forks have it as well. What
    #: was allowed then, of `Scheduling` (schedweb/engine/live.py).
    scheduling = models.JSONField(null=True, default=None)
    #: It began as a world of its own beside the cluster that `follows` names while it follows one; its forks have it as
    #: well (schedweb/engine/own_world.py).
    own_world = models.BooleanField(default=False)
    #: What was changed there, `{"workload", "text"}` each (schedweb/runs/forking/fork_changes.py).
    fork_changes = models.JSONField(default=list)
    #: Of a fork that takes what came to the cluster after it left: `{"cluster", "changes", "first", "last"}`, the times
    #: in nanoseconds since 1970 (schedweb/runs/forking/arrivals.py).
    later_arrivals = models.JSONField(null=True, default=None)
    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    started_by_name = models.CharField(max_length=150)
    engine_version = models.CharField(max_length=40)

    seed = models.PositiveBigIntegerField(default=0)
    ties = models.CharField(max_length=10, choices=Ties.choices, default=Ties.SEEDED)
    approvals = models.CharField(max_length=10, choices=Approvals.choices, default=Approvals.HOLD)
    clock_mode = models.CharField(max_length=10, choices=ClockMode.choices, default=ClockMode.VIRTUAL)
    clock_start = models.BigIntegerField(help_text="nanoseconds since 1970")
    first_speed = models.CharField(max_length=10, default="10")

    # What the engine has derived so far; written with the batch it belongs to.
    state = models.CharField(max_length=20, choices=State.choices, default=State.CREATED, db_index=True)
    error = SentenceField(blank=True)
    #: Of a run that is parked: what it was, and what was seen (schedweb/runs/storing/parking.py).
    parked = models.JSONField(null=True, default=None)
    speed = models.CharField(max_length=10, default="10")
    position = models.PositiveBigIntegerField(default=0)
    clock = models.BigIntegerField()
    points = models.PositiveBigIntegerField(default=0)
    attempts = models.PositiveIntegerField(default=0)
    digest = models.CharField(max_length=64, blank=True)
    seq = models.PositiveBigIntegerField(default=0)
    counts = models.JSONField(default=dict)
    #: The board as JSON text, passed on as it is; a JSONField would be parsed and written ten times a second.
    columns = models.TextField(default="{}")
    cycle = models.JSONField(null=True, default=None)
    node_count = models.PositiveIntegerField(default=0)
    pod_count = models.PositiveIntegerField(default=0)
    #: Pods placed from the start whose rows are still to be written: lists and searches do not have them all yet.
    unwritten = models.PositiveIntegerField(default=0)
    #: The journal has a command as applied whose outcome is still to come: the state is that of before it.
    obeying = models.BooleanField(default=False)
    arrivals_left = models.PositiveIntegerField(default=0)
    arrivals_total = models.PositiveIntegerField(default=0)
    next_arrival = models.BigIntegerField(null=True, default=None)
    resources = models.JSONField(default=list)
    #: As they were set (schedweb/engine/commands.py: BreakpointSet), and the one that the run stands at.
    breakpoints = models.JSONField(default=list)
    hit = models.JSONField(null=True, default=None)
    #: What would be free if the run went, with its share of the indexes, and kind by kind
    #: (schedweb/runs/storing/sizes.py). As of `measured_at`; None: by an earlier version, which counted less.
    stored_bytes = models.PositiveBigIntegerField(default=0)
    stored = models.JSONField(default=dict)
    measured_at = models.DateTimeField(null=True, default=None)

    #: That its rows are packed with; None: of few rows, and of what an earlier version stored.
    dictionary = models.ForeignKey(Dictionary, on_delete=models.PROTECT, null=True, default=None, related_name="runs")

    # What retention goes by (schedweb/keeping/retention.py).
    #: When it was played last, or brought back from a deletion.
    used_at = models.DateTimeField(default=timezone.now, db_index=True)
    #: By somebody who wants it kept.
    starred_at = models.DateTimeField(null=True, default=None)
    starred_by_name = models.CharField(max_length=150, blank=True, default="")
    #: What the plugins said in its attempts went to make room; and why.
    breakdowns_gone_at = models.DateTimeField(null=True, default=None)
    breakdowns_gone_why = SentenceField(blank=True, default="")

    # Of a run that follows a cluster and grew past its bound, and of its forks (schedweb/runs/following/thinning.py).
    #: What was before went; it is played from the `RunBase` there.
    base_position = models.PositiveBigIntegerField(default=0)
    #: Nanoseconds of run time there.
    base_clock = models.BigIntegerField(null=True, default=None)

    # The lease. `epoch` grows with every holder; a writer whose epoch is not the newest writes nothing.
    epoch = models.PositiveIntegerField(default=0)
    lease_owner = models.CharField(max_length=100, blank=True)
    lease_expires = models.DateTimeField(null=True, db_index=True)
    #: The holder of the lease has more to do than the commands that wait. Workers sweep for either.
    wanted = models.BooleanField(default=False, db_index=True)
    worker_since = models.DateTimeField(null=True)
    taking_over = models.BooleanField(default=False)

    #: What the run was at a position, when it is looked at there (schedweb/runs/records/moments.py).
    moment: Any = None
    last_position = 0

    class Meta:
        ordering: ClassVar[list[str]] = ["-number"]

    def __str__(self) -> str:
        return f"r-{self.number:04d}"

    @property
    def only_observes(self) -> bool:
        """It is a picture of a real cluster: nothing is decided in it."""
        return bool(self.follows) and self.scheduling is None and not self.own_world


class JournalEntry(models.Model):
    """An input of the machine: a command of a person, what a real cluster told, or the advances of a clock that follows
    the wall."""

    class Status(models.TextChoices):
        PENDING = "pending"
        APPLIED = "applied"
        REFUSED = "refused"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="journal")
    #: Of commands, in order of arrival: applied ones have ascending positions in this order. None for what the
    #: engine itself says: moves of the clock, and what it heard of a real cluster (of older versions: numbers between
    #: those of the commands).
    number = models.PositiveIntegerField(null=True)
    client_id = models.UUIDField(default=uuid.uuid4)
    type = models.CharField(max_length=30)
    command = models.JSONField()
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    author_name = models.CharField(max_length=150)
    reason = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.PENDING)
    position = models.PositiveBigIntegerField(null=True)
    clock = models.BigIntegerField(null=True, help_text="nanoseconds of run time when it was applied")
    text = SentenceField(blank=True)
    result = models.JSONField(null=True, default=None)
    #: The W3C trace context of the request that brought it (schedweb/observing/trace_context.py).
    traceparent = models.CharField(max_length=55, blank=True, default="")

    class Meta:
        ordering: ClassVar[list[str]] = ["number"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["run", "number"], name="one_journal_entry_per_number"),
            models.UniqueConstraint(fields=["run", "client_id"], name="one_journal_entry_per_client_id"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["run", "status", "number"]),
            # Workers look every second for runs whose commands nobody takes.
            models.Index(fields=["run"], condition=models.Q(status="pending"), name="pending_journal_entries"),
            # Asked right before every write to a real cluster, whose run may have a hundred thousand entries.
            models.Index(fields=["run"], condition=models.Q(type="stop"), name="journal_entries_that_stop"),
        ]

    def __str__(self) -> str:
        return f"{self.run_id} #{self.number} {self.type}"


class Checkpoint(models.Model):
    """The machine between two cycles. Replay starts from the newest one instead of from the beginning."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="checkpoints")
    position = models.PositiveBigIntegerField()
    #: Nanoseconds of run time; None where an earlier version stored it.
    clock = models.BigIntegerField(null=True, default=None)
    digest = models.CharField(max_length=64)
    engine_version = models.CharField(max_length=40)
    created_at = models.DateTimeField(auto_now_add=True)
    data = models.BinaryField()

    class Meta:
        ordering: ClassVar[list[str]] = ["-position"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["run", "position"], name="one_checkpoint_per_position")
        ]

    def __str__(self) -> str:
        return f"{self.run_id} at {self.position}"


class RunBase(models.Model):
    """What a run is played from whose older part went: the machine at `Run.base_position`. Nothing makes it again."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, primary_key=True, related_name="base")
    digest = models.CharField(max_length=64)
    engine_version = models.CharField(max_length=40)
    created_at = models.DateTimeField()
    data = models.BinaryField()

    def __str__(self) -> str:
        return f"{self.run_id} from its base"
