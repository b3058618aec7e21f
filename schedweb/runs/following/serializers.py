"""Following a cluster: what is asked, and what is known of its reading."""

from __future__ import annotations

import re
from typing import Any, Final

from rest_framework import serializers

from framework.objects.names import label_value_errors, qualified_name_errors
from schedweb.clusters.serializers import ClusterRuleSerializer
from schedweb.runs.following.selectors import (
    ON_ITS_OWN,
    PURPOSES,
    RESULTS,
    SCHEDULING_STATES,
    STATES,
    STEP_BY_STEP,
)
from schedweb.runs.following.services import LEAST_MEGABYTES, MOST_MEGABYTES, MOST_MINUTES
from schedweb.runs.playing.serializers import RunSerializer
from schedweb.sentences import say
from schedweb.snapshots.serializers import ImportSerializer

WAYS: Final = (STEP_BY_STEP, ON_ITS_OWN)
LABEL: Final = re.compile("[a-z0-9]([-a-z0-9]*[a-z0-9])?")
"""RFC 1123, as the API server has it for namespaces."""


class FollowRequestSerializer(serializers.Serializer[Any]):
    import_id = serializers.UUIDField(
        required=False,
        help_text="of the reading that an earlier answer named; without it the cluster begins to be read",
    )
    configuration_version = serializers.UUIDField(
        required=False, help_text="what answers are worked out with; by default kube-scheduler's own configuration"
    )
    megabytes = serializers.IntegerField(
        required=False,
        min_value=LEAST_MEGABYTES,
        max_value=MOST_MEGABYTES,
        help_text="how much of the run is kept; then its oldest part goes, and the run goes on. By default what the "
        "server is set to",
    )
    minutes = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_MINUTES,
        help_text="after which the run is stopped by itself; without it somebody has to stop it",
    )
    shadow = serializers.BooleanField(
        required=False,
        help_text="the configuration decides beside the cluster's scheduler: /runs/<run>/shadow/",
    )
    way = serializers.ChoiceField(
        WAYS,
        required=False,
        help_text="of a shadow. step_by_step, the default: each decision is judged on the state just before it; "
        "on_its_own: the same arrivals in a world of its own, where differences add up",
    )


class NamespaceField(serializers.CharField):
    """A name that no namespace can have would leave all pods where they are, without a word."""

    def to_internal_value(self, data: Any) -> str:
        name = super().to_internal_value(data)
        if not LABEL.fullmatch(name):
            raise serializers.ValidationError(say("{name} is not the name of a namespace.", name=name))
        return name


class NodeSelectorField(serializers.DictField):
    """Labels that no node can have would keep all pods pending."""

    child = serializers.CharField(allow_blank=True)

    def to_internal_value(self, data: Any) -> dict[str, str]:
        labels: dict[str, str] = super().to_internal_value(data)
        for key, value in labels.items():
            if errors := (*qualified_name_errors(key), *label_value_errors(value)):
                raise serializers.ValidationError(
                    say("{label} is not a label: {why}", label=f"{key}={value}", why=errors[0])
                )
        return labels


class ScheduleRequestSerializer(serializers.Serializer[Any]):
    import_id = serializers.UUIDField(
        required=False,
        help_text="of the reading that an earlier answer named; without it the cluster begins to be read",
    )
    typed = serializers.CharField(help_text="the cluster's name, as the person typed it")
    configuration_version = serializers.UUIDField()
    scheduler_names = serializers.ListField(
        child=serializers.CharField(max_length=253),
        allow_empty=False,
        help_text="the schedulerName of every profile: whose pods are scheduled",
    )
    namespaces = serializers.ListField(
        child=NamespaceField(max_length=63), required=False, help_text="empty: all of them"
    )
    bindings_per_minute = serializers.IntegerField(
        required=False, min_value=0, max_value=1_000_000, help_text="0: as many as there are"
    )
    node_selector = NodeSelectorField(
        required=False, help_text="labels of the nodes that pods are placed on; empty: all of the cluster"
    )
    dry_run = serializers.BooleanField(
        required=False, help_text="every write is sent with dryRun=All, and nothing changes"
    )
    megabytes = serializers.IntegerField(
        required=False,
        min_value=LEAST_MEGABYTES,
        max_value=MOST_MEGABYTES,
        help_text="how much of the run is kept; then its oldest part goes, and the run goes on",
    )


