"""The pods that a run decided about, each with what was decided as kube-scheduler-simulator's annotations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from schedweb.configurations.examination import effective_profiles
from schedweb.configurations.models import ConfigurationVersion
from schedweb.runs.attempts.selectors import stored_traces
from schedweb.runs.exporting.simulator_annotations import Results, annotations_of, results_of
from schedweb.runs.models import Attempt, PodRecord, Run
from schedweb.runs.records.manifests import as_served
from schedweb.runs.records.moments import configuration_at
from schedweb.runs.records.pod_query import filter_pods
from schedweb.runs.records.pods import pod_manifest
from schedweb.snapshots.selectors import snapshot_manifests

BATCH: Final = 20
MOST_ATTEMPTS: Final = 20
"""Of one pod, the newest: more than a history of 256 KiB has room for, but of the smallest clusters."""


class FilterPlugins:
    """By configuration and profile, in their order."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.known: dict[Any, dict[str, tuple[str, ...]]] = {}

    def names_for(self, row: Attempt) -> tuple[str, ...]:
        # The attempt's cycle ended at its position, so a switch there came after it.
        version = configuration_at(self.run, row.position if row.position is not None else self.run.position)
        if version not in self.known:
            text = ConfigurationVersion.objects.values_list("text", flat=True).get(pk=version)
            self.known[version] = {each.scheduler_name: each.point("filter").names for each in effective_profiles(text)}
        return self.known[version].get(row.profile, ())


def annotated_pods(run: Run, *, query: str = "", namespace: str = "", pod: str = "") -> Iterator[list[dict[str, Any]]]:
    """Manifests, a few at a time, in the order of their last attempts; pods that were not tried are left out."""
    rows = PodRecord.objects.filter(run=run, attempts__gt=0).exclude(column=PodRecord.Column.DELETED)
    if namespace:
        rows = rows.filter(namespace=namespace)
    if pod:
        rows = rows.filter(namespace=pod.partition("/")[0], name=pod.partition("/")[2])
    if query:
        rows = filter_pods(rows, query)
    keys = dict(rows.values_list("uid", "pk"))
    last: dict[str, int] = {}
    for uid, number in Attempt.objects.filter(run=run).order_by("number").values_list("pod_uid", "number"):
        if uid in keys:
            last[uid] = number
    ordered = sorted(last, key=last.__getitem__)
    plugins = FilterPlugins(run)
    for at in range(0, len(ordered), BATCH):
        yield annotated(run, ordered[at : at + BATCH], plugins)


def annotated(run: Run, uids: Sequence[str], plugins: FilterPlugins) -> list[dict[str, Any]]:
    attempts: dict[str, list[Attempt]] = {uid: [] for uid in uids}
    for row in Attempt.objects.filter(run=run, pod_uid__in=uids).order_by("number"):
        attempts[row.pod_uid].append(row)
    kept = {uid: rows[-MOST_ATTEMPTS:] for uid, rows in attempts.items()}
    by_number = {row.number: row for rows in kept.values() for row in rows}
    # One trace at a time: those of thousands of nodes are large.
    results: dict[int, Results] = {
        number: results_of(trace, by_number[number].ending, plugins.names_for(by_number[number]))
        for number, trace in stored_traces(run.pk, by_number)
    }
    found = []
    records = {row.uid: row for row in PodRecord.objects.filter(run=run, uid__in=uids)}
    for uid in uids:
        stored = [results[row.number] for row in kept[uid] if row.number in results]
        found.append(with_annotations(run, records[uid], annotations_of(stored)))
    return found


def with_annotations(run: Run, record: PodRecord, annotations: Results) -> dict[str, Any]:
    manifest = as_served(pod_manifest(record)) or given_manifest(run, record)
    metadata = {**manifest.get("metadata", {})}
    metadata["annotations"] = {**(metadata.get("annotations") or {}), **annotations}
    spec = {**manifest.get("spec", {})}
    if record.column == PodRecord.Column.BOUND:
        spec["nodeName"] = record.node
    return {**manifest, "apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def given_manifest(run: Run, record: PodRecord) -> dict[str, Any]:
    """As the snapshot has it: of very large clusters only manifests that changed are stored with the run."""
    for each in snapshot_manifests(run.snapshot):
        metadata = each["metadata"]
        if each.get("kind") == "Pod" and (metadata.get("namespace"), metadata["name"]) == (
            record.namespace,
            record.name,
        ):
            return each
    return {"metadata": {"namespace": record.namespace, "name": record.name, "uid": record.uid}}
