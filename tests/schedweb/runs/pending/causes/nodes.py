"""What nodes are and have: cordons, taints, room."""

from __future__ import annotations

from collections.abc import Iterator

from tests.schedweb.runs.pending.causes.cause import Cause
from tests.schedweb.runs.pending.causes.manifests import (
    GPU,
    POOLS,
    full,
    named,
    node,
    pod,
    tolerates,
    wants,
    where,
)


def causes() -> Iterator[Cause]:
    yield from taints_and_cordons()
    yield from room()


def taints_and_cordons() -> Iterator[Cause]:
    yield Cause(
        "tainted-all",
        [node("a", taints=("dedicated=data:NoSchedule",)), node("b", taints=("dedicated=data:NoSchedule",)), pod()],
        "Both nodes have the taint dedicated=data:NoSchedule, which it does not tolerate.",
        "No pod that leaves would change that.",
    )
    yield Cause(
        "tainted-one",
        [node("a", taints=("dedicated=data:NoSchedule",)), pod()],
        "The only node, a, has the taint dedicated=data:NoSchedule, which it does not tolerate.",
        "No pod that leaves would change that.",
    )
    yield Cause(
        "tainted-differently",
        [
            node("a", taints=("dedicated=data:NoSchedule",)),
            node("b", taints=("dedicated=ml:NoSchedule",)),
            node("c", taints=("dedicated=ml:NoSchedule", "spot:NoExecute")),
            pod(),
        ],
        "All 3 nodes have taints that it does not tolerate: dedicated=ml:NoSchedule (2), "
        "dedicated=data:NoSchedule (1) and spot:NoExecute (1).",
        "No pod that leaves would change that.",
    )
    yield Cause(
        "tainted-one-twice",
        [node("a", taints=("dedicated=data:NoSchedule", "spot:NoExecute")), pod()],
        "The only node, a, has taints that it does not tolerate: dedicated=data:NoSchedule and spot:NoExecute.",
        "No pod that leaves would change that.",
    )
    yield Cause(
        "tolerates-another-value",
        [node("a", taints=("dedicated=data:NoSchedule",)), pod(tolerations=tolerates("dedicated", "ml"))],
        "The only node, a, has the taint dedicated=data:NoSchedule, which it does not tolerate.",
        "It tolerates dedicated=ml; nodes have dedicated=data:NoSchedule. No pod that leaves would change that.",
    )
    yield Cause(
        "tolerates-another-effect",
        [
            node("a", taints=("dedicated=data:NoExecute",)),
            pod(tolerations=tolerates("dedicated", "data", "NoSchedule")),
        ],
        "The only node, a, has the taint dedicated=data:NoExecute, which it does not tolerate.",
        "It tolerates dedicated=data with effect NoSchedule only; the taint has NoExecute. No pod that leaves would change that.",
    )
    yield Cause(
        "not-ready",
        [node("a", taints=("node.kubernetes.io/not-ready:NoSchedule",)), pod()],
        "The only node, a, has the taint node.kubernetes.io/not-ready:NoSchedule, which it does not tolerate.",
        "No pod that leaves would change that.",
    )
    yield Cause(
        "cordoned-all",
        [
            node("a", cordoned=True),
            node("b", cordoned=True),
            node("c", cordoned=True, taints=("node.kubernetes.io/unschedulable:NoSchedule",)),
            pod(),
        ],
        "All 3 nodes are cordoned.",
        "No pod that leaves would change that.",
    )
    yield Cause(
        "cordoned-one",
        [node("a", cordoned=True), pod()],
        "The only node, a, is cordoned.",
        "No pod that leaves would change that.",
    )
    yield Cause(
        "matching-tainted",
        [
            *POOLS[:3],
            node("x1", labels={"pool": "gpu"}, taints=("gpu:NoSchedule",)),
            node("x2", labels={"pool": "gpu"}, taints=("gpu:NoSchedule",)),
            pod(nodeSelector={"pool": "gpu"}),
        ],
        "Both nodes with pool=gpu have the taint gpu:NoSchedule, which it does not tolerate.",
        "3 of 5 nodes do not match its node affinity or selector. No pod that leaves would change that.",
    )
    yield Cause(
        "matching-cordoned",
        [*POOLS[:3], node("x1", labels={"pool": "gpu"}, cordoned=True), pod(nodeSelector={"pool": "gpu"})],
        "The only node with pool=gpu, x1, is cordoned.",
        "3 of 4 nodes do not match its node affinity or selector. No pod that leaves would change that.",
    )
    yield Cause(
        "matching-tainted-and-cordoned",
        [
            *POOLS[:3],
            node("x1", labels={"pool": "gpu"}, cordoned=True),
            node("x2", labels={"pool": "gpu"}, taints=("gpu:NoSchedule",)),
            pod(nodeSelector={"pool": "gpu"}),
        ],
        "Both nodes with pool=gpu are closed to it: 1 is cordoned, 1 has a taint that it does not "
        "tolerate (gpu:NoSchedule).",
        "3 of 5 nodes do not match its node affinity or selector. No pod that leaves would change that.",
    )
    yield Cause(
        "matching-expression-tainted",
        [
            *POOLS[:3],
            *(node(f"x{i}", labels={"pool": "gpu"}, taints=("gpu:NoSchedule",)) for i in range(3)),
            pod(affinity=wants(where("pool", "In", "gpu", "tpu"))),
        ],
        "All 3 nodes that match pool in (gpu,tpu) have the taint gpu:NoSchedule, which it does not tolerate.",
        "3 of 6 nodes do not match its node affinity or selector. No pod that leaves would change that.",
    )
    yield Cause(
        "tainted-do-not-match",
        [
            *(node(f"x{i}", labels={"pool": "gpu"}, taints=("gpu:NoSchedule",)) for i in range(2)),
            node("c", cordoned=True),
            pod(nodeSelector={"pool": "tpu"}),
        ],
        "No node has pool=tpu.",
        "For pool nodes have gpu. No pod that leaves would change that.",
    )
    yield Cause(
        "tainted-alone-has-gpus",
        [node("a"), node("b"), node("x", taints=("gpu:NoSchedule",), amounts={GPU: "4"}), pod(requests={GPU: "1"})],
        "Only 1 node is large enough, and it is closed to this pod: x has the taint gpu:NoSchedule.",
        "None of the 2 nodes that it may use has GPUs; it asks for 1 GPU. No pod that leaves would change that.",
    )
    yield Cause(
        "cordoned-has-room",
        [node("a"), full("a"), node("b", cordoned=True), pod()],
        "No node that it may use has 0.5 free cpu; the nearest, a, has 0.2.",
        "1 node with room is closed to it: b is cordoned. Pods that leave can make room on 1, not on the other one.",
    )


