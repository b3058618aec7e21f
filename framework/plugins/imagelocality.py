"""ImageLocality: points for nodes that already hold the pod's images (docs/semantics/plugins.md#imagelocality)."""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from framework.interface import ColumnScorePlugin, CycleState, Plan, PodInfo, SignPlugin, View, signing
from framework.interface.scores import MAX_NODE_SCORE, quotient
from framework.objects import Pod
from framework.sentences import noted

MIB: Final = 1024 * 1024
MIN_THRESHOLD: Final = 23 * MIB
MAX_PER_CONTAINER: Final = 1000 * MIB
"""Nine tenths of the images on public registries lie between the two when compressed. Below, a pull costs nothing worth
scoring; above, one image would decide alone."""


class ImageLocality(ColumnScorePlugin, SignPlugin):
    name: ClassVar[str] = "ImageLocality"
    description: ClassVar[str] = noted("Prefers nodes that already have the pod's container images.")

    def score_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan:
        # Image volumes are looked up but do not raise the ceiling: upstream counts containers only.
        ceiling = MAX_PER_CONTAINER * _container_count(pod.pod)

        def kernel(sums: NDArray[np.int64]) -> NDArray[np.int64]:
            # Upstream tests the lower bound first, which matters when a pod without containers has ceiling 0.
            held = np.where(sums < MIN_THRESHOLD, MIN_THRESHOLD, np.minimum(sums, ceiling))
            return quotient(MAX_NODE_SCORE * (held - MIN_THRESHOLD), ceiling - MIN_THRESHOLD)

        return Plan(kernel, (view.image_score(_wanted_images(pod.pod)),), ceiling)

    def sign_pod(self, pod: PodInfo) -> signing.Fragments | None:
        spec = pod.pod.spec
        images = [normalized_image_name(each.image) for each in (*spec.containers, *spec.init_containers)]
        return {signing.IMAGES: frozenset(images)}

    def fragment(self, pod: PodInfo) -> Hashable:
        return _wanted_images(pod.pod), _container_count(pod.pod)


def _container_count(pod: Pod) -> int:
    return len(pod.spec.init_containers) + len(pod.spec.containers)


def _wanted_images(pod: Pod) -> tuple[str, ...]:
    """Every image of the pod, as often as it names it."""
    spec = pod.spec
    images = [container.image for container in (*spec.init_containers, *spec.containers)]
    images += [volume.image.reference for volume in spec.volumes if volume.image is not None]
    return tuple([normalized_image_name(image) for image in images])


@lru_cache(maxsize=4096)
def normalized_image_name(name: str) -> str:
    """With ``:latest`` where no tag is named."""
    return f"{name}:latest" if name.rfind(":") <= name.rfind("/") else name
