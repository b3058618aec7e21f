"""Run, board, journal and commands."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from schedweb.api.structs import StructSerializer
from schedweb.engine import shapes
from schedweb.runs.models import JournalEntry, Run
from schedweb.runs.records.fields import ColumnsSerializer, CycleSerializer, QueueCountsSerializer, SpeedField


class SnapshotRefSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    name = serializers.CharField()
    events = serializers.IntegerField(help_text="of its real scheduler, that are known")


class ConfigurationRefSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    name = serializers.CharField()
    version_id = serializers.UUIDField()
    version = serializers.IntegerField()
    builtin = serializers.BooleanField()


class ClockSerializer(StructSerializer):
    struct = shapes.Clock
    speed = SpeedField()


class WorkerSerializer(StructSerializer):
    struct = shapes.Worker


class ArrivalsSerializer(StructSerializer):
    struct = shapes.Arrivals


class LaterArrivalsSerializer(serializers.Serializer[Any]):
    cluster = serializers.CharField(help_text="the context of the cluster that the fork left")
    changes = serializers.IntegerField(help_text="`arrivals` says how many of them are still to come")
    first = serializers.DateTimeField(help_text="when the first one came there")
    last = serializers.DateTimeField()


class ParentSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField(allow_null=True, help_text="null when it was deleted")
    number = serializers.CharField(help_text="r-0012")
    position = serializers.IntegerField(help_text="where the fork began")


class ForkChangeSerializer(serializers.Serializer[Any]):
    workload = serializers.CharField(
        help_text="whose change it is: a pod's workload, or another object's name; may be empty"
    )
    text = serializers.CharField(help_text="lowered cpu 24 → 12")


class MomentSerializer(serializers.Serializer[Any]):
    run = serializers.UUIDField()
    position = serializers.IntegerField()
    last = serializers.IntegerField(help_text="where the run is now")


class BreakpointSerializer(serializers.Serializer[Any]):
    id = serializers.CharField()
    on = serializers.ChoiceField(["point", "status", "rejection"])
    value = serializers.CharField(help_text="an extension point, a column of the board, or a plugin")
    filter = serializers.CharField(required=False, help_text="which pods: text, !inverse, -l key=value")
    node = serializers.CharField(required=False)


class HitSerializer(StructSerializer):
    struct = shapes.Hit


class ParkedSerializer(serializers.Serializer[Any]):
    """What was seen when the run's engine did not live."""

    at = serializers.DateTimeField(allow_null=True, help_text="wall clock")
    ended = serializers.CharField(allow_blank=True, help_text="how the engine's process ended: signal or exit status")
    lines = serializers.CharField(allow_blank=True, help_text="the last ones it wrote, or a traceback")
    kept = serializers.IntegerField(help_text="commands that wait until somebody tries again")


class StarredSerializer(serializers.Serializer[Any]):
    at = serializers.DateTimeField()
    by = serializers.CharField()


class BreakdownsGoneSerializer(serializers.Serializer[Any]):
    at = serializers.DateTimeField()
    text = serializers.CharField(help_text="a sentence with when and why, and how they are made again")
    position = serializers.IntegerField(help_text="a fork at this step makes them again")


class ThinnedSerializer(serializers.Serializer[Any]):
    position = serializers.IntegerField(help_text="what is kept of the run begins at this step")
    at = serializers.DateTimeField(help_text="run time there")
    text = serializers.CharField(help_text="a sentence with both")