def room() -> Iterator[Cause]:
    yield Cause(
        "cpu-of-all",
        [node("a"), full("a"), node("b"), full("b", "3700m"), pod(cpu="1")],
        "No node has 1 free cpu; the nearest, b, has 0.3.",
    )
    yield Cause("cpu-of-one", [node("a"), full("a"), pod()], "No node has 0.5 free cpu; the nearest, a, has 0.2.")
    yield Cause(
        "memory",
        [node("a"), pod("m", on="a", requests={"memory": "15Gi"}), pod(requests={"memory": "2Gi"})],
        "No node has 2 Gi free memory; the nearest, a, has 1 Gi.",
    )
    yield Cause(
        "ephemeral-storage",
        [
            node("a", amounts={"ephemeral-storage": "10Gi"}),
            pod("m", on="a", requests={"ephemeral-storage": "9Gi"}),
            pod(requests={"ephemeral-storage": "2Gi"}),
        ],
        "No node has 2 Gi free ephemeral-storage; the nearest, a, has 1 Gi.",
    )
    yield Cause(
        "gpus-none",
        [node("a"), pod(requests={GPU: "1"})],
        "No node has GPUs; it asks for 1 GPU.",
        "No pod that leaves would change that.",
    )
    yield Cause(
        "huge-pages-nowhere",
        [node("a"), node("b"), node("c", cordoned=True), pod(requests={"hugepages-2Mi": "64Mi"})],
        "No node has hugepages-2Mi; it asks for 64 Mi.",
        "1 of 3 nodes is cordoned. No pod that leaves would change that.",
    )
    yield Cause(
        "gpus-of-another-vendor",
        [node("a"), node("x", amounts={GPU: "2"}), pod(requests={"amd.com/gpu": "1"})],
        "No node has amd.com/gpu; it asks for 1.",
        "Nodes have nvidia.com/gpu. No pod that leaves would change that.",
    )
    yield Cause(
        "nearest-is-full-in-pods",
        [
            node("a", amounts={"memory": "8Gi", "pods": "2"}),
            pod("m1", on="a", requests={"memory": "1Gi"}),
            pod("m2", on="a", requests={"memory": "1Gi"}),
            node("b", amounts={"memory": "2Gi"}),
            pod("m3", on="b", requests={"memory": "1536Mi"}),
            node("c", cordoned=True),
            pod(requests={"memory": "6Gi"}),
        ],
        "No node that it may use has room for all that it asks for; the nearest, a, lacks 1 pod.",
        "1 node with room is closed to it: c is cordoned. Pods that leave can make room on 1, not on the other 2.",
    )
    yield Cause(
        "only-named-node-is-cordoned",
        [node("a"), node("b", cordoned=True), pod(affinity=wants(named("b")))],
        "The only node that matches metadata.name=b, b, is cordoned.",
        "1 of 2 nodes does not match its node affinity or selector. No pod that leaves would change that.",
    )
    yield Cause(
        "gpus-gone",
        [node("a"), node("x", amounts={GPU: "2"}), pod("g", on="x", requests={GPU: "2"}), pod(requests={GPU: "1"})],
        "No node has free GPUs; it asks for 1 GPU.",
        "1 of 2 nodes has GPUs, 1 of those has 1. Pods that leave can make room on 1, not on the other one.",
    )
    yield Cause(
        "gpus-few",
        [node("a"), node("x", amounts={GPU: "4"}), pod("g", on="x", requests={GPU: "2"}), pod(requests={GPU: "3"})],
        "No node has 3 free GPUs; the nearest, x, has 2.",
        "1 of 2 nodes has GPUs, 1 of those has 3. Pods that leave can make room on 1, not on the other one.",
    )
    yield Cause(
        "too-large",
        [node("a"), node("b", "8"), pod(cpu="24")],
        "No node is that large: it asks for 24 cpu, the largest, b, has 8 cpu.",
        "No pod that leaves would change that.",
    )
    yield Cause(
        "too-many-pods",
        [
            node("a", amounts={"pods": "1"}),
            pod("one", on="a"),
            node("b", amounts={"pods": "1"}),
            pod("two", on="b"),
            pod(),
        ],
        "Every node that it may use has as many pods as it may have.",
    )
    yield Cause(
        "cpu-here-memory-there",
        [
            node("a"),
            full("a"),
            node("b"),
            pod("m", on="b", requests={"memory": "15Gi"}),
            pod(cpu="1", requests={"memory": "2Gi"}),
        ],
        "No node has room for all that it asks for; the nearest, b, lacks 1 Gi memory.",
    )
    yield Cause(
        "own-nodes-full",
        [*POOLS, full("g1"), full("g2"), pod(nodeSelector={"pool": "general"})],
        "None of the 2 nodes that it may use has 0.5 free cpu; the nearest, g1, has 0.2.",
        "2 of 4 nodes do not match its node affinity or selector. Pods that leave can make room on "
        "2, not on the other 2.",
    )
    yield Cause(
        "own-node-full",
        [*POOLS, full("x1"), pod(nodeSelector={"pool": "gpu"})],
        "No node that it may use has 0.5 free cpu; the nearest, x1, has 0.2.",
        "3 of 4 nodes do not match its node affinity or selector. Pods that leave can make room on "
        "1, not on the other 3.",
    )
    yield Cause(
        "own-nodes-too-small",
        [*POOLS, node("big", "32", labels={"pool": "big"}), pod(cpu="16", nodeSelector={"pool": "general"})],
        "None of the 2 nodes that it may use is that large: it asks for 16 cpu, the largest, g2, has 4 cpu.",
        "3 of 5 nodes do not match its node affinity or selector. No pod that leaves would change that.",
    )
