"""Samples become snapshots."""

from __future__ import annotations

from django.db import transaction

from framework.objects.timestamps import parse_timestamp
from schedweb.engine.payload import TimelineEntry
from schedweb.snapshots.models import Snapshot
from schedweb.snapshots.samples import SAMPLES, Sample
from schedweb.snapshots.samples.manifests import START, SampleCluster
from schedweb.snapshots.services import snapshot_from_manifests
from schedweb.soft_delete import KEPT


def samples_load() -> list[Snapshot]:
    """Every sample in its newest version; older versions stay as long as runs play on them. A start brings back one
    that somebody deleted."""
    for sample in SAMPLES:
        Snapshot.every.filter(sample_slug=sample.slug, sample_version=sample.version).update(**KEPT)
    missing = [
        sample
        for sample in SAMPLES
        if not Snapshot.objects.filter(sample_slug=sample.slug, sample_version=sample.version).exists()
    ]
    return [sample_load(sample) for sample in missing]


def sample_load(sample: Sample) -> Snapshot:
    # Before the transaction, which must not stand still for long.
    cluster = sample.build()
    with transaction.atomic():
        return _sample_store(sample, cluster)


def _sample_store(sample: Sample, cluster: SampleCluster) -> Snapshot:
    snapshot = snapshot_from_manifests(
        name=cluster.name,
        description=cluster.description,
        source=Snapshot.Source.SAMPLE,
        objects=cluster.objects,
        timeline=[
            TimelineEntry(at=round(a.after * 1_000_000_000), delete=a.delete, manifest=a.manifest)
            for a in cluster.arrivals
        ],
        taken_at=parse_timestamp(START),
        sample_slug=sample.slug,
        sample_version=sample.version,
        configuration_slug=cluster.configuration,
    )
    for old in Snapshot.objects.filter(sample_slug=sample.slug).exclude(pk=snapshot.pk).filter(runs=None):
        old.delete()
    return snapshot
