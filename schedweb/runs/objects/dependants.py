"""What rests on an object of the catalogue, in a sentence: read by who is about to delete it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from django.db.models import Q, QuerySet

from framework.objects import PodGroup
from framework.objects.catalogue import (
    QUOTA_NAME,
    QUOTA_PARENT,
    AppGroup,
    ElasticQuota,
    LoadMetrics,
    NetworkTopology,
    NodeResourceTopology,
    SeccompProfile,
)
from framework.objects.reservations import Reservation
from framework.plugins.coscheduling.pod_groups import LABEL
from schedweb.runs.models import NodeRecord, ObjectRecord, PodRecord, Run
from schedweb.runs.models.packed import text_of
from schedweb.runs.records.manifests import manifest_of
from schedweb.sentences import counted, one_after_another, say

Manifest = Mapping[str, Any]


def rests_on(run: Run, row: ObjectRecord) -> str:
    """In the reader's language; "" of a kind of which nothing is known."""
    told = _TOLD.get(row.kind)
    if told is None:
        return ""
    return told(run, row, manifest_of(row.manifest)) or say("Nothing rests on it now.")


def _there(run: Run) -> QuerySet[PodRecord]:
    return PodRecord.objects.filter(run=run).exclude(column__in=PodRecord.GONE)


def _naming(pods: QuerySet[PodRecord], *words: str) -> int:
    """How many pods have one of these words in their manifest."""
    wanted = [word.encode() for word in words]
    stored = pods.exclude(manifest=None).values_list("manifest", flat=True)
    texts = (text_of(each) for each in stored.iterator() if each is not None)
    return sum(any(word in text for word in wanted) for text in texts)


def _labelled(key: str, value: str) -> Q:
    return Q(**{f"labels__{key}": value})


def _pod_group(run: Run, row: ObjectRecord, _: Manifest) -> str:
    pods = _there(run).filter(namespace=row.namespace)
    if row.group == PodGroup.api_version.partition("/")[0]:
        count = pods.filter(_labelled(LABEL, row.name)).count()
    else:
        count = _naming(pods, f'"podGroupName":"{row.name}"')
    return counted("{count} pod is of this group.", "{count} pods are of this group.", count) if count else ""


def _quota(run: Run, row: ObjectRecord, _: Manifest) -> str:
    held = Q(namespace=row.namespace) | _labelled(QUOTA_NAME, row.name)
    pods = _there(run).filter(held).count()
    others = ObjectRecord.objects.filter(run=run, kind=row.kind, present=True).exclude(pk=row.pk)
    labels = [(manifest_of(each.manifest).get("metadata") or {}).get("labels") or {} for each in others]
    below = sum(each.get(QUOTA_PARENT) == row.name for each in labels)
    return one_after_another(
        [
            counted("{count} pod is held to it.", "{count} pods are held to it.", pods) if pods else "",
            counted("{count} quota is below it.", "{count} quotas are below it.", below) if below else "",
        ]
    )


def _zones(run: Run, row: ObjectRecord, _: Manifest) -> str:
    if not NodeRecord.objects.filter(run=run, name=row.name, present=True).exists():
        return ""
    return say("It says what the NUMA zones of node {node} have.", node=row.name)


def _app_group(run: Run, row: ObjectRecord, _: Manifest) -> str:
    count = _there(run).filter(_labelled(AppGroup.GROUP_LABEL, row.name), namespace=row.namespace).count()
    return (
        counted("{count} pod is of this application.", "{count} pods are of this application.", count) if count else ""
    )


def _network(run: Run, row: ObjectRecord, _: Manifest) -> str:
    groups = ObjectRecord.objects.filter(run=run, kind=AppGroup.kind, present=True).count()
    return (
        counted(
            "{count} AppGroup is placed by costs between zones.",
            "{count} AppGroups are placed by costs between zones.",
            groups,
        )
        if groups
        else ""
    )


def _profile(run: Run, row: ObjectRecord, _: Manifest) -> str:
    count = _naming(_there(run), f"{row.namespace}/{row.name}.json")
    return counted("{count} pod names it.", "{count} pods name it.", count) if count else ""


def _load(run: Run, row: ObjectRecord, manifest: Manifest) -> str:
    measured = (manifest.get("data") or {}).get("NodeMetricsMap") or {}
    known = NodeRecord.objects.filter(run=run, present=True).values_list("name", flat=True)
    count = len(measured.keys() & set(known))
    return counted("It says how busy {count} node is.", "It says how busy {count} nodes are.", count) if count else ""


def _reservation(run: Run, row: ObjectRecord, manifest: Manifest) -> str:
    owners = (manifest.get("status") or {}).get("currentOwners") or []
    return counted("{count} pod uses it.", "{count} pods use it.", len(owners)) if owners else ""


_TOLD: Final[dict[str, Callable[[Run, ObjectRecord, Manifest], str]]] = {
    PodGroup.kind: _pod_group,
    ElasticQuota.kind: _quota,
    NodeResourceTopology.kind: _zones,
    AppGroup.kind: _app_group,
    NetworkTopology.kind: _network,
    SeccompProfile.kind: _profile,
    LoadMetrics.kind: _load,
    Reservation.kind: _reservation,
}
