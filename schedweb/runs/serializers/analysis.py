"""Questions about a moment of a run, and their answers; shapes as in framework/advice."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_field
from rest_framework import serializers

from schedweb.engine.questions import NAMES
from schedweb.runs.models import Analysis
from schedweb.runs.serializers.fields import PodRefSerializer

STATUSES = tuple(Analysis.Status.values)
REMEDY_KINDS = ("gate", "uncordon", "tolerate", "relax", "lower", "node", "priority", "move", "free")


class OperationSerializer(serializers.Serializer[Any]):
    """A change to one object; a fork takes it among its changes."""

    verb = serializers.ChoiceField(["add", "replace", "delete", "remove"])
    manifest = serializers.DictField(help_text="of a deletion: kind and name")


class RemedySerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(REMEDY_KINDS)
    text = serializers.CharField()
    node = serializers.CharField(help_text="where the pod went when it was tried")
    cost = serializers.CharField(allow_blank=True, help_text="what it costs others")
    left_pending = serializers.IntegerField(help_text="other pods that find no place afterwards")
    operations = OperationSerializer(many=True)


class WhatWouldHelpResultSerializer(serializers.Serializer[Any]):
    pod = serializers.CharField(help_text="namespace/name")
    fits_on = serializers.CharField(allow_blank=True, help_text="where it fits as it is; then no remedy is needed")
    remedies = RemedySerializer(many=True, help_text="without one and without fits_on nothing known helps")


class NodeCapacitySerializer(serializers.Serializer[Any]):
    node = serializers.CharField()
    fits = serializers.IntegerField()
    plugin = serializers.CharField(allow_blank=True, help_text="which plugin stops the next")
    reasons = serializers.ListField(child=serializers.CharField())
    can_become_free = serializers.BooleanField()


class CapacityPodsResultSerializer(serializers.Serializer[Any]):
    pod = serializers.CharField()
    fits = serializers.IntegerField()
    at_limit = serializers.BooleanField()
    message = serializers.CharField(allow_blank=True, help_text="about the first pod that did not fit")
    nodes = NodeCapacitySerializer(many=True)


class StuckPodSerializer(serializers.Serializer[Any]):
    pod = serializers.CharField()
    message = serializers.CharField()


class CapacityNodesResultSerializer(serializers.Serializer[Any]):
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


class AllNodesResultSerializer(serializers.Serializer[Any]):
    """The attempt tried once more in the same moment with percentageOfNodesToScore 100."""

    node = serializers.CharField(help_text="who would have won")
    checked = serializers.IntegerField()
    feasible = serializers.IntegerField()
    of = serializers.IntegerField()
    total = serializers.IntegerField()
    margin = serializers.IntegerField(help_text="to the best node below")
    tied = serializers.IntegerField(help_text="how many share the best total")
    node_total = serializers.IntegerField(allow_null=True, help_text="of the node that the attempt chose")


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
            CapacityPodsResultSerializer,
            CapacityNodesResultSerializer,
            OtherWeightsResultSerializer,
            AllNodesResultSerializer,
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
            "what_would_help {namespace, name}; capacity_pods {namespace, name | manifest, limit?}; "
            "capacity_nodes {node | manifest, limit?}; other_weights {profile, weights: {plugin: weight, 0 for off}}; "
            "all_nodes {attempt}, about the moment of that attempt; a manifest is the YAML or JSON text of one object"
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
