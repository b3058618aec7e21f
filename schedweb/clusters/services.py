"""Connecting to a cluster, letting it go, asking again, and taking a snapshot of it."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

import msgspec
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from framework.sentences import Words, sentence
from schedweb.accounts.audit.recording import record
from schedweb.clusters.models import Connection
from schedweb.clusters.offered import Offered, is_open, may_be_read, offered
from schedweb.clusters.processes import child, own_folder
from schedweb.clusters.reading.contexts import Context
from schedweb.clusters.reading.problems import ClusterProblem, Code
from schedweb.clusters.reading.rights import Rule
from schedweb.snapshots.models import Import
from schedweb.snapshots.services import import_read, import_unread, imports_expire


def context_offered(name: str) -> Context:
    """Raises ClusterProblem."""
    found = offered()
    context = found.named(name)
    if context is None:
        raise ClusterProblem(*_not_there(name, found))
    return context


def _not_there(name: str, found: Offered) -> tuple[Words, Code]:
    if found.problem:
        return found.problem, "not_offered"
    if not is_open():
        return sentence("The context {context} is not offered here.", context=name), "not_offered"
    names = [each.name for each in found.contexts]
    words = sentence("The kubeconfig has no context {context}. It has: {names}", context=name, names=names)
    return words, "unknown_context"


@transaction.atomic
def cluster_connect(*, name: str, user: User | None) -> Connection:
    """Raises ClusterProblem. What is connected stays as it is."""
    context = context_offered(name)
    row, _ = Connection.objects.select_for_update().get_or_create(context=name)
    if not row.wanted:
        row.wanted, row.connected_by, row.connected_at = True, user, timezone.now()
        row.server, row.state, row.state_at = context.server or row.server, "", None
        row.save()
        record("cluster.connect", target=name)
    return row


@transaction.atomic
def cluster_disconnect(*, row: Connection) -> None:
    """Whoever reads it notices within a second."""
    if Connection.objects.filter(pk=row.pk, wanted=True).update(wanted=False, state="", state_at=None):
        record("cluster.disconnect", target=row.context)


def cluster_ask_again(*, row: Connection) -> None:
    """What the credentials may do is asked again, and what waits for its next try is tried now."""
    Connection.objects.filter(pk=row.pk).update(asks=F("asks") + 1)


def cluster_snapshot(*, name: str, user: User | None, rules: Sequence[Rule] = ()) -> Import:
    """An import that reads the cluster in place of a file; whoever commits it chooses what stays. ``rules``: what the
    credentials have to be allowed for it; where they are not, it fails, and says which. Raises ClusterProblem."""
    context_offered(name)
    imports_expire()
    taken = timezone.now()
    with transaction.atomic():
        row = Import.objects.create(
            created_by=user, filename=f"{name}, {taken:%Y-%m-%d %H:%M}", context=name, size_bytes=0
        )
        record("cluster.snapshot", target=name)
    row.cluster.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if rules:
        row.asked.write_bytes(msgspec.json.encode(rules))
    return row


def import_read_anyhow(*, import_id: uuid.UUID) -> None:
    """Of a file or of a cluster. Raises LeftToOthers."""
    row = Import.objects.filter(pk=import_id).first()
    if row is None or not row.context:
        import_read(import_id=import_id)
    elif not may_be_read(row.context):
        import_unread(row=row, why=sentence("The context {context} is not offered here.", context=row.context))
    else:
        with own_folder() as folder:
            import_read(import_id=import_id, start=lambda: child(folder))