class RunSerializer(serializers.Serializer[Any]):
    id = serializers.CharField(help_text="a UUID; of a run as it was, with @position")
    number = serializers.CharField(help_text="r-0042")
    moment = MomentSerializer(allow_null=True, help_text="of a run as it was")
    snapshot = SnapshotRefSerializer()
    configuration = ConfigurationRefSerializer()
    state = serializers.ChoiceField(Run.State.values)
    error = serializers.CharField(allow_null=True)
    parked = ParkedSerializer(allow_null=True, help_text="of a run that is parked; the command try_again ends that")
    seed = serializers.IntegerField()
    ties = serializers.ChoiceField(Run.Ties.values)
    approvals = serializers.ChoiceField(Run.Approvals.values)
    clock = ClockSerializer()
    attempts = serializers.IntegerField()
    position = serializers.IntegerField(help_text="operations done; what the journal and moments name")
    follows = serializers.CharField(
        allow_blank=True,
        help_text="the context of the real cluster that it follows; nothing is decided in such a run but where "
        "`schedules` or `own_world` says so",
    )
    schedules = serializers.BooleanField(
        help_text="it is a scheduler of that cluster: what it decides is written there"
    )
    shadow = serializers.BooleanField(
        help_text="its configuration decides beside the scheduler of the cluster that it follows"
    )
    dry_run = serializers.BooleanField(help_text="it schedules a cluster, and nothing of what it writes is carried out")
    own_world = serializers.BooleanField(
        help_text="that cluster's arrivals come to a world of its own, in which this run decides; nothing is written "
        "there"
    )
    parent = ParentSerializer(allow_null=True, help_text="of a fork")
    fork_changes = ForkChangeSerializer(many=True, help_text="what was changed on a fork before it went on")
    later_arrivals = LaterArrivalsSerializer(
        allow_null=True,
        help_text="of a fork to which what came to the cluster afterwards comes, without its scheduler's decisions",
    )
    points = serializers.IntegerField(help_text="extension-point boundaries passed")
    breakpoints = BreakpointSerializer(many=True)
    hit = HitSerializer(allow_null=True, help_text="the breakpoint that the run stands at")
    counts = QueueCountsSerializer()
    nodes = serializers.IntegerField()
    pods = serializers.IntegerField()
    unwritten = serializers.IntegerField(
        help_text="pods placed from the start that lists and searches may not have yet; their rows are being written"
    )
    started_at = serializers.DateTimeField(help_text="wall clock")
    started_by = serializers.CharField()
    worker = WorkerSerializer()
    seq = serializers.IntegerField()
    arrivals = ArrivalsSerializer(allow_null=True)
    size_bytes = serializers.IntegerField(help_text="that would be free if the run went, as it was measured last")
    starred = StarredSerializer(allow_null=True, help_text="of a run that somebody wants kept: nothing of it goes")
    breakdowns_gone = BreakdownsGoneSerializer(
        allow_null=True, help_text="of a run of which what the plugins said went to make room"
    )
    thinned = ThinnedSerializer(
        allow_null=True, help_text="of a run whose oldest part went, as it grew past what is kept of it, and its forks"
    )
    engine_version = serializers.CharField()
    digest = serializers.CharField(allow_blank=True, help_text="equal for runs that decided everything alike")


class RunWaitSerializer(serializers.Serializer[Any]):
    rests = serializers.BooleanField(help_text="false: the time was up first")
    run = RunSerializer()


class RunCreateSerializer(serializers.Serializer[Any]):
    snapshot = serializers.UUIDField()
    configuration_version = serializers.UUIDField()
    seed = serializers.IntegerField(min_value=0, max_value=2**53 - 1, default=0)
    clock = serializers.ChoiceField(Run.ClockMode.values, default="virtual")
    speed = SpeedField(default="10")
    approvals = serializers.ChoiceField(Run.Approvals.values, default="hold")
    ties = serializers.ChoiceField(Run.Ties.values, default="seeded")
    paused = serializers.BooleanField(default=True)
    start = serializers.DateTimeField(
        required=False,
        allow_null=True,
        default=None,
        help_text="where the clock starts; else the snapshot's time",
    )


class BoardSerializer(serializers.Serializer[Any]):
    seq = serializers.IntegerField()
    run = RunSerializer()
    cycle = CycleSerializer(allow_null=True)
    columns = ColumnsSerializer()


