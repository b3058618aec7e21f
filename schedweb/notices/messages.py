"""What is told: which pods of a run wait for a person, or which evictions, where to decide, and how long there is; and
that a shadow agrees too little."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from typing import Any, Final, Protocol
from urllib.parse import quote

import msgspec
from django.utils import timezone

from schedweb.engine.times import iso, nanoseconds, wall
from schedweb.runs.models import EvictionProposal, Followed, PodRecord, Run
from schedweb.runs.shadowing.selectors import last_hour
from schedweb.runs.waiting.selectors import is_held
from schedweb.serving import origin_known

SHOWN: Final = 20
"""Pods, or evictions, that a message lists; of others it says how many."""
VICTIMS_SHOWN: Final = 5
"""Of one eviction."""


class Message(Protocol):
    @property
    def title(self) -> str: ...

    @property
    def text(self) -> str: ...

    def body(self) -> dict[str, Any]:
        """Of the webhook."""


class WaitingPod(msgspec.Struct):
    namespace: str
    name: str
    uid: str
    node: str
    link: str
    deadline: str
    """By the run's clock."""
    seconds_left: int
    """Until then; 0 when it is over."""
    clock_stands: bool
    """Until somebody decides: the run is held before the deadline."""

    def line(self) -> str:
        left = f"{duration(self.seconds_left)} left by the run's clock"
        if self.clock_stands:
            left += ", which stands until somebody decides"
        return f"{self.namespace}/{self.name} would go to {self.node}, {left}: {self.link}"


class WaitingPods(msgspec.Struct):
    run: str
    run_number: str
    link: str
    pods: list[WaitingPod]
    more: int = 0
    """Pods that are not listed."""

    @property
    def title(self) -> str:
        count = len(self.pods) + self.more
        if count == 1:
            return f"{self.pods[0].namespace}/{self.pods[0].name} waits for a decision in {self.run_number}"
        return f"{count:,} pods wait for a decision in {self.run_number}"

    @property
    def text(self) -> str:
        return text_of((each.line() for each in self.pods), self.more, self.link)

    def body(self) -> dict[str, Any]:
        return enveloped("pods.waiting", self)


class ProposedEviction(msgspec.Struct):
    """Somebody decides whether pods are evicted for this one; there is no time limit."""

    number: int
    """Of the run's."""
    namespace: str
    name: str
    uid: str
    node: str
    link: str
    victims: list[str]
    """As namespace/name, at most VICTIMS_SHOWN."""
    victim_count: int
    violations: int
    """Victims whose eviction breaks a PodDisruptionBudget."""

    def line(self) -> str:
        more = self.victim_count - len(self.victims)
        named = ", ".join(self.victims) + (f" and {more:,} more" if more else "")
        broken = f", {self.violations:,} of them against a PodDisruptionBudget" if self.violations else ""
        return f"{self.namespace}/{self.name} needs room on {self.node} and would evict {named}{broken}: {self.link}"


class ProposedEvictions(msgspec.Struct):
    run: str
    run_number: str
    link: str
    evictions: list[ProposedEviction]
    more: int = 0
    """Evictions that are not listed."""

    @property
    def title(self) -> str:
        count = len(self.evictions) + self.more
        if count == 1:
            only = self.evictions[0]
            return f"An eviction for {only.namespace}/{only.name} waits for a decision in {self.run_number}"
        return f"{count:,} evictions wait for a decision in {self.run_number}"

    @property
    def text(self) -> str:
        return text_of((each.line() for each in self.evictions), self.more, self.link)

    def body(self) -> dict[str, Any]:
        return enveloped("evictions.proposed", self)


