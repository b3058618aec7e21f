"""What belongs to an account: login links and bearer tokens, as hashes only, and the answers it was given."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models


class LoginLink(models.Model):
    """Works once, until it expires; gives its holder the session of ``user``."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="login_links")
    token_hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["-created_at"]

    def __str__(self) -> str:
        return f"login link of {self.user} from {self.created_at:%Y-%m-%d %H:%M}"


class BearerToken(models.Model):
    """For scripts: ``Authorization: Bearer <token>``. It may do what ``user`` may at that moment, or less.

    Revoking one deletes it.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="bearer_tokens")
    name = models.CharField(max_length=100)
    token_hash = models.CharField(max_length=64, unique=True)
    #: The most it may do (schedweb/accounts/roles.py); "" as much as its owner.
    role = models.CharField(max_length=10, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["-created_at"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["user", "name"], name="one_token_per_name")
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.user}"


class KeptAnswer(models.Model):
    """What a request with an Idempotency-Key was answered (schedweb/api/idempotency.py), for when it is sent again."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    #: Hash of the request.
    asked = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)
    #: While the request is under way, of the process that does it; None once it is answered.
    lease_expires = models.DateTimeField(null=True, default=None)
    status = models.PositiveSmallIntegerField(default=0)
    #: The answer, compressed (zlib).
    body = models.BinaryField(default=b"")

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["user", "key"], name="one_answer_per_key")
        ]

    def __str__(self) -> str:
        return f"{self.key} of {self.user}"

    @property
    def is_under_way(self) -> bool:
        return self.lease_expires is not None
