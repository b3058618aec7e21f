"""Secrets that stand for an account: one-time login links and bearer tokens. Only their hashes are stored."""

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
    """For scripts: ``Authorization: Bearer <token>``; has the role of ``user``."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="bearer_tokens")
    name = models.CharField(max_length=100)
    token_hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["-created_at"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["user", "name"], name="one_token_per_name")
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.user}"
