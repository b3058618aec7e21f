"""Snapshots and imports as the API shows them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from framework.reading.load_series import CPU, MEMORY
from schedweb.sentences import say_noted
from schedweb.snapshots.models import Import, Snapshot


class KindCountsField(serializers.DictField):
    child = serializers.IntegerField()


class NamespacePodsSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    pods = serializers.IntegerField()


class EventCountsSerializer(serializers.Serializer[Any]):
    kept = serializers.IntegerField(help_text="What schedulers said of pods")
    others = serializers.IntegerField(help_text="Said by others; not kept")
    pods = serializers.IntegerField()
    reasons = KindCountsField()


class AddedEventsSerializer(EventCountsSerializer):
    added = serializers.IntegerField(help_text="Of those kept, how many were not known before")


class EventsUploadSerializer(serializers.Serializer[Any]):
    file = serializers.FileField(required=False, help_text="kubectl get events -A -o json or yaml")
    text = serializers.CharField(required=False, help_text="The same, pasted", trim_whitespace=False)


class CountsSerializer(serializers.Serializer[Any]):
    nodes = serializers.IntegerField()
    pods = serializers.IntegerField()
    pending = serializers.IntegerField(help_text="Pods without a node that nothing gates")
    gated = serializers.IntegerField()
    namespaces = serializers.IntegerField()
    empty_namespaces = serializers.IntegerField()
    kinds = KindCountsField()
    unused_kinds = KindCountsField(help_text="Kept, but no scheduling decision reads them")
    dropped_kinds = KindCountsField(help_text="Not kept at all")
    removed = KindCountsField(
        default=dict,
        help_text="What was not kept of the others: environment, commands, probes, volumes, parameters, annotations, "
        "contents (of objects that scheduling does not read), fields",
    )
    pods_by_namespace = NamespacePodsSerializer(many=True)
    arrivals = serializers.IntegerField(default=0)
    departures = serializers.IntegerField(default=0)
    gpus = serializers.IntegerField(default=0)
    events = EventCountsSerializer(required=False)
    made_pods = serializers.IntegerField(default=0, help_text="Of all pods, those that workloads of the file gave")
    made_from = KindCountsField(default=dict, help_text="How many workloads of each kind gave them")


class BarSerializer(serializers.Serializer[Any]):
    zone = serializers.CharField(allow_blank=True)
    values = serializers.ListField(child=serializers.FloatField(), help_text="Requested share of cpu, node by node")


class SnapshotSerializer(serializers.ModelSerializer[Snapshot]):
    description = serializers.SerializerMethodField(help_text="Of samples and traces in the reader's language")
    counts = CountsSerializer(read_only=True)
    bars = BarSerializer(many=True, read_only=True)

    class Meta:
        model = Snapshot
        fields = (
            "id",
            "name",
            "description",
            "source",
            "created_at",
            "taken_at",
            "digest",
            "counts",
            "bars",
            "size_bytes",
            "sample_version",
            "configuration_slug",
            "event_count",
        )
        read_only_fields = fields

    def get_description(self, snapshot: Snapshot) -> str:
        return snapshot.description if snapshot.source == Snapshot.Source.IMPORT else say_noted(snapshot.description)


class ObjectSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField()
    namespace = serializers.CharField(allow_blank=True)
    name = serializers.CharField()
    manifest = serializers.DictField()


class FilteredSerializer(serializers.Serializer[Any]):
    nodes = serializers.IntegerField()
    pods = serializers.IntegerField()
    pending = serializers.IntegerField()
    made_pods = serializers.IntegerField(help_text="Of the pods that stay, those that workloads of the file gave")
    unnamed_usage_pods = serializers.IntegerField(help_text="Left-out pods whose usage stays on their nodes")


class ProblemSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField(allow_blank=True)
    namespace = serializers.CharField(allow_blank=True)
    name = serializers.CharField(allow_blank=True)
    words = serializers.CharField(help_text="What is wrong, with the object and its field")


class ProgressSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField(help_text="Under way")
    done = serializers.IntegerField(help_text="Kinds that were read")
    of = serializers.IntegerField()
    objects = serializers.IntegerField(help_text="Read so far")


class ImportLoadSerializer(serializers.Serializer[Any]):
    source = serializers.CharField(allow_blank=True)  # type: ignore[assignment]
    nodes = serializers.IntegerField(help_text="Nodes of the cluster of which it says something")
    notes = serializers.ListField(child=serializers.CharField(), help_text="What else to know of it")


class LoadUploadSerializer(serializers.Serializer[Any]):
    """One of `file`, `text` and `seed`."""

    file = serializers.FileField(
        required=False, help_text="A LoadMetrics, load-watcher's answer, or results of Prometheus (docs/formats.md)"
    )
    text = serializers.CharField(required=False, help_text="The same, pasted", trim_whitespace=False)
    resource = serializers.ChoiceField(
        ("", CPU, MEMORY), required=False, default="", help_text="Of a result of Prometheus that does not say it itself"
    )
    seed = serializers.IntegerField(
        required=False, min_value=0, max_value=2**53 - 1, help_text="Makes an hour of load up, the same for one seed"
    )


class ImportSerializer(serializers.ModelSerializer[Import]):
    counts = CountsSerializer(read_only=True, allow_null=True)
    warnings = serializers.ListField(child=serializers.CharField(), read_only=True)
    notes = serializers.ListField(
        child=serializers.CharField(), read_only=True, help_text="Which pods were made from workloads of the file"
    )
    filtered = FilteredSerializer(allow_null=True, read_only=True)
    progress = ProgressSerializer(
        allow_null=True, read_only=True, help_text="Of a cluster that is read; null: nothing is told of it"
    )
    load = ImportLoadSerializer(allow_null=True, read_only=True, help_text="What was brought beside the file")
    configuration_errors = serializers.ListField(child=serializers.CharField(), read_only=True)
    problems = ProblemSerializer(many=True, read_only=True, help_text="Objects that cannot be taken, the first ones")

    class Meta:
        model = Import
        fields = (
            "id",
            "filename",
            "size_bytes",
            "state",
            "error",
            "seconds",
            "context",
            "progress",
            "counts",
            "warnings",
            "notes",
            "filtered",
            "configuration",
            "configuration_errors",
            "problems",
            "problem_count",
            "load",
        )
        read_only_fields = fields


class ImportUploadSerializer(serializers.Serializer[Any]):
    file = serializers.FileField(required=False, help_text="kubectl get -o json or yaml, List, several documents")
    text = serializers.CharField(required=False, help_text="The same, pasted", trim_whitespace=False)


class ImportCommitSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")
    exclude_namespaces = serializers.ListField(child=serializers.CharField(), required=False, default=list)
    label_selector = serializers.CharField(required=False, allow_blank=True, default="")
    take_configuration = serializers.BooleanField(
        required=False, default=True, help_text="Make the file's own configuration, if it has a usable one, one of ours"
    )
    leave_out_problems = serializers.BooleanField(
        required=False, default=False, help_text="Import the rest of a file of which some objects cannot be taken"
    )
