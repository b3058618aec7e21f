"""Questions about a moment of a run, and their answers; shapes as in framework/advice."""

from __future__ import annotations

from typing import Any, get_args

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_field
from rest_framework import serializers

from framework.advice import Fated, Kind
from schedweb.engine.questions import NAMES
from schedweb.runs.models import Analysis
from schedweb.runs.records.fields import PodRefSerializer

STATUSES = tuple(Analysis.Status.values)
REMEDY_KINDS = get_args(Kind)
FATES = get_args(Fated)


class OperationSerializer(serializers.Serializer[Any]):
    """A change to one object; a fork takes it among its changes."""

    verb = serializers.ChoiceField(["add", "replace", "delete", "remove", "wait"])
    manifest = serializers.DictField(help_text="of a deletion: kind and name")


class FateSerializer(serializers.Serializer[Any]):
    """What a remedy does to another pod."""

    pod = serializers.CharField(help_text="namespace/name")
    fate = serializers.ChoiceField(
        FATES,
        help_text=(
            "moves: it, or the pod made instead, has another node; pending: made again without a node; gone: nobody "
            "makes it again; passed: it would have got a node without the remedy"
        ),
    )
    text = serializers.CharField()
    node = serializers.CharField(allow_blank=True, help_text="which it finds")


class RemedySerializer(serializers.Serializer[Any]):
    """Played to its end beside all pods of the run before it is named."""

    kind = serializers.ChoiceField(REMEDY_KINDS)
    text = serializers.CharField()
    node = serializers.CharField(allow_blank=True, help_text="where the pod went; empty when it is not wanted any more")
    cost = serializers.CharField(allow_blank=True, help_text="what it costs others, in short")
    left_pending = serializers.IntegerField(help_text="other pods that have no node afterwards, and would without it")
    operations = OperationSerializer(many=True)
    others = FateSerializer(many=True, help_text="the worst off first, at most 20")
    others_count = serializers.IntegerField()
    pods = serializers.IntegerField(help_text="of the workload that are changed; 0 where the cluster is")
    placed = serializers.IntegerField(help_text="of the pending pods alike, this one included, that have a node then")
    commands = serializers.ListField(child=serializers.CharField(), help_text="kubectl's, that do it in a real cluster")
    diff = serializers.CharField(allow_blank=True, help_text="the change in YAML, lines with +, - or a space before")
    finished = serializers.BooleanField(help_text="false: there was no time to play it to its end")


class TriedOutSerializer(serializers.Serializer[Any]):
    without_extenders = serializers.BooleanField(
        required=False, help_text="the configuration has extenders, and they were left out; not in older answers"
    )


class WhatWouldHelpResultSerializer(TriedOutSerializer):
    pod = serializers.CharField(help_text="namespace/name")
    fits_on = serializers.CharField(allow_blank=True, help_text="where it goes as it is; then no remedy is needed")
    why = serializers.CharField(
        allow_blank=True,
        help_text="why its workload can never run all its replicas, or why nothing helps; empty only where there are "
        "remedies or it goes to fits_on",
    )
    workload = serializers.CharField(
        allow_blank=True,
        help_text="as kubectl names it: deployment/web; podgroup/ring of a gang of pods without a controller",
    )
    alike = serializers.IntegerField(help_text="pending pods of the workload that ask for the same, this one included")
    remedies = RemedySerializer(many=True, help_text="without one and without fits_on nothing known helps")
    complete = serializers.BooleanField(help_text="false: there was no time to try everything")


class RankedNodeSerializer(serializers.Serializer[Any]):
    node = serializers.CharField()
    rank = serializers.IntegerField(help_text="1 + how many nodes have a higher total")
    total = serializers.IntegerField()
    scores = serializers.ListField(
        child=serializers.IntegerField(), help_text="points times weight, in the order of plugins"
    )


class PlacedAgainResultSerializer(TriedOutSerializer):
    """The pod was taken from a copy and scheduled anew, with every node looked at and nobody evicted for it."""

    pod = serializers.CharField(help_text="namespace/name")
    node = serializers.CharField(help_text="where it is")
    to = serializers.CharField(allow_blank=True, help_text="where it would go; empty: it would find no place")
    nodes = serializers.IntegerField()
    feasible = serializers.IntegerField()
    tied = serializers.IntegerField(help_text="how many nodes have the best total; the seed chose among them")
    rank = serializers.IntegerField(help_text="of the node where it is; 0: it is not feasible any more")
    plugin = serializers.CharField(allow_blank=True, help_text="which would refuse it where it is")
    reasons = serializers.ListField(child=serializers.CharField(), help_text="for which the plugin would")
    message = serializers.CharField(allow_blank=True, help_text="kube-scheduler's, when there is no place for it")
    plugins = serializers.ListField(child=serializers.CharField(), help_text="that scored")
    weights = serializers.ListField(child=serializers.IntegerField())
    ranked = RankedNodeSerializer(many=True, help_text="the 20 best nodes, and the one where it is")


class WhyPendingResultSerializer(TriedOutSerializer):
    """The pod was tried on a copy with the run's configuration, beside all pods that have a place; of those that
    are pending its PodGroup's were tried with it, in the order of the queue, and no others."""

    pod = serializers.CharField(help_text="namespace/name")
    node = serializers.CharField(allow_blank=True, help_text="where it would go; empty: nowhere")
    evicts = serializers.ListField(child=serializers.CharField(), help_text="pods that would be evicted for it")
    message = serializers.CharField(allow_blank=True, help_text="kube-scheduler's, when there is no place for it")
    waits_for = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="Permit plugins for which it would wait on the node, and no pod that is pending ends that wait",
    )
    in_place = serializers.IntegerField(
        required=False, help_text="pods of its PodGroup that would have a node, or hold one, itself among them"
    )
    min_member = serializers.IntegerField(required=False, help_text="of its PodGroup; 0 without one")
    headline = serializers.CharField()
    detail = serializers.CharField(allow_blank=True)


