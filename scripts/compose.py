"""Reads docker-compose.yml as `docker compose` would: anchors merged, variables filled in, services in start order."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
VARIABLE = re.compile(r"\$(?:\$|\{(?P<name>\w+)(?::(?P<kind>[-?])(?P<text>(?:[^${}]|\$\{[^{}]*\})*))?\})")


class MissingVariable(Exception):
    """`${NAME:?text}` without NAME."""


def fill_in(text: str, variables: Mapping[str, str]) -> str:
    def replace(match: re.Match[str]) -> str:
        name = match["name"]
        if name is None:
            return "$"
        value = variables.get(name, "")
        if value or match["kind"] is None:
            return value
        if match["kind"] == "?":
            raise MissingVariable(f"{name}: {match['text']}")
        return fill_in(match["text"], variables)

    return VARIABLE.sub(replace, text)


def fill_in_everywhere(node: Any, variables: Mapping[str, str]) -> Any:
    if isinstance(node, str):
        return fill_in(node, variables)
    if isinstance(node, list):
        return [fill_in_everywhere(item, variables) for item in node]
    if isinstance(node, dict):
        return {key: fill_in_everywhere(value, variables) for key, value in node.items()}
    return node


@dataclass(frozen=True)
class HealthCheck:
    command: list[str]
    retries: int


@dataclass(frozen=True)
class Service:
    name: str
    user: str
    image: str
    command: list[str]
    environment: dict[str, str]
    health: HealthCheck | None
    ports: list[str]
    depends_on: dict[str, str]
    settings: dict[str, Any] = field(repr=False)

    @property
    def runs_once(self) -> bool:
        return self.settings.get("restart") == "no"


def health_of(settings: Mapping[str, Any]) -> HealthCheck | None:
    described = settings.get("healthcheck")
    if described is None:
        return None
    form, *command = described["test"]
    assert form == "CMD", "a health check is a program with arguments, not a shell line"
    return HealthCheck(command=command, retries=described["retries"])


def read_compose(variables: Mapping[str, str], path: Path = ROOT / "docker-compose.yml") -> dict[str, Service]:
    document = fill_in_everywhere(yaml.safe_load(path.read_text(encoding="utf-8")), variables)
    return {
        name: Service(
            name=name,
            user=str(settings.get("user", "")),
            image=settings["image"],
            command=settings.get("command", []),
            environment={key: str(value) for key, value in settings.get("environment", {}).items()},
            health=health_of(settings),
            ports=settings.get("ports", []),
            depends_on={other: how["condition"] for other, how in settings.get("depends_on", {}).items()},
            settings=settings,
        )
        for name, settings in document["services"].items()
    }


def start_order(services: Mapping[str, Service]) -> list[Service]:
    ordered: list[Service] = []
    left = dict(services)
    while left:
        ready = [service for service in left.values() if not set(service.depends_on) & set(left)]
        assert ready, f"these wait for each other: {', '.join(left)}"
        for service in ready:
            ordered.append(left.pop(service.name))
    return ordered
