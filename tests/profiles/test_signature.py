"""Which pods are equal before any plugin was asked."""

from __future__ import annotations

from typing import Any

import pytest

from framework.interface import PodInfo
from framework.interface.signature import exact_signature, signature
from framework.objects import Pod
from framework.objects.decode import decode_manifest


def pod(name: str, *volumes: dict[str, Any], **spec: Any) -> PodInfo:
    manifest = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "uid": f"uid-{name}", "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "web", "image": "web:1"}], "volumes": list(volumes), **spec},
    }
    made = decode_manifest(manifest)
    assert isinstance(made, Pod)
    return PodInfo(made)


def volume(name: str, **source: Any) -> dict[str, Any]:
    return {"name": name, **(source or {"emptyDir": {}})}


def test_replicas_differ_in_the_name_of_the_volume_with_their_token() -> None:
    config = volume("config")
    one = pod("web-1", config, volume("kube-api-access-x7k2p", projected={"sources": []}))
    other = pod("web-2", config, volume("kube-api-access-9dfq4", projected={"sources": []}))
    assert signature(one) == signature(other)
    assert exact_signature(one) != exact_signature(other)
    assert signature(one) != signature(pod("web-3", config))
    assert signature(one) != signature(pod("web-4", config, volume("kube-api-access-x7k2p"), priority=5))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (volume("data-x7k2p"), volume("data-9dfq4")),
        (volume("kube-api-access-longer"), volume("kube-api-access-others")),
        (
            volume("kube-api-access-x7k2p", persistentVolumeClaim={"claimName": "a"}),
            volume("kube-api-access-9dfq4", persistentVolumeClaim={"claimName": "a"}),
        ),
        # The name of its claim is made of the volume's.
        (
            volume("kube-api-access-x7k2p", ephemeral={"volumeClaimTemplate": {"spec": {}}}),
            volume("kube-api-access-9dfq4", ephemeral={"volumeClaimTemplate": {"spec": {}}}),
        ),
    ],
)
def test_names_of_other_volumes_tell_pods_apart(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert signature(pod("a", one)) != signature(pod("b", other))
    assert signature(pod("a", one)) == signature(pod("b", one))
