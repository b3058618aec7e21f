"""What the API says about the account that asks."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from schedweb.accounts.roles import BY_GROUP
from schedweb.accounts.visitor import VISITOR


class SharedRunSerializer(serializers.Serializer[Any]):
    run = serializers.UUIDField()
    number = serializers.CharField(help_text="r-0042")


class TokenCreateSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=100, help_text="What it is for; of your tokens no two have one name")
    role = serializers.ChoiceField(
        choices=list(BY_GROUP),
        required=False,
        allow_null=True,
        default=None,
        help_text="The most it may do, no more than you; null: as much as you may at the time",
    )
    expires_at = serializers.DateTimeField(
        required=False, allow_null=True, default=None, help_text="null: works until it is revoked"
    )


class TokenSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    name = serializers.CharField()
    role = serializers.ChoiceField(choices=list(BY_GROUP), allow_null=True, help_text="null: as its owner")
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    expired = serializers.BooleanField()
    last_used_at = serializers.DateTimeField(allow_null=True, help_text="to the minute")


class TokenCreatedSerializer(TokenSerializer):
    token = serializers.CharField(help_text="To be sent as `Authorization: Bearer <token>`; answered once, never again")


class MeSerializer(serializers.Serializer[Any]):
    username = serializers.CharField()
    initials = serializers.CharField()
    role = serializers.ChoiceField(choices=[*BY_GROUP, VISITOR])
    shared = SharedRunSerializer(many=True, help_text="What a visitor may read; everybody else reads everything")
    csrf_token = serializers.CharField()
    mode = serializers.ChoiceField(choices=["embedded", "distributed"])
    version = serializers.CharField()
