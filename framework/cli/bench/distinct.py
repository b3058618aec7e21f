"""AllDistinct: pods of which no two are alike. Generator and seed are part of the benchmark."""

from __future__ import annotations

from typing import Final

from framework.cli.bench.objects import HOSTNAME, ZONE, Manifest
from framework.profiles import SeededGenerator

SEED: Final = 20260101
OTHERS: Final = 50
"""App labels that a pod may keep away from instead of its own."""


def distinct_pods(first: int, count: int) -> list[Manifest]:
    """Numbers ``first`` and up, the same whatever came before them."""
    return [_pod(number) for number in range(first, first + count)]


def _pod(number: int) -> Manifest:
    draw = SeededGenerator(SEED + number)
    own = f"distinct-{number}"
    cpu, memory = 50 + draw.below(401), 64 + draw.below(837)
    avoided = own if draw.below(2) else f"distinct-{draw.below(OTHERS)}"
    term = {"labelSelector": {"matchLabels": {"app": avoided}}, "topologyKey": HOSTNAME}
    preferred = [{"weight": 1, "podAffinityTerm": term}]
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": avoided}},
    }
    made: Manifest = {
        "labels": {"app": own},
        "cpu": f"{cpu}m",
        "memory": f"{memory}Mi",
        "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}},
        "topologySpreadConstraints": [constraint],
    }
    if draw.below(2):
        made["tolerations"] = [{"key": f"team-{number}", "operator": "Exists", "effect": "NoSchedule"}]
    return made
