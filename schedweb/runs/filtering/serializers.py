"""The filter's groups of nodes."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from schedweb.runs.records.fields import strings


class NodeAmountSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    allocatable = serializers.IntegerField()
    requested = serializers.IntegerField()
    free = serializers.IntegerField()
    wanted = serializers.IntegerField()
    short = serializers.IntegerField(help_text="how much is missing; 0 when it would fit")


class FilterNodeSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    zone = serializers.CharField(allow_blank=True)
    type = serializers.CharField(allow_blank=True)
    resources = NodeAmountSerializer(many=True, help_text="with what was kept for nominated pods")
    note = serializers.CharField(required=False)
    remark = serializers.CharField(required=False, help_text="what of the node was refused: its taints, its labels")


class FilterGroupSerializer(serializers.Serializer[Any]):
    plugin = serializers.CharField()
    code = serializers.CharField()
    reasons = strings()
    text = serializers.CharField()
    count = serializers.IntegerField()
    can_become_free = serializers.BooleanField(help_text="Unschedulable, not UnschedulableAndUnresolvable")
    nearest_note = serializers.CharField(allow_blank=True)
    nodes = FilterNodeSerializer(many=True, help_text="the 20 nearest to fitting")


class FilterRowSerializer(serializers.Serializer[Any]):
    node = serializers.CharField()
    plugin = serializers.CharField(allow_blank=True)
    code = serializers.CharField()
    reasons = strings()


class FilterSerializer(serializers.Serializer[Any]):
    """`groups` without `group` and `table`; a window of `nodes` with `group`; a window of `rows` with `table=1`."""

    feasible = serializers.IntegerField()
    not_checked = serializers.IntegerField()
    groups = FilterGroupSerializer(many=True)
    count = serializers.IntegerField()
    offset = serializers.IntegerField()
    limit = serializers.IntegerField()
    nodes = FilterNodeSerializer(many=True)
    rows = FilterRowSerializer(many=True)