class CommandSerializer(serializers.Serializer[Any]):
    """What each type carries is checked by schedweb/engine/commands.py, the one place that knows."""

    type = serializers.ChoiceField(
        [
            "play", "pause", "step", "set_speed", "set_seed", "stop", "try_again", "pod_add", "pod_delete", "node_add",
            "node_delete", "node_cordon", "node_uncordon", "node_drain", "pod_activate", "set_configuration", "decide",
            "wait", "breakpoint_set", "breakpoint_remove", "device_condition", "decide_eviction", "change",
        ]
    )  # fmt: skip
    client_id = serializers.UUIDField(required=False, help_text="the same id is taken once only")
    speed = SpeedField(required=False)
    what = serializers.ChoiceField(["cycle", "point"], required=False)
    seed = serializers.IntegerField(required=False)
    seconds = serializers.IntegerField(required=False, help_text="of `wait`: how long time passes on the run's clock")
    manifest = serializers.CharField(required=False, help_text="YAML or JSON of one object")
    verb = serializers.ChoiceField(
        ["add", "replace", "delete", "remove"],
        required=False,
        help_text="of `change`; what is removed is not made anew by controllers",
    )
    kind = serializers.CharField(
        required=False, help_text="of `change`: with namespace and name the only object that manifest may be of"
    )
    resource_version = serializers.CharField(
        required=False,
        allow_blank=True,
        help_text="of `change`: which state of the object the manifest was made of (`version` of its YAML); refused "
        "where it has changed since. Without it, it is written over",
    )
    namespace = serializers.CharField(required=False)
    name = serializers.CharField(required=False)
    version = serializers.UUIDField(required=False, help_text="configuration version")
    decision = serializers.ChoiceField(["approve", "reject", "override"], required=False)
    id = serializers.CharField(required=False, help_text="of a breakpoint")
    on = serializers.ChoiceField(["point", "status", "rejection"], required=False)
    value = serializers.CharField(required=False)
    filter = serializers.CharField(required=False, allow_blank=True)
    node = serializers.CharField(required=False, allow_blank=True)
    plugin = serializers.CharField(required=False)
    reason = serializers.CharField(required=False, allow_blank=True)
    driver = serializers.CharField(required=False, help_text="of a device; `name` is the claim's")
    pool = serializers.CharField(required=False)
    device = serializers.CharField(required=False)
    condition = serializers.CharField(required=False, help_text="its type")
    status = serializers.ChoiceField(["True", "False", "Unknown"], required=False)
    message = serializers.CharField(required=False, allow_blank=True)


class DecidedPodSerializer(serializers.Serializer[Any]):
    namespace = serializers.CharField()
    name = serializers.CharField()
    uid = serializers.CharField(required=False)


class DecidedEvictionSerializer(serializers.Serializer[Any]):
    number = serializers.IntegerField(help_text="of the proposal")
    namespace = serializers.CharField(help_text="of the pod that needs room")
    name = serializers.CharField()


class CommandRequestSerializer(CommandSerializer):
    pods = DecidedPodSerializer(many=True, required=False)
    evictions = DecidedEvictionSerializer(many=True, required=False)


class CommandReceiptSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    status = serializers.ChoiceField(JournalEntry.Status.values)
    warnings = serializers.ListField(
        child=serializers.CharField(), help_text="unknown fields of an object that is added, which decide nothing"
    )
    kept = serializers.BooleanField(help_text="the run is parked: it is done when somebody tries again")


class CommandResultSerializer(StructSerializer):
    struct = shapes.CommandResult


class JournalEntrySerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    number = serializers.IntegerField()
    client_id = serializers.UUIDField(allow_null=True)
    status = serializers.ChoiceField(JournalEntry.Status.values)
    text = serializers.CharField(allow_blank=True, help_text="why it was refused")
    author = serializers.CharField()
    reason = serializers.CharField(allow_blank=True)
    at = serializers.DateTimeField(help_text="wall clock")
    position = serializers.IntegerField(allow_null=True)
    run_time = serializers.DateTimeField(allow_null=True)
    command = serializers.DictField()
    result = CommandResultSerializer(allow_null=True)


MARKS = ("preemption", "failure", "decision", "command")


class MarkSerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(MARKS)
    position = serializers.IntegerField(help_text="of the first one")
    text = serializers.CharField(help_text="namespace/name of the pod, who decided, or the command")
    count = serializers.IntegerField(help_text="how many there are hereabouts")


class TimelineAskSerializer(serializers.Serializer[Any]):
    at = serializers.DateTimeField(required=False, help_text="run time: `at` of the answer is the last step before it")


class NotedStepSerializer(serializers.Serializer[Any]):
    position = serializers.IntegerField(help_text="at or before the one asked for")
    clock = serializers.DateTimeField(help_text="run time there")
    counts = QueueCountsSerializer()


class TimelineSerializer(serializers.Serializer[Any]):
    first = serializers.IntegerField(help_text="where what is kept of the run begins: 0, unless its past was thinned")
    last = serializers.IntegerField(help_text="where the run is now")
    attempts = serializers.IntegerField()
    marks = MarkSerializer(many=True)
    at = NotedStepSerializer(allow_null=True, help_text="the last step before the time that was asked for")


class StepSerializer(serializers.Serializer[Any]):
    step = NotedStepSerializer(allow_null=True, help_text="null where nothing was noted: an older version played it")
