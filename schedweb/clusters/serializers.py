"""Clusters as the API shows them."""

from __future__ import annotations

from typing import Any, get_args

from rest_framework import serializers

from schedweb.clusters.reading.reflector import State
from schedweb.clusters.selectors import MODES, STATES
from schedweb.snapshots.serializers import CountsSerializer

KIND_STATES = get_args(State)


class ClusterSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(help_text="Of the context")
    server = serializers.CharField(allow_blank=True, help_text="Address of its API server, where it is known")
    version = serializers.CharField(allow_blank=True)
    is_offered = serializers.BooleanField(help_text="This server lets people connect to it")
    is_connected = serializers.BooleanField()
    connected_at = serializers.DateTimeField(allow_null=True)
    connected_by = serializers.CharField(allow_blank=True)
    state = serializers.ChoiceField(
        STATES,
        help_text="off: not connected; waiting: for a worker; catching_up: the first lists; partly: some kinds cannot "
        "be read; stale: what is shown is from `since`; refused: the credentials may read nothing; "
        "failed: nothing could be read so far",
    )
    since = serializers.DateTimeField(allow_null=True, help_text="Of the state")
    problem = serializers.CharField(allow_blank=True)
    code = serializers.CharField(allow_blank=True, help_text="Of the problem, where it is of the whole connection")
    tries = serializers.IntegerField(help_text="In vain")
    again_at = serializers.DateTimeField(allow_null=True, help_text="The next try")
    is_insecure = serializers.BooleanField(help_text="The server's certificate is not looked at")
    nodes = serializers.IntegerField()
    pods = serializers.IntegerField(help_text="Without those that are over")
    pending = serializers.IntegerField(help_text="Pods without a node that nothing gates")
    kinds_done = serializers.IntegerField(help_text="Kinds whose first list is over")
    kinds_of = serializers.IntegerField()
    behind = serializers.FloatField(
        allow_null=True, help_text="Seconds from a change to its arrival, at most; null: nothing happened lately"
    )
    follow_megabytes = serializers.IntegerField(
        help_text="how much is kept of a run that follows or schedules it, where nobody says otherwise"
    )
    can_be_read = serializers.BooleanField(help_text="Nodes and pods are live")


class ClustersSerializer(serializers.Serializer[Any]):
    results = ClusterSerializer(many=True)
    problem = serializers.CharField(allow_blank=True, help_text="Why no context is offered")


class ClusterKindSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField()
    plural = serializers.CharField()
    group = serializers.CharField(allow_blank=True)
    state = serializers.ChoiceField(KIND_STATES, help_text="absent: the API server does not have it")
    since = serializers.DateTimeField()
    objects = serializers.IntegerField()
    read = serializers.IntegerField(help_text="Objects of the list that is under way")
    changes = serializers.IntegerField(help_text="Since the first list")
    changed_at = serializers.DateTimeField(allow_null=True)
    heard_at = serializers.DateTimeField(allow_null=True, help_text="Of the last message, bookmarks included")
    lag = serializers.FloatField(allow_null=True, help_text="Seconds, of the last change, at most")
    problem = serializers.CharField(allow_blank=True)
    tries = serializers.IntegerField()
    again_at = serializers.DateTimeField(allow_null=True)
    streams = serializers.BooleanField(help_text="Lists are streaming lists")
    unreadable = serializers.IntegerField(help_text="Objects that were left out")


class ClusterRuleSerializer(serializers.Serializer[Any]):
    group = serializers.CharField(allow_blank=True)
    resource = serializers.CharField()
    name = serializers.CharField(allow_blank=True)
    namespace = serializers.CharField(allow_blank=True)
    verbs = serializers.ListField(child=serializers.CharField())
    missing = serializers.ListField(child=serializers.CharField())
    why = serializers.CharField()


class ClusterModeSerializer(serializers.Serializer[Any]):
    mode = serializers.ChoiceField(MODES)
    granted = serializers.IntegerField()
    of = serializers.IntegerField()
    rules = ClusterRuleSerializer(many=True)
    yaml = serializers.CharField(allow_blank=True, help_text="What is missing, to apply")


class ClusterRightsSerializer(serializers.Serializer[Any]):
    asked_at = serializers.DateTimeField()
    who = serializers.CharField(allow_blank=True, help_text="The user, where the API server named it")
    modes = ClusterModeSerializer(many=True)


class ClusterSnapshotSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    name = serializers.CharField()
    created_at = serializers.DateTimeField()
    counts = CountsSerializer()


class ClusterSchedulingSerializer(serializers.Serializer[Any]):
    is_allowed = serializers.BooleanField(help_text="PLAYGROUND_MAY_SCHEDULE names the cluster")
    may = serializers.BooleanField(help_text="Whoever asks has the right, which `manage.py cluster allow` gives")


class ClusterDetailsSerializer(ClusterSerializer):
    kinds = ClusterKindSerializer(many=True)
    rights = ClusterRightsSerializer(allow_null=True)
    rate = serializers.FloatField(help_text="Changes a second")
    clock_ahead = serializers.FloatField(allow_null=True, help_text="Seconds of the API server's clock before ours")
    bytes_read = serializers.IntegerField()
    scheduling = ClusterSchedulingSerializer()
    snapshots = ClusterSnapshotSerializer(many=True, help_text="The newest ones")
