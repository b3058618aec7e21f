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
    run = SharedRunSerializer(allow_null=True, help_text="the one run that it is for; null: whatever its owner may see")
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


class SessionSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    current = serializers.BooleanField(help_text="the one that asks")
    how = serializers.ChoiceField(choices=["password", "link", "openid", ""], help_text="empty: not known")
    started_at = serializers.DateTimeField()
    last_seen_at = serializers.DateTimeField(help_text="to the minute")
    address = serializers.CharField(help_text="of its last request; empty: not known")
    agent = serializers.CharField(help_text="the browser, in its own words")


class SessionsEndedSerializer(serializers.Serializer[Any]):
    ended = serializers.IntegerField()


class AccountSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    username = serializers.CharField()
    role = serializers.ChoiceField(choices=list(BY_GROUP), allow_null=True, help_text="null: may do nothing")
    active = serializers.BooleanField(help_text="false: disabled")
    superuser = serializers.BooleanField(help_text="of Django: an admin whatever its role says")
    has_password = serializers.BooleanField()
    openid = serializers.BooleanField(help_text="an OpenID Connect provider logs it in and says its role")
    last_login = serializers.DateTimeField(allow_null=True)
    sessions = serializers.IntegerField()
    tokens = serializers.IntegerField()


class AccountCreateSerializer(serializers.Serializer[Any]):
    username = serializers.CharField(max_length=150)
    role = serializers.ChoiceField(choices=list(BY_GROUP))


class AccountChangeSerializer(serializers.Serializer[Any]):
    role = serializers.ChoiceField(choices=list(BY_GROUP), required=False)
    active = serializers.BooleanField(required=False)


class LoginLinkSerializer(serializers.Serializer[Any]):
    path = serializers.CharField(help_text="The address to give away; answered once, never again")
    expires_at = serializers.DateTimeField()


class AccountCreatedSerializer(AccountSerializer):
    link = LoginLinkSerializer()


class PasswordSerializer(serializers.Serializer[Any]):
    asks_old = serializers.BooleanField(help_text="false: the account has none yet")
    refused = serializers.CharField(help_text="Why this session changes none; empty: it may", allow_blank=True)


class PasswordChangeSerializer(serializers.Serializer[Any]):
    old = serializers.CharField(
        max_length=4096,
        trim_whitespace=False,
        allow_blank=True,
        required=False,
        default="",
        write_only=True,
        help_text="the password now; empty where the account has none",
    )
    new = serializers.CharField(max_length=4096, trim_whitespace=False, write_only=True)
