"""Which pods of lower priority PreemptionToleration left alone in an attempt, and for how long they tolerate it.

As the run has its pods now, at the time of the attempt; the rule is docs/semantics/catalogue.md#preemptiontoleration.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from framework.objects import Pod, PriorityClass
from framework.objects.decode import decode_manifest
from framework.objects.timestamps import SECOND
from framework.plugins.preemptiontoleration.plugin import Toleration, toleration_of
from schedweb.runs.models import Attempt, PodRecord, Run
from schedweb.runs.models.packed import text_of
from schedweb.runs.objects.selectors import ObjectLookup
from schedweb.runs.records.manifests import manifest_of
from schedweb.sentences import counted, say

PLUGIN: Final = "PreemptionToleration"
SHOWN: Final = 20


@dataclass(frozen=True)
class Spared:
    row: PodRecord
    priority_class: str
    tolerates: Toleration
    left: int | None
    """Nanoseconds after the attempt until it yields; None: no end is known."""


def spared_pods(run: Run, attempt: Attempt, nodes: Iterable[str]) -> list[Spared]:
    """Those on the nodes, who yields first first. ``run``: as it is, or as it was (``run.moment``)."""
    preemptor = _row(run, attempt)
    if preemptor is None:
        return []
    there, objects, found = set(nodes), ObjectLookup(run), list[Spared]()
    for row in _rows(run):
        if row.node not in there or row.priority >= preemptor.priority or row.manifest is None:
            continue
        # Most manifests name no class, and to look for a word costs less than to read one.
        if b"priorityClassName" not in text_of(row.manifest):
            continue
        pod = decode_manifest({"apiVersion": "v1", "kind": "Pod", **manifest_of(row.manifest)})
        assert isinstance(pod, Pod)
        name = pod.spec.priority_class_name
        said = objects.get(PriorityClass.kind, "", name) if name else None
        if said is None:
            continue
        of_victim = decode_manifest({"apiVersion": PriorityClass.api_version, **said})
        assert isinstance(of_victim, PriorityClass)
        tolerates = toleration_of(pod, of_victim)
        if tolerates is None or preemptor.priority >= tolerates.minimum:
            continue
        left = None if tolerates.until is None else tolerates.until - attempt.at
        if left is None or left > 0:
            found.append(Spared(row, name, tolerates, left))
    return sorted(found, key=lambda each: (each.left is None, each.left or 0, each.row.namespace, each.row.name))


def _row(run: Run, attempt: Attempt) -> PodRecord | None:
    if run.moment is not None:
        return next((each for each in run.moment.pods if each.uid == attempt.pod_uid), None)
    return PodRecord.objects.filter(run=run, uid=attempt.pod_uid).first()


def _rows(run: Run) -> Iterable[PodRecord]:
    if run.moment is not None:
        return [each for each in run.moment.pods if each.column not in PodRecord.GONE and each.node]
    placed = PodRecord.objects.filter(run=run).exclude(column__in=PodRecord.GONE).exclude(node="")
    return placed.only("uid", "namespace", "name", "node", "priority", "card", "manifest")


def spared_body(each: Spared) -> dict[str, Any]:
    ref = {key: each.row.card[key] for key in ("namespace", "name", "workload", "tail")}
    return {**ref, "priority": each.row.priority, "node": each.row.node, "text": spared_words(each)}


def spared_words(each: Spared) -> str:
    about: dict[str, Any] = {"name": each.priority_class, "minimum": each.tolerates.minimum}
    if each.left is not None:
        return say(
            "Its PriorityClass {name} spares it from priorities below {minimum:,} for {seconds:,} s after it was "
            "scheduled; {left:,} s of them were left.",
            seconds=each.tolerates.seconds,
            left=-(-each.left // SECOND),
            **about,
        )
    if each.tolerates.seconds < 0:
        return say("Its PriorityClass {name} spares it from priorities below {minimum:,} for good.", **about)
    return say(
        "Its PriorityClass {name} spares it from priorities below {minimum:,}: it has no PodScheduled condition, "
        "from which on its time would count.",
        **about,
    )


def spared_in_short(spared: list[Spared]) -> str:
    """One sentence for a pod that found no victims; "" where nobody was spared."""
    if not spared:
        return ""
    first = spared[0]
    if first.left is None:
        return counted(
            "{count} pod of lower priority is spared by its PriorityClass.",
            "{count} pods of lower priority are spared by their PriorityClasses.",
            len(spared),
        )
    return counted(
        "{count} pod of lower priority is spared by its PriorityClass: {pod}, for {left} s more when it was tried.",
        "{count} pods of lower priority are spared by their PriorityClasses, {pod} for the shortest time: "
        "{left} s more when it was tried.",
        len(spared),
        pod=f"{first.row.namespace}/{first.row.name}",
        left=-(-first.left // SECOND),
    )