class ForRealSerializer(serializers.Serializer[Any]):
    import_id = serializers.UUIDField(
        required=False,
        help_text="of the reading that an earlier answer named; without it the cluster begins to be read",
    )
    typed = serializers.CharField(help_text="the cluster's name, as the person typed it")


class KeepSerializer(serializers.Serializer[Any]):
    megabytes = serializers.IntegerField(
        required=False,
        min_value=LEAST_MEGABYTES,
        max_value=MOST_MEGABYTES,
        help_text="of the run with all that it stores",
    )
    until = serializers.DateTimeField(
        required=False, allow_null=True, help_text="when it is stopped by itself; null: when somebody stops it"
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs:
            raise serializers.ValidationError(say("Say how much is kept, or when it ends."))
        return attrs


class FollowAnswerSerializer(serializers.Serializer[Any]):
    reading = ImportSerializer(allow_null=True, help_text="ask again with its id until there is a run")
    run = RunSerializer(allow_null=True)


class FollowedSerializer(serializers.Serializer[Any]):
    context = serializers.CharField()  # type: ignore[assignment]
    state = serializers.ChoiceField(
        STATES,
        help_text="waiting: no worker has begun; partly: live but for some kinds; refused: the credentials "
        "may read nothing; ended: it is followed no more",
    )
    since = serializers.DateTimeField(allow_null=True, help_text="of the state; of stale: what is shown is from then")
    problem = serializers.CharField(allow_blank=True)
    again_at = serializers.DateTimeField(allow_null=True, help_text="when it is tried again")
    behind = serializers.FloatField(allow_null=True, help_text="seconds from a change in the cluster to its arrival")
    kinds_done = serializers.IntegerField(help_text="kinds whose first list was read")
    kinds_of = serializers.IntegerField()
    refused = serializers.ListField(child=serializers.CharField(), help_text="kinds that the credentials may not read")
    shadow = serializers.BooleanField(help_text="the configuration decides beside the real scheduler")
    way = serializers.ChoiceField(WAYS, allow_null=True, help_text="in which it does; null: it does not")
    changes = serializers.IntegerField(help_text="that the cluster told since the run began")
    changed_at = serializers.DateTimeField(allow_null=True)
    kept_bytes = serializers.IntegerField(help_text="of the run, as it was measured last")
    measured_at = serializers.DateTimeField(allow_null=True, help_text="null: not yet")
    most_bytes = serializers.IntegerField(help_text="how much of the run is kept; then its oldest part goes")
    until = serializers.DateTimeField(
        allow_null=True, help_text="when it is stopped by itself; null: when somebody stops it"
    )


class RejectedSerializer(serializers.Serializer[Any]):
    namespace = serializers.CharField()
    name = serializers.CharField()
    node = serializers.CharField()
    reason = serializers.CharField(help_text="OutOfcpu, OutOfmemory, OutOfpods and so on")
    message = serializers.CharField(allow_blank=True)
    at = serializers.DateTimeField(help_text="when it was bound")
    scheduler = serializers.CharField()
    is_ours = serializers.BooleanField(help_text="this run bound it")


class LackingRuleSerializer(ClusterRuleSerializer):
    since = serializers.DateTimeField(help_text="when it was found to be missing")


class LackingSerializer(serializers.Serializer[Any]):
    rules = LackingRuleSerializer(many=True)
    yaml = serializers.CharField(help_text="roles with what is missing, to apply")


class HeldSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(help_text="with its namespace")
    holder = serializers.CharField(allow_blank=True, help_text="empty: nobody")
    is_ours = serializers.BooleanField()
    since = serializers.DateTimeField(allow_null=True, help_text="when its holder took it")
    renewed_at = serializers.DateTimeField(allow_null=True, help_text="as it was stored last, some seconds ago at most")
    transitions = serializers.IntegerField(help_text="how often it went from one holder to another")
    seconds = serializers.IntegerField(help_text="for which it is held without a renewal")


class OtherSchedulerSerializer(serializers.Serializer[Any]):
    scheduler = serializers.CharField(help_text="schedulerName of the pods")
    count = serializers.IntegerField(help_text="pods that got a node since the run began")
    last_at = serializers.DateTimeField(help_text="when the run heard of the last one")


class ScheduledSerializer(serializers.Serializer[Any]):
    context = serializers.CharField()  # type: ignore[assignment]
    state = serializers.ChoiceField(
        SCHEDULING_STATES,
        help_text="standing_by: somebody else holds the Lease; lease_lost: it was ours, and nothing is written until "
        "it is again; lacks_rights: the credentials may bind nothing any more, and nothing is decided until they may; "
        "not_allowed: the worker may not write there",
    )
    since = serializers.DateTimeField(allow_null=True)
    problem = serializers.CharField(allow_blank=True)
    holder = serializers.CharField(allow_blank=True, help_text="of the Lease, where it is somebody else")
    schedulers = serializers.ListField(child=serializers.CharField())
    namespaces = serializers.ListField(child=serializers.CharField(), help_text="empty: all of them")
    bindings_per_minute = serializers.IntegerField()
    node_selector = serializers.DictField(child=serializers.CharField(), help_text="empty: all nodes")
    dry_run = serializers.BooleanField()
    bound_last_minute = serializers.IntegerField(
        help_text="bindings that were carried out within the last minute; in a dry run those that were accepted"
    )
    lease = HeldSerializer(
        allow_null=True, help_text="of the cluster, as it was seen last; null in a dry run, which needs none"
    )
    written = serializers.IntegerField(help_text="writes that were carried out, Events aside")
    refused = serializers.IntegerField(help_text="writes that were not, Events aside")
    on_their_way = serializers.IntegerField(help_text="writes that have no outcome yet, Events aside")
    rejected = RejectedSerializer(
        many=True,
        help_text="pods that were bound since the run began, by whomever, and that their kubelets rejected because the "
        "node was full: two schedulers share it. As far as the cluster still has them, at most 50, newest first",
    )
    other_schedulers = OtherSchedulerSerializer(
        many=True,
        help_text="whose pods got nodes that this run schedules to, as its watches told since it began; at most 50 "
        "names, who binds most first. A kubelet's static pods are no scheduler's",
    )
    lacks = LackingSerializer(
        allow_null=True, help_text="rights that the credentials have not: what needs them fails until they are back"
    )
    stopped_by = serializers.CharField(allow_blank=True, help_text="who said Stop; empty where nobody did")


class ClusterWriteSerializer(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    purpose = serializers.ChoiceField(PURPOSES)
    method = serializers.CharField()
    path = serializers.CharField()
    namespace = serializers.CharField(allow_blank=True, help_text="of the object that it changes")
    name = serializers.CharField()
    node = serializers.CharField(allow_blank=True, help_text="of a binding: where to")
    body = serializers.DictField(help_text="as it is sent")
    stored_at = serializers.DateTimeField(help_text="when it was decided; it is sent afterwards")
    answered_at = serializers.DateTimeField(allow_null=True)
    result = serializers.ChoiceField(RESULTS, allow_null=True, help_text="null: it has no outcome yet")
    status = serializers.IntegerField(help_text="of the last answer; 0 without one")
    message = serializers.CharField(allow_blank=True)
    bound_to = serializers.CharField(allow_blank=True, help_text="where the pod is bound, as far as that is known")
    tries = serializers.IntegerField()
    looked = serializers.BooleanField(help_text="the object was looked at before this was said")
    dry_run = serializers.BooleanField()
