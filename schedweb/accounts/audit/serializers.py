"""The audit log as the API shows it."""

from __future__ import annotations

from typing import Any, get_args

from rest_framework import serializers

from schedweb.accounts.audit.recording import RESULTS, Action

ACTIONS = sorted(get_args(Action))
GROUPS = sorted({action.partition(".")[0] for action in ACTIONS} - set(ACTIONS))


class AuditEntrySerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    at = serializers.DateTimeField()
    account = serializers.IntegerField(allow_null=True, help_text="null: nobody who is known")
    username = serializers.CharField(help_text="the account's name at that time")
    via = serializers.CharField(help_text="session, token <name>, or server (a command there); empty before a login")
    address = serializers.CharField()
    action = serializers.ChoiceField(ACTIONS)
    result = serializers.ChoiceField(RESULTS)
    target = serializers.CharField(help_text="what it was done to")
    target_id = serializers.CharField()
    details = serializers.DictField()


class AuditFilterSerializer(serializers.Serializer[Any]):
    action = serializers.ChoiceField([*ACTIONS, *GROUPS], required=False, default="", allow_blank=True)
    result = serializers.ChoiceField(RESULTS, required=False, default="", allow_blank=True)
    who = serializers.CharField(required=False, default="", allow_blank=True, max_length=150)
    q = serializers.CharField(required=False, default="", allow_blank=True, max_length=200)
    since = serializers.DateTimeField(required=False, allow_null=True, default=None)
    until = serializers.DateTimeField(required=False, allow_null=True, default=None)
