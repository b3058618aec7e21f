"""What the API says about the account that asks."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from schedweb.accounts.roles import BY_GROUP


class MeSerializer(serializers.Serializer[Any]):
    username = serializers.CharField()
    initials = serializers.CharField()
    role = serializers.ChoiceField(choices=list(BY_GROUP))
    csrf_token = serializers.CharField()
    mode = serializers.ChoiceField(choices=["embedded", "distributed"])
    version = serializers.CharField()
