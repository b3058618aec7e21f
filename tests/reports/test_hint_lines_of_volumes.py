"""What plugins of volumes write of an event: every branch of their hints, with message, keys and level.

Upstream: the hint functions of nodevolumelimits/csi.go, volumerestrictions and volumezone (1.36.2). The hint is the
plugin's own; which pods it is asked about is ``test_hint_lines``'.
"""

from __future__ import annotations

from typing import Final

import pytest

from tests.reports.volume_events import (
    BROKEN,
    CREATED,
    DISK,
    EBS,
    EBS_DRIVER,
    IRRELEVANT,
    LIMITS,
    OWN,
    PVC,
    QUEUE,
    REFERRED,
    RESTRICTIONS,
    UNREFERRED,
    WAITS,
    ZONES,
    Case,
    attachment,
    claim,
    csi_node,
    held,
    lines_of,
    storage_class,
    volume,
    waits,
)

CASES: Final = {
    # --- NodeVolumeLimits
    "limits, pod without volumes": Case(LIMITS, waits(PVC), held(), None, []),
    "limits, pod on no node": Case(LIMITS, waits(PVC), held(PVC, node=""), None, []),
    "limits, pod with a claim": Case(LIMITS, waits(PVC), held(PVC), None, [], QUEUE),
    "limits, pod with other volumes": Case(
        LIMITS,
        waits(PVC),
        held({"emptyDir": {}}),
        None,
        [
            'v5 csi.go:121] "The deleted pod does not impact the scheduling of the unscheduled pod"'
            f' {WAITS} deletedPod="default/held"'
        ],
    ),
    "limits, its claim": Case(
        LIMITS, waits(PVC), None, claim(), [f'v5 csi.go:148] "{CREATED}" {WAITS} PVC="default/data"'], QUEUE
    ),
    "limits, claim of its own volume": Case(
        LIMITS,
        waits(OWN),
        None,
        claim("waits-v0"),
        [f'v5 csi.go:148] "{CREATED}" {WAITS} PVC="default/waits-v0"'],
        QUEUE,
    ),
    "limits, another claim": Case(
        LIMITS, waits(PVC), None, claim("b"), [f'v5 csi.go:153] "{IRRELEVANT}" {WAITS} PVC="default/b"']
    ),
    "limits, claim elsewhere": Case(LIMITS, waits(PVC), None, claim(namespace="b"), []),
    "limits, detached, with a claim": Case(
        LIMITS,
        waits({"emptyDir": {}}, PVC),
        attachment(),
        None,
        [
            'v5 csi.go:167] "Pod volume uses PersistentVolumeClaim, which might make this pod schedulable due to'
            f' VolumeAttachment deletion" {WAITS} volumeAttachment="va" volume="v1"'
        ],
        QUEUE,
    ),
    "limits, detached, a disk of the driver": Case(
        LIMITS,
        waits(EBS),
        attachment(EBS_DRIVER),
        None,
        [
            'v5 csi.go:182] "Pod volume is an Inline Migratable volume that matches the CSI driver, which might make'
            f' this pod schedulable due to VolumeAttachment deletion" {WAITS} volumeAttachment="va" volume="v0"'
            f' csiDriver="{EBS_DRIVER}"'
        ],
        QUEUE,
    ),
    "limits, detached, unreadable disk first": Case(
        LIMITS, waits(BROKEN, EBS), attachment(EBS_DRIVER), None, [], QUEUE
    ),
    "limits, detached from another driver": Case(
        LIMITS,
        waits(EBS),
        attachment(),
        None,
        [
            "v5 csi.go:190] \"the VolumeAttachment deletion wouldn't make this pod schedulable because the pod has no"
            f' volume related to a deleted VolumeAttachment" {WAITS} volumeAttachment="va"'
        ],
    ),
    "limits, raised": Case(
        LIMITS,
        waits(PVC),
        csi_node(("a", 3), ("b", None)),
        csi_node(("a", 3), ("b", 5)),
        [
            'v5 csi.go:222] "CSINode driver limit increased, might make this pod schedulable"'
            f' {WAITS} driver="b" oldLimit=0 newLimit=5'
        ],
        QUEUE,
    ),
    "limits, lowered": Case(LIMITS, waits(PVC), csi_node(("a", 3)), csi_node(("a", 2)), []),
    # --- VolumeRestrictions
    "restrictions, its claim": Case(
        RESTRICTIONS,
        waits(PVC),
        None,
        claim(),
        [f'v5 volume_restrictions.go:375] "{CREATED}" {WAITS} PVC="default/data"'],
        QUEUE,
    ),
    "restrictions, claim of its own volume": Case(
        RESTRICTIONS,
        waits(OWN),
        None,
        claim("waits-v0"),
        [f'v5 volume_restrictions.go:379] "{IRRELEVANT}" {WAITS} PVC="default/waits-v0"'],
    ),
    "restrictions, claim elsewhere": Case(RESTRICTIONS, waits(PVC), None, claim(namespace="b"), []),
    "restrictions, pod elsewhere": Case(RESTRICTIONS, waits(PVC), held(PVC, namespace="b"), None, []),
    "restrictions, its disk": Case(
        RESTRICTIONS,
        waits(DISK),
        held(DISK),
        None,
        [
            'v5 volume_restrictions.go:397] "Pod with the volume that the target pod requires was deleted, which might'
            f' make this pod schedulable" {WAITS} deletedPod="default/held"'
        ],
        QUEUE,
    ),
    "restrictions, the same claim": Case(
        RESTRICTIONS,
        waits(PVC),
        held(PVC),
        None,
        [
            'v5 volume_restrictions.go:415] "Pod with the same PVC that the target pod requires was deleted, which'
            f' might make this pod schedulable" {WAITS} deletedPod="default/held"'
        ],
        QUEUE,
    ),
    "restrictions, another pod": Case(
        RESTRICTIONS,
        waits(PVC),
        held(DISK),
        None,
        [
            'v5 volume_restrictions.go:420] "An irrelevant Pod was deleted, which doesn\'t make this pod schedulable"'
            f' {WAITS} deletedPod="default/held"'
        ],
    ),
    # --- VolumeZone
    "zone, its claim": Case(
        ZONES,
        waits(PVC),
        claim(),
        claim(),
        [
            f'v5 volume_zone.go:335] "PVC is referred from the pod" {WAITS} PVC="default/data"',
            f'v5 volume_zone.go:319] "{REFERRED}" {WAITS} PVC="default/data"',
        ],
        QUEUE,
    ),
    "zone, another claim": Case(
        ZONES,
        waits(PVC),
        None,
        claim("b"),
        [
            f'v5 volume_zone.go:339] "PVC is not referred from the pod" {WAITS} PVC="default/b"',
            f'v5 volume_zone.go:323] "{UNREFERRED}" {WAITS} PVC="default/b"',
        ],
    ),
    "zone, claim elsewhere": Case(
        ZONES, waits(PVC), None, claim(namespace="b"), [f'v5 volume_zone.go:323] "{UNREFERRED}" {WAITS} PVC="b/data"']
    ),
    "zone, class that binds at once": Case(
        ZONES,
        waits(PVC),
        None,
        storage_class("Immediate"),
        [
            'v5 volume_zone.go:352] "StorageClass is created, but its VolumeBindingMode is not waitForFirstConsumer,'
            f' which doesn\'t make the pod schedulable" storageClass="fast" {WAITS}'
        ],
    ),
    "zone, class that waits": Case(
        ZONES,
        waits(PVC),
        None,
        storage_class("WaitForFirstConsumer"),
        [
            'v5 volume_zone.go:356] "StorageClass with waitForFirstConsumer mode was created and it might make this pod'
            f' schedulable" {WAITS} StorageClass="fast"'
        ],
        QUEUE,
    ),
    "zone, new volume": Case(
        ZONES,
        waits(PVC),
        None,
        volume("a"),
        ['v5 volume_zone.go:369] "PV is newly created, which might make the pod schedulable"'],
        QUEUE,
    ),
    "zone, volume moved": Case(
        ZONES,
        waits(PVC),
        volume("a"),
        volume("a__b"),
        [f'v5 volume_zone.go:375] "PV\'s topology was updated, which might make the pod schedulable." {WAITS} PV="pv"'],
        QUEUE,
    ),
    "zone, volume as it was": Case(
        ZONES,
        waits(PVC),
        volume("a__b"),
        volume("b__a"),
        [
            "v5 volume_zone.go:379] \"PV was updated, but the topology is unchanged, which it doesn't make the pod"
            f' schedulable" {WAITS} PV="pv"'
        ],
    ),
    "zone, label that cannot be read": Case(
        ZONES,
        waits(PVC),
        volume(""),
        volume("a__"),
        [
            'v5 volume_zone.go:393] "failed to parse PV\'s topology label, ignoring the label"'
            ' label="topology.kubernetes.io/zone:a__"'
            ' err="\\"__\\" separated list (\\"a__\\") must not contain an empty string"',
            "v5 volume_zone.go:379] \"PV was updated, but the topology is unchanged, which it doesn't make the pod"
            f' schedulable" {WAITS} PV="pv"',
        ],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_lines_of_an_event(case: str) -> None:
    assert lines_of(CASES[case]) == CASES[case].lines
