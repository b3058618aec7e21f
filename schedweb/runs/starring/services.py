"""Starring a run, and taking the star away. Doing so twice is no mistake."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from schedweb.accounts.audit.recording import record
from schedweb.runs.models import Run
from schedweb.runs.records.runs import run_get


@transaction.atomic
def star(*, run: UUID, user: User) -> Run:
    """The first star stays: who gave it and when."""
    found = run_get(run)
    facts = {"starred_at": timezone.now(), "starred_by_name": user.get_username()}
    if Run.objects.filter(pk=run, starred_at=None).update(**facts):
        record("run.star", target=found, target_id=found.pk)
    return run_get(run)


@transaction.atomic
def unstar(*, run: UUID) -> None:
    found = run_get(run)
    if Run.objects.filter(pk=run, starred_at__isnull=False).update(starred_at=None, starred_by_name=""):
        record("run.unstar", target=found, target_id=found.pk, starred_by=found.starred_by_name)