class ShadowBelow(msgspec.Struct):
    """Of the last hour up to the newest binding, as the page has it."""

    run: str
    run_number: str
    link: str
    context: str
    """The real cluster."""
    configuration: str
    agreed: int
    decisions: int
    """Bindings of the real scheduler that were judged."""
    percent: float
    """Of agreement, with one decimal; never above what it is."""
    alert_below: int
    since: str
    """When it was seen to be below."""

    @property
    def title(self) -> str:
        return f"{self.configuration} agrees with {self.context} in {self.percent:.1f} %, below {self.alert_below} %"

    @property
    def text(self) -> str:
        return (
            f"In the last hour the shadow {self.run_number} agreed with {self.agreed:,} of {self.decisions:,} bindings "
            f"of the real scheduler: {self.link}"
        )

    def body(self) -> dict[str, Any]:
        return enveloped("shadow.below", self)


def of_shadow(run: Run, row: Followed) -> ShadowBelow:
    origin, _ = origin_known()
    hour = last_hour(run, row)["hour"]
    agreed, decisions = hour["agreed"], hour["decisions"]
    return ShadowBelow(
        run=str(run.pk),
        run_number=str(run),
        link=f"{origin}/runs/{run.pk}/shadow",
        context=run.follows,
        configuration=run.configuration_version.configuration.name,
        agreed=agreed,
        decisions=decisions,
        percent=1000 * agreed // max(1, decisions) / 10,
        alert_below=row.alert_below or 0,
        since=wall(row.below_since or timezone.now()),
    )


def text_of(lines: Iterable[str], more: int, link: str) -> str:
    return "\n".join([*lines, *([f"and {more:,} more: {link}"] if more else [])])


def enveloped(kind: str, message: WaitingPods | ProposedEvictions | ShadowBelow) -> dict[str, Any]:
    data: dict[str, Any] = msgspec.to_builtins(message)
    return {"type": kind, "timestamp": wall(timezone.now()), "data": data}


def of_evictions(run: Run, proposed: Iterable[EvictionProposal]) -> ProposedEvictions:
    origin, _ = origin_known()
    link = f"{origin}/waiting?run={run.pk}"
    rows = list(proposed)
    listed = [_eviction(each, link) for each in rows[:SHOWN]]
    return ProposedEvictions(str(run.pk), str(run), link, listed, len(rows) - len(listed))


def _eviction(row: EvictionProposal, link: str) -> ProposedEviction:
    victims = row.body["victims"]
    return ProposedEviction(
        row.number,
        row.namespace,
        row.name,
        row.pod_uid,
        row.node,
        link,
        [f"{each['namespace']}/{each['name']}" for each in victims[:VICTIMS_SHOWN]],
        len(victims),
        row.body["violations"],
    )


def of_pods(run: Run, waiting: Iterable[PodRecord]) -> WaitingPods:
    origin, _ = origin_known()
    pods = list(waiting)
    listed = [_pod(run, each, origin) for each in pods[:SHOWN]]
    return WaitingPods(str(run.pk), str(run), f"{origin}/runs/{run.pk}", listed, len(pods) - len(listed))


def trial() -> WaitingPods:
    """What `manage.py notices --test` sends: it looks like a real one and names no pod of anybody's."""
    origin, _ = origin_known()
    now = wall(timezone.now())
    pod = WaitingPod("example", "a-trial", "trial", "no node", origin, now, 300, clock_stands=False)
    return WaitingPods("", "a trial of notices", origin, [pod])


def _pod(run: Run, pod: PodRecord, origin: str) -> WaitingPod:
    waits = [each for each in pod.card.get("waiting", []) if each["asks_person"]]
    deadline = min((datetime.datetime.fromisoformat(each["deadline"]) for each in waits), default=None)
    until = run.clock if deadline is None else nanoseconds(deadline)
    place = "/".join(quote(each, safe="") for each in (pod.namespace, pod.name))
    return WaitingPod(
        pod.namespace,
        pod.name,
        pod.uid,
        pod.node,
        f"{origin}/runs/{run.pk}/pods/{place}",
        iso(until),
        max(0, (until - run.clock) // 10**9),
        is_held(run, pod),
    )


def duration(seconds: int) -> str:
    """The two largest units."""
    found: list[str] = []
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        if seconds >= size and len(found) < 2:
            found.append(f"{seconds // size} {unit}")
            seconds %= size
    return " ".join(found) or "0 s"
