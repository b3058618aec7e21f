"""A request for every operation of the API that would succeed for whoever may: what to name, ask and send."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlencode
from uuid import uuid4

from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from schedweb.accounts import services
from schedweb.accounts.models import BearerToken, SessionInfo
from schedweb.runs.models import Run, ShadowJudgement
from tests.schedweb.access.world import Caller, World
from tests.schedweb.engine.worlds import ASKING, DEFAULT

POD: Final = {"namespace": "shop", "name": "vip"}


@dataclass(frozen=True)
class Sent:
    path: dict[str, Any] = field(default_factory=dict)
    """Parts of the address, beside those that `known` fills in."""
    query: dict[str, Any] = field(default_factory=dict)
    body: Any = None


def known(world: World) -> dict[str, Any]:
    """Parts of addresses that mean the same wherever they stand."""
    return {
        "run": world.run.pk,
        "other": world.other.pk,
        "analysis": world.analysis.pk,
        "configuration_id": world.configuration.pk,
        "snapshot_id": world.snapshot.pk,
        "import_id": world.import_.pk,
        "link": world.link,
        "account": world.maker.pk,
        "namespace": "shop",
        "number": 1,
        "position": 1,
    }


def token_of_one_s_own(world: World, caller: Caller) -> Sent:
    """Of the caller; of the editor for whoever has no account."""
    user = caller.user or world.editor
    row = BearerToken.objects.filter(user=user, name="to revoke").first()
    if row is None:
        row = BearerToken.objects.create(user=user, name="to revoke", token_hash=services.hash_of(str(uuid4())))
    return Sent(path={"token": row.pk})


def session_of_one_s_own(world: World, caller: Caller) -> Sent:
    user, now = caller.user or world.editor, timezone.now()
    row = SessionInfo.objects.filter(user=user).first()
    if row is None:
        browser = Client()
        browser.force_login(user)
        key, times = browser.session.session_key, {"started_at": now, "last_seen_at": now}
        row, _ = SessionInfo.objects.get_or_create(session_id=key, defaults={"user": user, **times})
    return Sent(path={"session": row.pk})


def first_password(world: World, caller: Caller) -> Sent:
    """Of a session that a login link began just now."""
    key = caller.browser.session.session_key
    if caller.user is not None and Session.objects.filter(session_key=key).exists():
        now = timezone.now()
        begun = {"user": caller.user, "how": "link", "started_at": now, "last_seen_at": now}
        SessionInfo.objects.update_or_create(session_id=key, defaults=begun)
    return Sent(body={"new": "correct horse battery"})


def run_like(world: World) -> dict[str, Any]:
    run = world.run
    return {"snapshot": str(run.snapshot_id), "configuration_version": str(run.configuration_version_id)}


def named(world: World) -> dict[str, Any]:
    return {"items": [{"kind": "run", "id": str(world.other.pk)}]}


def entry(world: World, caller: Caller) -> Sent:
    return Sent(path={"entry": world.run.journal.order_by("number")[0].pk})


def shadow(*, own_world: bool, **sent: Any) -> Callable[[World, Caller], Sent]:
    """Of a run as if it were a shadow of this way."""

    def in_that_way(world: World, caller: Caller) -> Sent:
        Run.objects.filter(pk=world.run.pk).update(own_world=own_world)
        return Sent(**sent)

    return in_that_way


def judged(world: World, caller: Caller) -> Sent:
    """A decision of a shadow."""
    texts = dict.fromkeys(("uid", "namespace", "name", "workload", "profile"), "x")
    rest = {**texts, "kind": "same", "bound": True, "at": 0, "margin": 0, "detail": {}}
    row, _ = ShadowJudgement.objects.get_or_create(run=world.run, number=7, defaults=rest)
    return Sent(path={"number": row.number})


def fixed(**sent: Any) -> Callable[[World, Caller], Sent]:
    return lambda world, caller: Sent(**sent)


def of_import(body: dict[str, Any]) -> Callable[[World, Caller], Sent]:
    """With the files of the import that was read."""

    def sent(world: World, caller: Caller) -> Sent:
        for path, content in world.files.items():
            path.write_bytes(content)
        return Sent(body=body)

    return sent


NODE: Final = fixed(path={"name": "b"})


def followed(world: World, caller: Caller) -> Sent:
    """Without one that is named the built-in one is taken, which is not there."""
    return Sent(path={"name": "prod"}, body={"configuration_version": str(world.run.configuration_version_id)})


A_POD: Final = fixed(path=POD)
CSV: Final = fixed(query={"as": "csv"})
CLUSTER: Final = fixed(path={"name": "prod"})
EVENTS: Final = (
    '{"apiVersion":"v1","kind":"Event","metadata":{"name":"e","namespace":"shop"},"involvedObject":{"apiVersion":"v1",'
    '"kind":"Pod","namespace":"shop","name":"vip"},"reason":"Scheduled","type":"Normal","message":"Successfully '
    'assigned shop/vip to b","reportingComponent":"default-scheduler","eventTime":"2026-11-20T10:00:00Z"}'
)
SENT: Final[dict[str, Callable[[World, Caller], Sent]]] = {
    "accounts_create": fixed(body={"username": "nell", "role": "viewer"}),
    "accounts_change": fixed(body={"role": "viewer"}),
    "audit_export": CSV,
    "clusters_get": CLUSTER,
    "clusters_connect": CLUSTER,
    "clusters_disconnect": CLUSTER,
    "clusters_ask": CLUSTER,
    "clusters_snapshot": CLUSTER,
    "clusters_follow": followed,
    "clusters_schedule": followed,
    "configurations_create": fixed(body={"name": "new", "text": DEFAULT}),
    "configurations_rename": fixed(body={"name": "another"}),
    "configurations_save": fixed(body={"text": DEFAULT, "base_version": 1}),
    "configurations_check": fixed(body={"text": ASKING}),
    "configurations_convert": fixed(body={"text": "kind: Policy"}),
    # Of several things each is refused by itself: the answer says which and why.
    "deleted_restore": lambda world, caller: Sent(body=named(world)),
    "deleted_remove": lambda world, caller: Sent(body=named(world)),
    "imports_create": fixed(body={"text": "{}"}),
    "password_change": first_password,
    "imports_commit": of_import({"name": "new"}),
    "imports_load": of_import({"seed": 7}),
    "runs_create": lambda world, caller: Sent(body=run_like(world)),
    "runs_delete": lambda world, caller: Sent(path={"run": world.other.pk}),
    "runs_delete_many": lambda world, caller: Sent(body={"runs": [str(world.other.pk)]}),
    "runs_analysis_ask": fixed(body={"name": "what_would_help", "arguments": POD}),
    "runs_annotations": fixed(query={"as": "json"}),
    "runs_events": fixed(),
    "runs_events_file": fixed(query={"as": "json"}),
    "runs_keep": fixed(body={"megabytes": 600}),
    "runs_schedule_for_real": fixed(body={"typed": "prod"}),
    "runs_shadow": shadow(own_world=False),
    "runs_shadow_alert": shadow(own_world=False, body={"alert_below": 95}),
    "runs_shadow_decisions": shadow(own_world=False),
    "runs_shadow_extenders": judged,
    "runs_shadow_export": shadow(own_world=False, query={"as": "json"}),
    "runs_shadow_world": shadow(own_world=True),
    "runs_shadow_world_export": shadow(own_world=True, query={"as": "json"}),
    "runs_shadow_world_pods": shadow(own_world=True),
    "runs_metrics": fixed(),
    "runs_metrics_resources": fixed(),
    "runs_attempt_difference": fixed(path={"other": 1}),
    "runs_attempt_scores": fixed(path={"number": 2}),
    "runs_attempt_score_matrix": fixed(path={"number": 2}),
    "runs_command": fixed(body={"type": "pause"}),
    "runs_comparison_export": CSV,
    "runs_exact": fixed(body={"profile": "default-scheduler", "weights": {"ImageLocality": 5}}),
    "runs_fork": fixed(body={}),
    "runs_journal_entry": entry,
    "runs_node": NODE,
    "runs_node_yaml": NODE,
    "runs_object_yaml": fixed(query={"kind": "PodDisruptionBudget", "namespace": "shop", "name": "kept"}),
    "runs_pod": A_POD,
    "runs_pod_yaml": A_POD,
    "runs_real_export": CSV,
    "runs_selection": fixed(query=POD),
    "runs_share_link_create": fixed(body={"name": "another"}),
    "runs_tokens_create": fixed(body={"name": "of one run"}),
    "runs_wait": fixed(query={"seconds": 0}),
    "sessions_end": session_of_one_s_own,
    "snapshots_events_add": fixed(body={"text": EVENTS}),
    "tokens_create": fixed(body={"name": "new"}),
    "tokens_revoke": token_of_one_s_own,
}


def request_for(operation: str, path: str, world: World, caller: Caller) -> tuple[str, Any]:
    """Its address and body."""
    sent = SENT.get(operation, fixed())(world, caller)
    for name, value in {**known(world), **sent.path}.items():
        path = path.replace(f"{{{name}}}", str(value))
    assert "{" not in path, f"{operation}: requests.py does not say what stands for the rest of {path}"
    return f"{path}?{urlencode(sent.query)}" if sent.query else path, sent.body
