"""The metrics of a run in Prometheus' text format (docs/semantics/log.md#metrics)."""

from __future__ import annotations

from collections.abc import Iterator

import zstandard

from framework.objects import Pod
from framework.objects.decode import decode_manifest
from framework.objects.errors import ObjectError
from framework.reports.pod_resources import resource_metrics
from schedweb.api.errors import ApiError
from schedweb.runs.models import PodRecord, Run, RunMetrics
from schedweb.runs.records.manifests import manifest_of
from schedweb.sentences import say
from schedweb.snapshots.selectors import snapshot_manifests


def metrics_text(run: Run) -> bytes:
    """As the engine told them last: a row is read, nothing is counted."""
    stored = RunMetrics.objects.filter(run=run.pk).first()
    if stored is None:
        message = (
            say("Nothing of {run} has been played yet, so nothing was counted.", run=str(run))
            if run.state == Run.State.CREATED
            else say("{run} was begun by an older version, which did not count for /metrics.", run=str(run))
        )
        raise ApiError(message, code="no_metrics", status_code=404)
    return zstandard.decompress(bytes(stored.text))


def resources_text(run: Run) -> bytes:
    """Of the pods as they are stored now."""
    return "".join(f"{line}\n" for line in resource_metrics(stored_pods(run))).encode()


def stored_pods(run: Run) -> Iterator[Pod]:
    """All that are there."""
    rows = PodRecord.objects.filter(run=run.pk).exclude(column=PodRecord.Column.DELETED)
    given: dict[tuple[str, str], dict[str, object]] = {}
    if rows.filter(manifest=None).exists():
        # Of very large clusters only manifests that changed are stored with the run.
        given = {
            (each["metadata"].get("namespace", ""), each["metadata"]["name"]): each
            for each in snapshot_manifests(run.snapshot_id)
            if each.get("kind") == "Pod"
        }
    for namespace, name, manifest in rows.values_list("namespace", "name", "manifest").iterator():
        found = manifest_of(manifest) or given.get((namespace, name))
        if found is None:
            continue
        try:
            pod = decode_manifest({"apiVersion": "v1", "kind": "Pod", **found})
        except ObjectError:
            continue  # what an older version stored and this one would refuse
        if isinstance(pod, Pod):
            yield pod
