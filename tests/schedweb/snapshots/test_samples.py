"""The clusters that come with the program are such as kube-scheduler leaves behind."""

from __future__ import annotations

from collections import Counter

import pytest

from framework.objects import Node, Pod
from framework.objects.decode import decode_manifest
from framework.objects.resources import node_allocatable, pod_requests
from schedweb.snapshots.samples import SAMPLES, Sample


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.slug)
def test_no_node_holds_more_than_it_has(sample: Sample) -> None:
    objects = [decode_manifest(manifest) for manifest in sample.build().objects]
    room = {each.metadata.name: node_allocatable(each) for each in objects if isinstance(each, Node)}
    used: dict[str, Counter[str]] = {name: Counter() for name in room}
    for each in objects:
        if isinstance(each, Pod) and each.spec.node_name:
            used[each.spec.node_name].update({**pod_requests(each), "pods": 1})
    over = {
        (name, resource): (amount, room[name].get(resource, 0))
        for name, amounts in used.items()
        for resource, amount in amounts.items()
        if amount > room[name].get(resource, 0)
    }
    assert over == {}