class NodeCapacitySerializer(serializers.Serializer[Any]):
    node = serializers.CharField()
    fits = serializers.IntegerField()
    plugin = serializers.CharField(allow_blank=True, help_text="which plugin stops the next")
    reasons = serializers.ListField(child=serializers.CharField())
    can_become_free = serializers.BooleanField()


class CapacityPodsResultSerializer(TriedOutSerializer):
    pod = serializers.CharField()
    fits = serializers.IntegerField()
    at_limit = serializers.BooleanField()
    message = serializers.CharField(allow_blank=True, help_text="about the first pod that did not fit")
    nodes = NodeCapacitySerializer(many=True)


class StuckPodSerializer(serializers.Serializer[Any]):
    pod = serializers.CharField()
    message = serializers.CharField()


class CapacityNodesResultSerializer(TriedOutSerializer):
    shape = serializers.CharField()
    nodes = serializers.IntegerField()
    helped = serializers.IntegerField()
    with_one_less = serializers.IntegerField()
    never = StuckPodSerializer(many=True)
    limit = serializers.IntegerField()


class MovedWorkloadSerializer(serializers.Serializer[Any]):
    namespace = serializers.CharField()
    workload = serializers.CharField()
    elsewhere = serializers.IntegerField()
    open = serializers.IntegerField()


class OtherWeightsResultSerializer(serializers.Serializer[Any]):
    """An estimate: every attempt ranked as it stood. Its rows are read in windows."""

    attempts = serializers.IntegerField(help_text="of the profile, that chose a node by scores")
    unscored = serializers.IntegerField(help_text="of the profile, with one feasible node")
    same = serializers.IntegerField()
    elsewhere = serializers.IntegerField(help_text="another node for certain")
    open = serializers.IntegerField(help_text="equally good nodes, its own among them: the seed would choose")
    workload_count = serializers.IntegerField()
    workloads = MovedWorkloadSerializer(many=True, help_text="the 50 that would move most")


class AllNodesResultSerializer(TriedOutSerializer):
    """The attempt tried once more in the same moment with percentageOfNodesToScore 100."""

    node = serializers.CharField(help_text="who would have won")
    checked = serializers.IntegerField()
    feasible = serializers.IntegerField()
    of = serializers.IntegerField()
    total = serializers.IntegerField()
    margin = serializers.IntegerField(help_text="to the best node below")
    tied = serializers.IntegerField(help_text="how many share the best total")
    node_total = serializers.IntegerField(allow_null=True, help_text="of the node that the attempt chose")


class DebuggerResultSerializer(serializers.Serializer[Any]):
    """What kube-scheduler writes into its log on SIGUSR2."""

    lines = serializers.ListField(child=serializers.CharField(allow_blank=True))
    mismatches = serializers.IntegerField(help_text="how many of the comparison's lines name something")


class MovedPodSerializer(serializers.Serializer[Any]):
    number = serializers.IntegerField(help_text="of the attempt")
    pod = PodRefSerializer()
    node = serializers.CharField()
    to = serializers.CharField(allow_null=True, help_text="null: the seed would choose among equals")
    tied = serializers.IntegerField(help_text="how many nodes would be equally good")
    named = serializers.ListField(child=serializers.CharField(), help_text="some of them")
    stays_possible = serializers.BooleanField(help_text="its own node is one of them")
    behind = serializers.IntegerField(help_text="points from its own node to the best")


@extend_schema_field(
    PolymorphicProxySerializer(
        component_name="AnalysisResult",
        serializers=[
            WhatWouldHelpResultSerializer,
            WhyPendingResultSerializer,
            PlacedAgainResultSerializer,
            CapacityPodsResultSerializer,
            CapacityNodesResultSerializer,
            OtherWeightsResultSerializer,
            AllNodesResultSerializer,
            DebuggerResultSerializer,
        ],
        resource_type_field_name=None,
    )
)
class ResultField(serializers.JSONField):
    """Of the shape that the analysis' name says."""


class AnalysisAskSerializer(serializers.Serializer[Any]):
    name = serializers.ChoiceField(NAMES)
    position = serializers.IntegerField(
        min_value=0, required=False, allow_null=True, default=None, help_text="else where the run is now"
    )
    arguments = serializers.DictField(
        required=False,
        default=dict,
        help_text=(
            "what_would_help {namespace, name}; why_pending {namespace, name}; placed_again {namespace, name}; "
            "capacity_pods {namespace, name | manifest, limit?}; "
            "capacity_nodes {node | manifest, limit?}; other_weights {profile, weights: {plugin: weight, 0 for off}}; "
            "all_nodes {attempt}, about the moment of that attempt; debugger {}; "
            "a manifest is the YAML or JSON text of one object"
        ),
    )


class AnalysisSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    run = serializers.UUIDField()
    name = serializers.ChoiceField(NAMES)
    position = serializers.IntegerField()
    arguments = serializers.DictField()
    status = serializers.ChoiceField(STATUSES)
    error = serializers.CharField(allow_null=True, help_text="a sentence, when it failed")
    seconds = serializers.FloatField(allow_null=True)
    asked_by = serializers.CharField()
    at = serializers.DateTimeField(help_text="wall clock")
    result = ResultField(allow_null=True)
