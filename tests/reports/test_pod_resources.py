"""/metrics/resources as kube-scheduler 1.36.2 answered it."""

from __future__ import annotations

from typing import Any

from framework.objects import Pod
from framework.objects.decode import decode_manifest
from framework.reports.pod_resources import go_float, resource_metrics
from tests.reports.recorded import recorded


def made(name: str, asked: Any, *, node: str = "", phase: str = "Pending", **spec: Any) -> Pod:
    manifest = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "containers": [{"name": "c", "image": "i", "resources": asked}],
            "schedulerName": "default-scheduler",
            "priority": 0,
            "nodeName": node,
            **spec,
        },
        "status": {"phase": phase},
    }
    decoded = decode_manifest(manifest)
    assert isinstance(decoded, Pod)
    return decoded


FULL = {
    "requests": {
        "cpu": "3",
        "memory": "320Mi",
        "ephemeral-storage": "1Gi",
        "example.com/gpu": "2",
        "hugepages-2Mi": "4Mi",
        "attachable-volumes-csi-x": "3",
    },
    "limits": {"cpu": "2", "memory": "640Mi", "example.com/gpu": "2", "hugepages-2Mi": "4Mi"},
}
MEMORY = {"requests": {"memory": "256Mi"}}


def requests(cpu: str) -> Any:
    return {"requests": {"cpu": cpu, "memory": "256Mi"}}


PODS = [
    made("full", FULL, node="n0", priority=10, overhead={"cpu": "50m"}),
    made("podlevel", {}, node="n0", resources={"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "2"}}),
    made("done", requests("1"), node="n0", phase="Succeeded"),
    made("done-unassigned", requests("1"), phase="Failed"),
    made("deleting", requests("1"), node="n0", phase="Running"),
    made("noprio", requests("100m"), node="n0", priority=None),
    made("other", requests("250m"), schedulerName="second"),
    made("pending", MEMORY),
]


def test_the_answer_is_the_recorded_one() -> None:
    assert list(resource_metrics(PODS)) == recorded("resources.txt")


def test_no_pod_no_family() -> None:
    assert list(resource_metrics([])) == []


def test_numbers_are_written_as_go_writes_them() -> None:
    numbers = (0.0, 2.0, 0.25, 999999.0, 1e6, 4194304.0, 12345678901.0, 1e-9)
    shown = ["0", "2", "0.25", "999999", "1e+06", "4.194304e+06", "1.2345678901e+10", "1e-09"]
    assert [go_float(number) for number in numbers] == shown
