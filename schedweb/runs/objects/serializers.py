"""A pod's volumes and devices, preemptions, and the objects beside pods and nodes."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from schedweb.runs.objects.network_costs import CostTableSerializer, DependencySerializer
from schedweb.runs.records.fields import YamlSerializer


class VolumeClaimSerializer(serializers.Serializer[Any]):
    volume = serializers.CharField(help_text="spec.volumes[].name")
    namespace = serializers.CharField()
    claim = serializers.CharField()
    ephemeral = serializers.BooleanField()
    state = serializers.ChoiceField(["bound", "match", "provision", "pending", "lost", "missing"])
    text = serializers.CharField(allow_blank=True, help_text="why it is not bound, in a sentence")
    persistent_volume = serializers.CharField(allow_blank=True)
    storage_class = serializers.CharField(allow_blank=True)
    binding_mode = serializers.CharField(allow_blank=True)
    size = serializers.CharField(allow_blank=True)
    access_modes = serializers.ListField(child=serializers.CharField())
    zones = serializers.ListField(child=serializers.CharField())


class DeviceSerializer(serializers.Serializer[Any]):
    request = serializers.CharField()
    driver = serializers.CharField()
    pool = serializers.CharField()
    device = serializers.CharField()
    admin_access = serializers.BooleanField()


class DeviceConditionSerializer(serializers.Serializer[Any]):
    """What a pod waits for before it is bound to the device's node, or what would end that wait."""

    type = serializers.CharField()
    fails = serializers.BooleanField(help_text="true: binding fails when it is True; false: binding waits for it")
    status = serializers.CharField(allow_blank=True, help_text="empty: nothing was said yet")
    text = serializers.CharField(allow_blank=True, help_text="reason and message")


class GivenDeviceSerializer(DeviceSerializer):
    conditions = DeviceConditionSerializer(many=True)


class DeviceRequestSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    device_class = serializers.CharField(allow_blank=True)
    count = serializers.IntegerField(allow_null=True, help_text="null for all of them")
    alternatives = serializers.IntegerField(help_text="further choices of a prioritised list")


class DeviceClaimSerializer(serializers.Serializer[Any]):
    local = serializers.CharField(allow_blank=True, help_text="spec.resourceClaims[].name")
    namespace = serializers.CharField()
    claim = serializers.CharField(allow_blank=True)
    template = serializers.CharField(allow_blank=True)
    state = serializers.ChoiceField(["allocated", "decided", "pending", "missing"])
    text = serializers.CharField(allow_blank=True)
    requests = DeviceRequestSerializer(many=True)
    devices = GivenDeviceSerializer(many=True)
    used_by = serializers.IntegerField(help_text="pods that it is reserved for")


class ClaimsSerializer(serializers.Serializer[Any]):
    volumes = VolumeClaimSerializer(many=True)
    devices = DeviceClaimSerializer(many=True)


class RunObjectSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField()
    group = serializers.CharField(allow_blank=True, help_text="API group; empty for the core group")
    namespace = serializers.CharField(allow_blank=True)
    name = serializers.CharField()
    state = serializers.CharField(allow_blank=True)


class ObjectYamlSerializer(YamlSerializer):
    version = serializers.CharField(allow_blank=True, help_text="of its state; empty of one that never changed")
    editable = serializers.BooleanField(
        help_text="an operator may put another manifest in its place or delete it, by the command change"
    )
    rests_on_it = serializers.CharField(
        allow_blank=True, help_text="of one that is editable: what would miss it, in a sentence"
    )
    costs = CostTableSerializer(many=True, help_text="of a NetworkTopology")
    dependencies = DependencySerializer(many=True, help_text="of an AppGroup: who talks to whom")


class KindCountSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField()
    group = serializers.CharField(allow_blank=True)
    count = serializers.IntegerField()


class RunObjectWindowSerializer(serializers.Serializer[Any]):
    """`kinds` counts all objects, whatever `kind` and `q` ask for."""

    kinds = KindCountSerializer(many=True)
    count = serializers.IntegerField()
    offset = serializers.IntegerField()
    limit = serializers.IntegerField()
    results = RunObjectSerializer(many=True)


class AmountSerializer(serializers.Serializer[Any]):
    amount = serializers.IntegerField(help_text="millicores of cpu, units of all else")
    text = serializers.CharField(help_text="the same as a quantity")


class NumaResourceSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    free = AmountSerializer()
    allocatable = AmountSerializer()
    asked = AmountSerializer(allow_null=True, help_text="null: not asked of one zone")
    short = AmountSerializer(allow_null=True, help_text="null: there is enough")


class NumaCostSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    value = serializers.IntegerField()


class NumaZoneSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    fits = serializers.BooleanField()
    costs = NumaCostSerializer(many=True, help_text="to the other zones")
    resources = NumaResourceSerializer(many=True)


class NumaNodeSerializer(serializers.Serializer[Any]):
    node = serializers.CharField()
    policy = serializers.CharField(help_text="of the kubelet's topology manager")
    scope = serializers.CharField()
    container = serializers.CharField(allow_blank=True, help_text="the one that asks; empty: the whole pod")
    zones = NumaZoneSerializer(many=True)
