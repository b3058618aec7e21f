"""What belongs to an account: login links and bearer tokens, as hashes only, sessions, and the answers it was given;
and the audit log, which outlives accounts."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.contrib.sessions.models import Session
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
    #: The one run that it is for, and that run's number; None: whatever its owner may see. No foreign key: once its run
    #: is gone a token is for nothing.
    run = models.UUIDField(null=True, blank=True)
    run_number = models.CharField(max_length=20, blank=True)
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


class LoginFailures(models.Model):
    """A counter of logins that failed (schedweb/accounts/throttle.py)."""

    #: Hash of whom and where it counts.
    key = models.CharField(max_length=64, unique=True)
    failures = models.PositiveIntegerField(default=0)
    last_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.failures} failures until {self.last_at:%Y-%m-%d %H:%M}"


class SessionInfo(models.Model):
    """Of a session that an account began: where from, since when. It goes with the session."""

    session = models.OneToOneField(Session, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    #: How they logged in: see `schedweb.accounts.sessions.HOW`; "" where it was not noted yet.
    how = models.CharField(max_length=10, blank=True)
    started_at = models.DateTimeField()
    #: To the minute.
    last_seen_at = models.DateTimeField()
    #: Of the last request.
    address = models.CharField(max_length=45, blank=True)
    agent = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["-last_seen_at", "-pk"]

    def __str__(self) -> str:
        return f"session of {self.user} from {self.started_at:%Y-%m-%d %H:%M}"


class OpenIdIdentity(models.Model):
    """Whom an OpenID Connect provider means by a subject. Names and mail addresses change hands; this pair does not."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="open_id")
    issuer = models.CharField(max_length=300)
    subject = models.CharField(max_length=255)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["issuer", "subject"], name="one_account_per_subject")
        ]

    def __str__(self) -> str:
        return f"{self.subject} of {self.issuer}"


class AuditEntry(models.Model):
    """Something that somebody did or tried (schedweb/accounts/audit). Never changed: PostgreSQL refuses it.

    Names and numbers are copied, not referred to, so that an entry says the same when what it is about is gone.
    """

    at = models.DateTimeField(auto_now_add=True)
    #: The account's id and name; None and "" for nobody known.
    account = models.BigIntegerField(null=True)
    username = models.CharField(max_length=150, blank=True)
    #: What they came with: "session", "token <name>", "server" (a command there); "" before a login.
    via = models.CharField(max_length=120, blank=True)
    address = models.CharField(max_length=45, blank=True)
    action = models.CharField(max_length=40)
    result = models.CharField(max_length=10)
    #: What it was done to, as people know it, and its id.
    target = models.CharField(max_length=200, blank=True)
    target_id = models.CharField(max_length=64, blank=True)
    details = models.JSONField(default=dict)

    class Meta:
        ordering: ClassVar[list[str]] = ["-pk"]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["action", "address", "-at"], name="audit_by_action"),
            models.Index(fields=["username", "-at"], name="audit_by_name"),
            models.Index(fields=["at"], name="audit_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.username or 'somebody'}: {self.action}, {self.result}"
