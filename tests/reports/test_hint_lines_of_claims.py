"""What VolumeBinding and DynamicResources write of an event: every branch of their hints, with message, keys and level.

Upstream: the hint functions of volumebinding/volume_binding.go and dynamicresources/dynamicresources.go (1.36.2).
"""

from __future__ import annotations

from typing import Final

import pytest

from framework.reports.hint_lines_of_volumes import LINES_OF_VOLUMES
from framework.reports.log import SchedulerLog
from tests.reports.recorded import create, node, scheduler_of, step_all, without_times
from tests.reports.test_hint_lines_of_volumes import CASES as OF_VOLUMES
from tests.reports.volume_events import (
    BINDING,
    CLAIMS,
    DEVICES,
    INLINE,
    IRRELEVANT,
    OWN,
    PVC,
    QUEUE,
    WAITS,
    Case,
    Manifest,
    capacity,
    claim,
    csi_node,
    device_claim,
    driver,
    held,
    lines_of,
    storage_class,
    waits,
)

CASES: Final = {
    # --- VolumeBinding
    "binding, new CSINode": Case(
        BINDING,
        waits(PVC),
        None,
        csi_node(),
        ['v5 volume_binding.go:147] "CSINode creation could make the pod schedulable"'],
        QUEUE,
    ),
    "binding, plugins handed over": Case(
        BINDING,
        waits(PVC),
        csi_node(),
        csi_node(plugins="kubernetes.io/aws-ebs"),
        [
            "v5 volume_binding.go:162] \"CSINode's migrated plugins annotation is updated and that may make the pod"
            ' schedulable" Pod="default/waits" CSINode="east"'
        ],
        QUEUE,
    ),
    "binding, CSINode as it was": Case(
        BINDING,
        waits(PVC),
        csi_node(),
        csi_node(("a", 1)),
        [
            'v5 volume_binding.go:166] "CISNode was created or updated but it doesn\'t make this pod schedulable"'
            ' Pod="default/waits" CSINode="east"'
        ],
    ),
    "binding, claim elsewhere": Case(
        BINDING,
        waits(PVC),
        None,
        claim(namespace="b"),
        [
            "v5 volume_binding.go:183] \"PersistentVolumeClaim was created or updated, but it doesn't make this pod"
            ' schedulable because the PVC belongs to a different namespace" Pod="default/waits"'
            ' PersistentVolumeClaim="b/data"'
        ],
    ),
    "binding, its claim": Case(
        BINDING,
        waits(OWN),
        None,
        claim("waits-v0"),
        [
            'v5 volume_binding.go:201] "PersistentVolumeClaim the pod requires was created or updated, potentially'
            ' making the target Pod schedulable" Pod="default/waits" PersistentVolumeClaim="default/waits-v0"'
        ],
        QUEUE,
    ),
    "binding, another claim": Case(
        BINDING,
        waits(PVC),
        claim("b"),
        claim("b"),
        [
            "v5 volume_binding.go:206] \"PersistentVolumeClaim was created or updated, but it doesn't make this pod"
            ' schedulable" Pod="default/waits" PersistentVolumeClaim="default/b"'
        ],
    ),
    "binding, new class": Case(
        BINDING,
        waits(PVC),
        None,
        storage_class("Immediate"),
        [
            'v5 volume_binding.go:229] "A new StorageClass was created, which could make a Pod schedulable"'
            ' Pod="default/waits" StorageClass="fast"'
        ],
        QUEUE,
    ),
    "binding, class of other zones": Case(
        BINDING, waits(PVC), storage_class("Immediate", "a"), storage_class("Immediate", "b"), [], QUEUE
    ),
    "binding, class as it was": Case(
        BINDING,
        waits(PVC),
        storage_class("Immediate", "a"),
        storage_class("Immediate", "a"),
        [
            'v5 volume_binding.go:238] "StorageClass was updated, but it doesn\'t make this pod schedulable"'
            ' Pod="default/waits" StorageClass="fast"'
        ],
    ),
    "binding, new capacity": Case(
        BINDING,
        waits(PVC),
        None,
        capacity("1Gi"),
        [
            'v5 volume_binding.go:255] "A new CSIStorageCapacity was created, which could make a Pod schedulable"'
            ' Pod="default/waits" CSIStorageCapacity="kube-system/room"'
        ],
        QUEUE,
    ),
    "binding, more capacity": Case(
        BINDING,
        waits(PVC),
        capacity(),
        capacity("1024Mi"),
        [
            'v5 volume_binding.go:275] "VolumeLimit was increased, which could make a Pod schedulable"'
            ' Pod="default/waits" CSIStorageCapacity="kube-system/room" volumeLimit(new)="1Gi" volumeLimit(old)="<nil>"'
        ],
        QUEUE,
    ),
    "binding, more capacity but no larger volumes": Case(
        BINDING,
        waits(PVC),
        capacity("1Gi", "1Gi"),
        capacity("5Gi", "1Gi"),
        [
            'v5 volume_binding.go:279] "CSIStorageCapacity was updated, but it doesn\'t make this pod schedulable"'
            ' Pod="default/waits" CSIStorageCapacity="kube-system/room" volumeLimit(new)="1Gi" volumeLimit(old)="1Gi"'
        ],
    ),
    "binding, driver that tracks no more": Case(
        BINDING,
        waits(INLINE),
        driver(True),
        driver(False),
        [
            'v5 volume_binding.go:301] "CSIDriver was updated and storage capacity got disabled, which may make the pod'
            ' schedulable" Pod="default/waits" CSIDriver="disks.example.com"'
        ],
        QUEUE,
    ),
    "binding, driver that it does not use": Case(
        BINDING,
        waits(PVC),
        driver(True),
        driver(False),
        [
            'v5 volume_binding.go:306] "CSIDriver was created or updated but it doesn\'t make this pod schedulable"'
            ' Pod="default/waits" CSIDriver="disks.example.com"'
        ],
    ),
    # --- DynamicResources
    "devices, its claim is missing": Case(CLAIMS, waits(**DEVICES), None, device_claim("other"), []),
    "devices, freed": Case(
        CLAIMS,
        waits(**DEVICES),
        device_claim("other", allocated=True),
        device_claim("other"),
        [
            'v6 dynamicresources.go:323] "claim with structured parameters got deallocated"'
            f' {WAITS} claim="default/other"'
        ],
        QUEUE,
        (device_claim(),),
    ),
    "devices, another claim": Case(
        CLAIMS,
        waits(**DEVICES),
        None,
        device_claim("other"),
        [f'v6 dynamicresources.go:329] "unrelated claim got modified" {WAITS} claim="default/other"'],
        there=(device_claim(),),
    ),
    "devices, its claim comes": Case(
        CLAIMS,
        waits(**DEVICES),
        None,
        device_claim(),
        [f'v5 dynamicresources.go:334] "claim for pod got created" {WAITS} claim="default/gpu"'],
        QUEUE,
        (device_claim(),),
    ),
    "devices, a finalizer": Case(
        CLAIMS,
        waits(**DEVICES),
        device_claim(),
        device_claim(finalizer="example.com/keep"),
        [
            'v6 dynamicresources.go:347] "claim for pod got modified where the pod doesn\'t care"'
            f' {WAITS} claim="default/gpu"'
        ],
        there=(device_claim(),),
    ),
    "devices, its status": Case(
        CLAIMS,
        waits(**DEVICES),
        device_claim(reserved="held"),
        device_claim(),
        [f'v5 dynamicresources.go:352] "status of claim for pod got updated" {WAITS} claim="default/gpu"'],
        QUEUE,
        (device_claim(),),
    ),
    "devices, another pod": Case(
        CLAIMS,
        waits(**DEVICES),
        held(),
        held(),
        [
            'v7 dynamicresources.go:367] "pod is not schedulable after change in other pod"'
            f' {WAITS} modifiedPod="default/held"'
        ],
    ),
    "devices, pod without its claim": Case(
        CLAIMS,
        waits(**DEVICES),
        waits(**DEVICES),
        waits(**DEVICES),
        [f'v6 dynamicresources.go:375] "pod is not schedulable after being updated" {WAITS}'],
    ),
    "devices, pod with its claim": Case(
        CLAIMS,
        waits(**DEVICES),
        waits(**DEVICES),
        waits(**DEVICES),
        [f'v5 dynamicresources.go:379] "pod got updated and is schedulable" {WAITS}'],
        QUEUE,
        (device_claim(),),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_lines_of_an_event(case: str) -> None:
    assert lines_of(CASES[case]) == CASES[case].lines


def test_every_line_is_tried() -> None:
    cases = (*CASES.values(), *OF_VOLUMES.values())
    assert {(each.plugin, (each.new or each.old or {})["kind"]) for each in cases} == set(LINES_OF_VOLUMES)


@pytest.mark.parametrize(
    ("waiting", "change", "level", "line"),
    [
        (waits(PVC), claim("b"), 5, f'volume_restrictions.go:379] "{IRRELEVANT}" {WAITS} PVC="default/b"'),
        (
            waits(**DEVICES),
            device_claim(),
            5,
            f'dynamicresources.go:334] "claim for pod got created" {WAITS} claim="default/gpu"',
        ),
    ],
    ids=["claim", "devices"],
)
def test_the_log_has_them_from_their_level_on(waiting: Manifest, change: Manifest, level: int, line: str) -> None:
    for verbosity in (level - 1, level):
        entries: list[str] = []
        log = SchedulerLog(entries.append, verbosity)
        scheduler = scheduler_of(log)
        log.start(scheduler)
        create(scheduler.cluster, node("east"))
        create(scheduler.cluster, waiting)
        step_all(scheduler)
        create(scheduler.cluster, change)
        assert (line in without_times(entries)) is (verbosity >= level)
