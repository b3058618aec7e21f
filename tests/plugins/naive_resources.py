"""What NodeResourcesFit and NodeResourcesBalancedAllocation answer, worked out node by node from manifests.

Deliberately slow and separate: it parses its own quantities, adds up every pod on the node each time and scores with
plain Python numbers (docs/semantics/resources.md#pod-requests, docs/semantics/plugins.md#noderesourcesfit). It knows
whole and milli amounts and the binary suffixes, which is what the random worlds write.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Manifest = dict[str, Any]
Amounts = dict[str, Fraction]
Status = tuple[str, ...]
"""(code, reasons...); () passes."""

SUFFIXES = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
DEFAULTS = {"cpu": Fraction(1, 10), "memory": Fraction(200 * 2**20)}
NATIVE = ("cpu", "memory", "ephemeral-storage")


def amount(text: str) -> Fraction:
    for suffix, factor in SUFFIXES.items():
        if text.endswith(suffix):
            return Fraction(text[: -len(suffix)]) * factor
    return Fraction(text[:-1]) / 1000 if text.endswith("m") else Fraction(text)


def asked(container: Manifest, *, defaults: bool) -> Amounts:
    requests = {name: amount(text) for name, text in container["resources"]["requests"].items()}
    return {**DEFAULTS, **requests} if defaults else requests


def highest(one: Amounts, other: Amounts) -> Amounts:
    return {name: max(one.get(name, Fraction(0)), other.get(name, Fraction(0))) for name in {**one, **other}}


def total(parts: list[Amounts]) -> Amounts:
    return {name: sum((part.get(name, Fraction(0)) for part in parts), Fraction(0)) for part in parts for name in part}


def requests_of(pod: Manifest, *, defaults: bool = False, pod_level: bool = True) -> dict[str, int]:
    """cpu in millicores, the rest in units; rounded up once, at the end."""
    spec = pod["spec"]
    sidecars: list[Amounts] = []
    peaks: Amounts = {}
    for container in spec.get("initContainers", ()):
        own = asked(container, defaults=defaults)
        if container.get("restartPolicy") == "Always":
            sidecars.append(own)
            peaks = highest(peaks, total(sidecars))
        else:
            peaks = highest(peaks, total([own, *sidecars]))
    running = total([*(asked(container, defaults=defaults) for container in spec["containers"]), *sidecars])
    needs = highest(running, peaks)
    if pod_level:
        needs |= {name: amount(text) for name, text in spec.get("resources", {}).get("requests", {}).items()}
    needs = total([needs, {name: amount(text) for name, text in spec.get("overhead", {}).items()}])
    return {name: math.ceil(value * 1000 if name == "cpu" else value) for name, value in needs.items()}


def counted_for_scoring(pod: Manifest) -> tuple[int, int]:
    """cpu in millicores and memory in bytes with defaults: per container, or for the whole of a pod-level pod."""
    if pod["spec"].get("resources", {}).get("requests"):
        with_defaults = requests_of(pod, defaults=True)
        plain = requests_of(pod)
        return tuple(plain[name] if name in plain else with_defaults[name] for name in ("cpu", "memory"))  # type: ignore[return-value]
    counted = requests_of(pod, defaults=True)
    return counted["cpu"], counted["memory"]


@dataclass
class NaiveNode:
    manifest: Manifest
    pods: list[Manifest]

    @property
    def allocatable(self) -> dict[str, int]:
        offered = self.manifest["status"]["allocatable"]
        return {name: int(amount(text) * (1000 if name == "cpu" else 1)) for name, text in offered.items()}

    def requested(self, resource: str) -> int:
        return sum(requests_of(pod).get(resource, 0) for pod in self.pods)

    def counted(self, resource: str) -> int:
        """What scoring takes as requested: with defaults for cpu and memory."""
        if resource in ("cpu", "memory"):
            return sum(counted_for_scoring(pod)[resource == "memory"] for pod in self.pods)
        return self.requested(resource)


def fit(pod: Manifest, node: NaiveNode, ignored: frozenset[str]) -> Status:
    """``ignored``: extended resources that are not checked."""
    needs = {name: value for name, value in requests_of(pod).items() if value and name not in ignored}
    reasons = ["Too many pods"] if len(node.pods) + 1 > node.allocatable["pods"] else []
    never = False
    for name in (*(name for name in NATIVE if name in needs), *sorted(needs.keys() - set(NATIVE))):
        offered = node.allocatable.get(name, 0)
        if needs[name] > offered - node.requested(name):
            reasons.append(f"Insufficient {name}")
            never |= needs[name] > offered
    if not reasons:
        return ()
    return ("UnschedulableAndUnresolvable" if never else "Unschedulable", *reasons)


def truncated(numerator: int, denominator: int) -> int:
    quotient = abs(numerator) // abs(denominator)
    return quotient if (numerator < 0) == (denominator < 0) else -quotient


def on_line(shape: list[tuple[int, int]], utilization: int) -> int:
    for i, (u, s) in enumerate(shape):
        if utilization <= u:
            if i == 0:
                return s
            before_u, before_s = shape[i - 1]
            return before_s + truncated((s - before_s) * (utilization - before_u), u - before_u)
    return shape[-1][1]


def fit_score(
    pod: Manifest, node: NaiveNode, strategy: str, resources: list[tuple[str, int]], shape: list[tuple[int, int]]
) -> int:
    """``shape``: (utilization, score from 0 to 10)."""
    needs = requests_of(pod, defaults=True, pod_level=False)
    scored: list[tuple[int, int]] = []
    for name, weight in resources:
        offered = node.allocatable.get(name, 0)
        need = needs.get(name, 0)
        if offered == 0 or (name not in NATIVE and need == 0):
            continue
        used = node.counted(name) + need
        if strategy == "LeastAllocated":
            scored.append((0 if used > offered else (offered - used) * 100 // offered, weight))
        elif strategy == "MostAllocated":
            scored.append((min(used, offered) * 100 // offered, weight))
        else:
            score = on_line([(u, s * 10) for u, s in shape], 100 if used > offered else used * 100 // offered)
            if score > 0:
                scored.append((score, weight))
    weights = sum(weight for _, weight in scored)
    if weights == 0:
        return 0
    points = sum(score * weight for score, weight in scored)
    if strategy == "RequestedToCapacityRatio":
        return math.floor(Fraction(points, weights) + Fraction(1, 2))
    return points // weights


def balance(parts: list[tuple[int, int]]) -> int:
    """``parts``: (used, offered) of each resource."""
    fractions = [min(1.0, used / offered) for used, offered in parts]
    if len(fractions) < 2:
        return 100
    if len(fractions) == 2:
        return int((1.0 - abs((fractions[0] - fractions[1]) / 2)) * 100)
    mean = 0.0
    for fraction in fractions:
        mean += fraction
    mean /= len(fractions)
    squares = 0.0
    for fraction in fractions:
        squares += (fraction - mean) * (fraction - mean)
    return int((1.0 - math.sqrt(squares / len(fractions))) * 100)


def balanced_score(pod: Manifest, node: NaiveNode, resources: list[str]) -> int | None:
    """None: the pod asks for none of them, so the plugin skips."""
    needs = requests_of(pod)
    if not any(needs.get(name, 0) for name in resources):
        return None
    before, after = [], []
    for name in resources:
        offered = node.allocatable.get(name, 0)
        if offered == 0 or (name not in NATIVE and not needs.get(name, 0)):
            continue
        before.append((node.requested(name), offered))
        after.append((node.requested(name) + needs.get(name, 0), offered))
    return 50 + truncated(50 + balance(after) - balance(before), 2)
