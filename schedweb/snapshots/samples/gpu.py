"""GPU cluster: H100 and L4 pools where training gangs compete with serving; every large pod asks a person first."""

from __future__ import annotations

from framework.sentences import noted
from schedweb.snapshots.samples.manifests import (
    START,
    Arrival,
    Manifest,
    SampleCluster,
    Workload,
    namespace,
    node,
    pod_group,
    priority_class,
    taint,
    toleration,
)

ZONES = ("us-east-1a", "us-east-1b", "us-east-1c")
GPU = "nvidia.com/gpu"
PRODUCT = "nvidia.com/gpu.product"
H100_IMAGE = "registry.example.com/ml/trainer:24.09"


def _affinity(product: str) -> Manifest:
    term = {"matchExpressions": [{"key": PRODUCT, "operator": "In", "values": [product]}]}
    return {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}},
    }


def _gpu_workload(name: str, gpus: int, cpu: str, memory: str, product: str, priority: str, gang: str = "") -> Workload:
    return Workload(
        name,
        "ml",
        {"cpu": cpu, "memory": memory, GPU: str(gpus)},
        H100_IMAGE,
        priority_class=priority,
        labels={"scheduling.x-k8s.io/pod-group": gang} if gang else {},
        spec={"tolerations": [toleration(GPU)], "affinity": _affinity(product)},
    )


SERVE = _gpu_workload("serve", 1, "6", "24Gi", "NVIDIA-L4", "serving")
SERVE_LARGE = _gpu_workload("serve-large", 2, "12", "96Gi", "NVIDIA-H100-80GB", "serving")
NOTEBOOK = _gpu_workload("notebook", 1, "4", "16Gi", "NVIDIA-L4", "interactive")
TRAIN_A = _gpu_workload("train-llm", 8, "40", "400Gi", "NVIDIA-H100-80GB", "training", gang="train-llm")
TRAIN_B = _gpu_workload("train-vision", 4, "20", "180Gi", "NVIDIA-H100-80GB", "training", gang="train-vision")
PREPARE = Workload("prepare", "ml", {"cpu": "2", "memory": "4Gi"}, "registry.example.com/ml/prepare:11")
API = Workload("gateway", "platform", {"cpu": "500m", "memory": "1Gi"}, "registry.example.com/platform/gateway:7")
AGENT = Workload(
    "dcgm-exporter",
    "platform",
    {"cpu": "100m", "memory": "128Mi"},
    "registry.example.com/dcgm:4.1",
    spec={"tolerations": [toleration(GPU)]},
)


def gpu_cluster() -> SampleCluster:
    h100 = [_gpu_node("h100", i, "p5.48xlarge", "192", "2048Gi", 8, "NVIDIA-H100-80GB") for i in range(8)]
    l4 = [_gpu_node("l4", i, "g6.12xlarge", "48", "192Gi", 4, "NVIDIA-L4") for i in range(8)]
    cpu = [
        node(
            f"cpu-{i:02}",
            zone=ZONES[i % 3],
            pool="cpu",
            instance_type="m7i.4xlarge",
            capacity={"cpu": "16", "memory": "64Gi"},
        )
        for i in range(8)
    ]
    names = {kind: [n["metadata"]["name"] for n in nodes] for kind, nodes in (("h", h100), ("l", l4), ("c", cpu))}
    objects: list[Manifest] = [
        *(namespace(name) for name in ("ml", "platform")),
        priority_class("serving", 100_000),
        priority_class("interactive", 10_000, default=True),
        priority_class("training", 1_000),
        pod_group("train-llm", "ml", min_member=4, timeout_seconds=120),
        pod_group("train-vision", "ml", min_member=3, timeout_seconds=120),
        *h100,
        *l4,
        *cpu,
        *SERVE.controller(28),
        *SERVE_LARGE.controller(10),
        *NOTEBOOK.controller(12),
        *TRAIN_A.controller(4),
        *TRAIN_B.controller(3),
        *PREPARE.controller(50),
        *API.controller(60),
        *AGENT.controller(16),
        *(AGENT.pod(i, on=name) for i, name in enumerate([*names["h"], *names["l"]])),
        *(SERVE.pod(i, on=names["l"][i % 7]) for i in range(20)),
        *(SERVE_LARGE.pod(i, on=names["h"][i % 4]) for i in range(8)),
        *(NOTEBOOK.pod(i, on=names["l"][7] if i < 2 else names["l"][i % 4]) for i in range(6)),
        *(PREPARE.pod(i, on=names["c"][i % 8]) for i in range(48)),
        *(API.pod(i, on=names["c"][i % 8]) for i in range(56)),
        *(PREPARE.pod(48 + i, created=START) for i in range(2)),
        *(API.pod(56 + i, created=START) for i in range(4)),
        *(SERVE.pod(20 + i, created=START) for i in range(8)),
        *(SERVE_LARGE.pod(8 + i, created=START) for i in range(2)),
        *(NOTEBOOK.pod(6 + i, created=START) for i in range(6)),
        *(TRAIN_A.pod(i, created=START) for i in range(4)),
    ]
    arrivals = [
        *(Arrival(5 + i, TRAIN_B.pod(i, created=START)) for i in range(3)),
        *(Arrival(30 + i, NOTEBOOK.pod(12 + i, created=START)) for i in range(4)),
        *(Arrival(60 + i, SERVE_LARGE.pod(i), delete=True) for i in range(4)),
    ]
    return SampleCluster(
        name="GPU cluster",
        description=noted("H100 and L4 pools, training gangs against serving."),
        configuration="default-approvals",
        objects=objects,
        arrivals=arrivals,
    )


def _gpu_node(pool: str, number: int, kind: str, cpu: str, memory: str, gpus: int, product: str) -> Manifest:
    manifest = node(
        f"{pool}-{number:02}",
        zone=ZONES[number % 3],
        pool=pool,
        instance_type=kind,
        capacity={"cpu": cpu, "memory": memory, GPU: str(gpus)},
        taints=[taint(GPU)],
        images={H100_IMAGE: 8_900_000_000} if pool == "h100" and number % 2 == 0 else None,
    )
    manifest["metadata"]["labels"][PRODUCT] = product
    return manifest
