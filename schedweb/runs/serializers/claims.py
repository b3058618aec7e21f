"""A pod's volumes and devices, preemptions, and the objects beside pods and nodes."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from schedweb.runs.serializers.fields import PodRefSerializer


class PriorityRefSerializer(PodRefSerializer):
    priority = serializers.IntegerField(allow_null=True)


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


class PreemptionRowSerializer(serializers.Serializer[Any]):
    """One victim."""

    number = serializers.IntegerField(help_text="the attempt that evicted it")
    attempt = serializers.IntegerField(help_text="the same as the preemptor counts its own")
    at = serializers.DateTimeField()
    node = serializers.CharField()
    pod = PriorityRefSerializer()
    victim = PriorityRefSerializer()


class CandidateSerializer(serializers.Serializer[Any]):
    node = serializers.CharField()
    chosen = serializers.BooleanField()
    equal = serializers.BooleanField(help_text="as good as the chosen one")
    victims = PriorityRefSerializer(many=True, help_text="most important first")
    pdb_violations = serializers.IntegerField()
    lost_by = serializers.CharField(allow_blank=True)
    lost_text = serializers.CharField(allow_blank=True, help_text="the criterion with both numbers")


class NoCandidatesSerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(["refused", "no_victims", "not_helpful", "not_tried"])
    reason = serializers.CharField()
    count = serializers.IntegerField()
    nodes = serializers.ListField(child=serializers.CharField(), help_text="the first 20")


class PreemptionSerializer(serializers.Serializer[Any]):
    """A window of `candidates`, the chosen one first; `groups`: the other nodes by reason."""

    plugin = serializers.CharField(allow_blank=True)
    message = serializers.CharField(allow_blank=True)
    nominated = serializers.CharField(allow_null=True)
    headline = serializers.CharField()
    groups = NoCandidatesSerializer(many=True)
    count = serializers.IntegerField()
    offset = serializers.IntegerField()
    limit = serializers.IntegerField()
    candidates = CandidateSerializer(many=True)


class RunObjectSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField()
    group = serializers.CharField(allow_blank=True, help_text="API group; empty for the core group")
    namespace = serializers.CharField(allow_blank=True)
    name = serializers.CharField()
    state = serializers.CharField(allow_blank=True)


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
