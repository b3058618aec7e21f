"""Who may begin to schedule a real cluster, and on which terms."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import msgspec
from django.contrib.auth.models import User
from rest_framework import status

from framework.configuration import load
from framework.plugins.registry import installed_registry
from schedweb.accounts.roles import BY_TOKEN
from schedweb.accounts.scheduling import refuse_who_may_not_schedule
from schedweb.api.errors import ApiError, conflict, not_found
from schedweb.clusters.reading.problems import ClusterProblem
from schedweb.clusters.reading.rights import Rule, rules_to_schedule
from schedweb.clusters.writing.permission import is_allowed, permission
from schedweb.configurations.models import ConfigurationVersion
from schedweb.engine.live import Scheduling
from schedweb.engine.own_nodes import why_not_kept
from schedweb.runs.models import Run
from schedweb.runs.playing.playable import extenders_of
from schedweb.sentences import say, translated
from schedweb.snapshots.models import Import


def refuse_person(user: User, auth: Any) -> None:
    """Raises ApiError (403)."""
    if auth == BY_TOKEN:
        raise ApiError(
            say("Scheduling a real cluster is begun by who is logged in, not with a token."),
            code="forbidden",
            status_code=status.HTTP_403_FORBIDDEN,
        )
    refuse_who_may_not_schedule(user)


def terms_of(name: str, asked: dict[str, Any]) -> Scheduling:
    """Raises ApiError where this server may not, or another name was typed."""
    try:
        permission(name, asked["typed"])
    except ClusterProblem as problem:
        path = "typed" if is_allowed(name) else None
        raise conflict(translated(problem.words), code=problem.code, path=path) from None
    return Scheduling(
        instance=f"playground-{uuid4().hex[:12]}",
        schedulers=tuple(asked["scheduler_names"]),
        namespaces=tuple(asked.get("namespaces", ())),
        bindings_per_minute=asked.get("bindings_per_minute", 0),
        dry_run=asked.get("dry_run", False),
        node_selector=asked.get("node_selector", {}),
        victims_in_turn=True,
        writes_claims=True,
        writes_pod_groups=True,
    )


def terms_for_real(run: Run, typed: str) -> Scheduling:
    """Those of a dry run, but that what is decided is done. Raises ApiError."""
    if run.scheduling is None or not run.follows:
        raise not_found(say("{run} schedules no cluster.", run=run))
    tried = msgspec.convert(run.scheduling, Scheduling)
    if not tried.dry_run:
        raise conflict(say("{run} is no dry run.", run=run), code="no_dry_run")
    asked = {**msgspec.to_builtins(tried), "scheduler_names": tried.schedulers, "typed": typed, "dry_run": False}
    return terms_of(run.follows, asked)


def rules_of(terms: Scheduling) -> list[Rule]:
    return rules_to_schedule(terms.schedulers, terms.namespaces, dry_run=terms.dry_run)


def refuse_unasked(row: Import, terms: Scheduling) -> None:
    """Raises ApiError (409) where the reading did not ask whether the credentials may do what these terms need: it was
    begun for something else, or on others."""
    try:
        granted = msgspec.json.decode(row.granted.read_bytes(), type=list[Rule])
    except FileNotFoundError:
        granted = []
    if any(rule not in granted for rule in rules_of(terms)):
        raise conflict(
            say("{context} was not read for scheduling on these terms. Begin again.", context=row.context),
            code="not_asked",
        )


def refuse_terms(version: ConfigurationVersion, terms: Scheduling) -> None:
    """Raises ApiError: every profile's schedulerName has to be named, and no extender may bind: it would write
    to the cluster itself, past Stop, the Lease, the limits and the dry run."""
    effective = load(version.text, installed_registry()).effective
    assert effective is not None, "it is playable"
    names = sorted({profile.scheduler_name for profile in effective.profiles})
    if names != sorted(set(terms.schedulers)):
        raise conflict(
            say(
                "{name} schedules for {names}; name each of them, and no others.",
                name=version.configuration.name,
                names=", ".join(names),
            ),
            code="scheduler_names",
            path="scheduler_names",
        )
    if (why := why_not_kept(effective, terms.node_selector)) is not None:
        raise conflict(translated(why), code="node_selector", path="node_selector")
    if urls := extenders_of(version.text, binding=True):
        raise conflict(
            say(
                "{name} names extenders that bind pods themselves ({extenders}): neither Stop nor a dry run would keep "
                "them from it. Choose a configuration without their bindVerb.",
                name=version.configuration.name,
                extenders=", ".join(urls),
            ),
            code="extenders",
            path="configuration_version",
        )
