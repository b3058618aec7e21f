"""Which changes of a pod are updates to an API server, and which take a new pod."""

from __future__ import annotations

from typing import Any

import pytest

from framework.objects import Pod
from framework.objects.decode import decode_manifest
from framework.objects.pod_updates import is_update, quality_of_service


def pod(spec: dict[str, Any] | None = None, **resources: Any) -> Pod:
    container = {
        "name": "main",
        "image": "app:1",
        "resources": resources or {"requests": {"cpu": "2", "memory": "1Gi"}},
    }
    manifest = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "shop"},
        "spec": {"containers": [container], **(spec or {})},
    }
    decoded = decode_manifest(manifest)
    assert isinstance(decoded, Pod)
    return decoded


GATES = [{"name": "quota"}, {"name": "review"}]
TOLERATES = {"key": "spot", "operator": "Exists"}
HOST = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "1Gi"}}
AFFINITY = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "kubernetes.io/hostname"}],
    }
}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (pod(), pod(), True),
        (pod(), pod({"tolerations": [TOLERATES]}), True),
        (pod({"tolerations": [TOLERATES]}), pod(), False),
        (pod({"schedulingGates": GATES}), pod({"schedulingGates": GATES[1:]}), True),
        (pod({"schedulingGates": GATES[1:]}), pod({"schedulingGates": GATES}), False),
        (pod(), pod(requests={"cpu": "1", "memory": "1Gi"}), True),
        (pod(), pod(requests={"cpu": "3", "memory": "2Gi"}), True),
        (pod(), pod(requests={"cpu": "2"}), False),
        (pod(**HOST), pod(limits=HOST["limits"], requests={"cpu": "500m", "memory": "1Gi"}), False),
        (pod(requests={"example.com/gpu": "2"}), pod(requests={"example.com/gpu": "1"}), False),
        (pod(), pod({"priority": 7}), False),
        (pod(), pod({"nodeSelector": {"pool": "a"}}), False),
        (pod({"nodeSelector": {"pool": "a"}}), pod(), False),
        (pod({"affinity": AFFINITY}), pod(), False),
        (pod({"preemptionPolicy": "Never"}), pod(), False),
        (pod(), pod({"schedulerName": "other"}), False),
    ],
    ids=[
        "nothing", "toleration added", "toleration gone", "gate gone", "gate added", "less", "more", "a request gone",
        "another class of service", "extended resource", "priority", "selector added", "selector gone", "affinity",
        "preemption policy", "scheduler",
    ],
)  # fmt: skip
def test_what_an_api_server_takes(old: Pod, new: Pod, expected: bool) -> None:
    assert is_update(old, new) is expected


def test_init_containers_are_resized_only_as_sidecars() -> None:
    def with_init(cpu: str, **more: str) -> Pod:
        init = {"name": "first", "resources": {"requests": {"cpu": cpu}}, **more}
        return pod({"initContainers": [init]})

    assert not is_update(with_init("2"), with_init("1"))
    assert is_update(with_init("2", restartPolicy="Always"), with_init("1", restartPolicy="Always"))


def test_classes_of_service() -> None:
    assert quality_of_service(pod()) == "Burstable"
    assert quality_of_service(pod(requests={"cpu": "0"})) == "BestEffort"
    assert quality_of_service(pod(**HOST)) == "Guaranteed"
    assert quality_of_service(pod(limits=HOST["limits"])) == "Guaranteed", "requests default to the limits"
