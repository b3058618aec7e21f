"""The scheduler's configuration that came with a cluster: as text, and as a configuration of ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User

from framework.reading.yaml_text import yaml_text
from framework.sentences import Words, sentence
from schedweb.configurations.examination import TooLarge, examine
from schedweb.configurations.models import Configuration
from schedweb.configurations.services import configuration_create
from schedweb.sentences import say
from schedweb.snapshots.models import Snapshot


def configuration_text(found: Mapping[str, Any]) -> str:
    """As YAML, with the kind first."""
    first = {key: found[key] for key in ("apiVersion", "kind")}
    return yaml_text({**first, **{key: value for key, value in found.items() if key not in first}})


def problems_of(text: str) -> list[Words]:
    """Why it cannot be used, each with its place; empty when it can."""
    try:
        errors = examine(text).errors
    except TooLarge as error:
        return [error.words]
    return [
        sentence("{path}: {message}", path=each.path, message=each.message) if each.path else each.message
        for each in errors
    ]


def configuration_take(*, snapshot: Snapshot, text: str, user: User) -> Configuration:
    """Makes it one of ours, named after the snapshot, which names it in turn: runs on it begin with it."""
    names = {each.lower() for each in Configuration.objects.values_list("name", flat=True)}
    name = wanted = say("{name}, its own", name=snapshot.name[:180])
    number = 2
    while name.lower() in names:
        name, number = f"{wanted} ({number})", number + 1
    made = configuration_create(
        user=user, name=name, text=text, description=say("Came with the import {name}.", name=snapshot.name)[:300]
    ).configuration
    made.slug = f"of-{snapshot.pk.hex}"
    made.save(update_fields=["slug"])
    snapshot.configuration_slug = made.slug
    snapshot.save(update_fields=["configuration_slug"])
    return made
