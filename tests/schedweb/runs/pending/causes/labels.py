"""Labels of nodes that a pod asks for, and those that look mistyped."""

from __future__ import annotations

from collections.abc import Iterator

from tests.schedweb.runs.pending.causes.cause import Cause
from tests.schedweb.runs.pending.causes.manifests import (
    ADDED,
    ARCH,
    POOLS,
    ZONE,
    full,
    named,
    node,
    pod,
    tolerates,
    wants,
    where,
)


def causes() -> Iterator[Cause]:
    yield from labels()
    yield from empty()
    yield from mistyped()


def labels() -> Iterator[Cause]:
    yield Cause(
        "label-typo",
        [*POOLS, pod(nodeSelector={"pool": "generl"})],
        "No node has pool=generl.",
        "Did you mean general? For pool nodes have general, gpu and spot. No pod that leaves would change that.",
    )
    yield Cause(
        "label-case",
        [*POOLS, pod(nodeSelector={"pool": "GPU"})],
        "No node has pool=GPU.",
        "Did you mean gpu? For pool nodes have general, gpu and spot. No pod that leaves would change that.",
    )
    yield Cause(
        "label-value",
        [*POOLS, pod(nodeSelector={"pool": "arm"})],
        "No node has pool=arm.",
        "For pool nodes have general, gpu and spot. No pod that leaves would change that.",
    )
    yield Cause(
        "label-key",
        [*POOLS, pod(nodeSelector={"disk": "ssd"})],
        "No node has disk=ssd.",
        "No node has a label disk. No pod that leaves would change that.",
    )
    yield Cause(
        "label-key-typo",
        [*POOLS, pod(nodeSelector={"poool": "gpu"})],
        "No node has poool=gpu.",
        "Did you mean pool=gpu? No node has a label poool. No pod that leaves would change that.",
    )
    yield Cause(
        "label-other-key",
        [*POOLS, pod(nodeSelector={"example.com/kind": "gpu"})],
        "No node has example.com/kind=gpu.",
        "Did you mean pool=gpu? No node has a label example.com/kind. No pod that leaves would change that.",
    )
    yield Cause(
        "labels-not-together",
        [
            node("a", labels={"pool": "gpu", "disk": "hdd"}),
            node("b", labels={"pool": "spot", "disk": "ssd"}),
            pod(nodeSelector={"pool": "gpu", "disk": "ssd"}),
        ],
        "No node has disk=ssd and pool=gpu.",
        "Each alone is on some node: disk=ssd on 1, pool=gpu on 1. No pod that leaves would change that.",
    )
    yield Cause(
        "affinity-in",
        [*POOLS, pod(affinity=wants(where("pool", "In", "arm", "risc")))],
        "No node matches pool in (arm,risc).",
        "For pool nodes have general, gpu and spot. No pod that leaves would change that.",
    )
    yield Cause(
        "affinity-not-in",
        [*POOLS, pod(affinity=wants(where("pool", "NotIn", "general", "gpu", "spot")))],
        "No node matches pool notin (general,gpu,spot).",
        "No pod that leaves would change that.",
    )
    yield Cause(
        "affinity-exists",
        [*POOLS, pod(affinity=wants(where("disk", "Exists")))],
        "No node has the label disk.",
        "No pod that leaves would change that.",
    )
    yield Cause(
        "affinity-does-not-exist",
        [*POOLS, pod(affinity=wants(where("pool", "DoesNotExist")))],
        "No node matches !pool.",
        "No pod that leaves would change that.",
    )
    yield Cause(
        "affinity-gt",
        [node("a", labels={"cores": "8"}), pod(affinity=wants(where("cores", "Gt", "16")))],
        "No node matches cores>16.",
        "No pod that leaves would change that.",
    )
    yield Cause(
        "affinity-terms",
        [*POOLS, pod(affinity=wants(where("pool", "In", "arm"), where("disk", "In", "ssd")))],
        "No node matches pool=arm or disk=ssd.",
        "For pool nodes have general, gpu and spot. No node has a label disk. No pod that leaves would change that.",
    )
    yield Cause(
        "affinity-and-selector",
        [*POOLS, pod(nodeSelector={"pool": "gpu"}, affinity=wants(where("disk", "In", "ssd")))],
        "No node has pool=gpu and disk=ssd.",
        "No node has a label disk. No pod that leaves would change that.",
    )
    yield Cause(
        "field-nobody",
        [*POOLS, pod(affinity=wants(named("g9")))],
        "It may run only on g9, and no node is called that.",
        "No pod that leaves would change that.",
    )
    yield Cause(
        "field-full",
        [*POOLS, full("g1"), pod(affinity=wants(named("g1")))],
        "No node that it may use has 0.5 free cpu; the nearest, g1, has 0.2.",
        "3 of 4 nodes do not match its node affinity or selector. Pods that leave can make room on "
        "1, not on the other 3.",
    )
    yield Cause(
        "profile-affinity",
        [*POOLS, pod()],
        "No node has the labels that its profile asks for.",
        "No pod that leaves would change that.",
        configuration=ADDED,
        profile_wants={"tenant": "red"},
    )


def empty() -> Iterator[Cause]:
    role = "node-role.kubernetes.io/worker"
    yield Cause(
        "label-of-nodes-empty",
        [node("a", labels={role: ""}), pod(nodeSelector={role: "true"})],
        f"No node has {role}=true.",
        f'For {role} nodes have "". No pod that leaves would change that.',
    )
    yield Cause(
        "label-empty-among-others",
        [node("a", labels={"pool": ""}), node("b", labels={"pool": "spot"}), pod(nodeSelector={"pool": "arm"})],
        "No node has pool=arm.",
        'For pool nodes have "" and spot. No pod that leaves would change that.',
    )
    yield Cause(
        "label-asked-empty",
        [*POOLS, pod(nodeSelector={"pool": ""})],
        'No node has pool="".',
        "For pool nodes have general, gpu and spot. No pod that leaves would change that.",
    )
    yield Cause(
        "label-asked-empty+taint",
        [node("a", labels={role: ""}, taints=("x:NoSchedule",)), node("b"), pod(nodeSelector={role: ""})],
        f'The only node with {role}="", a, has the taint x:NoSchedule, which it does not tolerate.',
        "1 of 2 nodes does not match its node affinity or selector. No pod that leaves would change that.",
    )
    yield Cause(
        "empty-term",
        [*POOLS, pod(affinity=wants({}))],
        "Its node affinity has only empty terms, and an empty term matches no node.",
        "No pod that leaves would change that.",
    )
    yield Cause(
        "empty-term-and-selector",
        [*POOLS, pod(nodeSelector={"pool": "gpu"}, affinity=wants({}))],
        "Its node affinity has only empty terms, and an empty term matches no node.",
        "No pod that leaves would change that.",
    )


def mistyped() -> Iterator[Cause]:
    dedicated = node("a", taints=("dedicated=gpu:NoSchedule",))
    tainted = "The only node, a, has the taint dedicated=gpu:NoSchedule, which it does not tolerate."
    yield Cause(
        "label-typo+taint",
        [
            *(node(f"g{i}", labels={"pool": "general"}, taints=("x:NoSchedule",)) for i in range(2)),
            pod(nodeSelector={"pool": "generl"}),
        ],
        "No node has pool=generl.",
        "Did you mean general? For pool nodes have general. No pod that leaves would change that.",
    )
    yield Cause(
        "label-typo+room",
        [*POOLS, full("g1"), full("g2"), pod(affinity=wants(where("pool", "In", "sopt", "general")))],
        "None of the 2 nodes that it may use has 0.5 free cpu; the nearest, g1, has 0.2.",
        "2 of 4 nodes do not match its node affinity or selector. No node has pool=sopt; did you mean spot? "
        "Pods that leave can make room on 2, not on the other 2.",
    )
    yield Cause(
        "label-typo-among-terms+cordon",
        [
            *POOLS[:3],
            node("x1", labels={"pool": "gpu"}, cordoned=True),
            pod(affinity=wants(where("pool", "In", "gpu"), where("pool", "In", "genral"))),
        ],
        "The only node that it asks for, x1, is cordoned.",
        "3 of 4 nodes do not match its node affinity or selector. No node has pool=genral; did you mean general? "
        "No pod that leaves would change that.",
    )
    yield Cause(
        "label-key-typo+taint",
        [node("x1", labels={"pool": "gpu"}, taints=("x:NoSchedule",)), pod(nodeSelector={"pol": "gpu"})],
        "No node has pol=gpu.",
        "Did you mean pool=gpu? No node has a label pol. No pod that leaves would change that.",
    )
    yield Cause(
        "label-typo-in-the-second-value",
        [*POOLS, pod(affinity=wants(where("pool", "In", "arm", "generall")))],
        "No node matches pool in (arm,generall).",
        "Did you mean general? For pool nodes have general, gpu and spot. No pod that leaves would change that.",
    )
    yield Cause(
        "label-typo-beside-another-label",
        [*POOLS, pod(nodeSelector={"pool": "spott", "disk": "ssd"})],
        "No node has disk=ssd and pool=spott.",
        "No node has a label disk. Did you mean spot? For pool nodes have general, gpu and spot. "
        "No pod that leaves would change that.",
    )
    yield Cause(
        "another-architecture",
        [node("a", labels={ARCH: "amd64"}), pod(nodeSelector={ARCH: "arm64"})],
        "No node has kubernetes.io/arch=arm64.",
        "For kubernetes.io/arch nodes have amd64. No pod that leaves would change that.",
    )
    yield Cause(
        "another-zone",
        [node("a", labels={ZONE: "eu-west-1a"}), pod(nodeSelector={ZONE: "eu-west-1b"})],
        "No node has topology.kubernetes.io/zone=eu-west-1b.",
        "For topology.kubernetes.io/zone nodes have eu-west-1a. No pod that leaves would change that.",
    )
    yield Cause(
        "a-value-that-many-labels-have",
        [node("a", labels={"ready": "true"}), pod(nodeSelector={"disk": "true"})],
        "No node has disk=true.",
        "No node has a label disk. No pod that leaves would change that.",
    )
    yield Cause(
        "toleration-value-typo",
        [dedicated, pod(tolerations=tolerates("dedicated", "gp"))],
        tainted,
        "It tolerates dedicated=gp; did you mean dedicated=gpu? No pod that leaves would change that.",
    )
    yield Cause(
        "toleration-key-typo",
        [dedicated, pod(tolerations=tolerates("dedicate", "gpu", "NoSchedule"))],
        tainted,
        "It tolerates dedicate=gpu:NoSchedule; did you mean dedicated=gpu:NoSchedule? "
        "No pod that leaves would change that.",
    )
    yield Cause(
        "toleration-typo+room",
        [dedicated, node("b"), full("b"), pod(tolerations=tolerates("dedicatd"))],
        "No node that it may use has 0.5 free cpu; the nearest, b, has 0.2.",
        "It tolerates dedicatd; did you mean dedicated? 1 node with room is closed to it: a has the taint "
        "dedicated=gpu:NoSchedule. Pods that leave can make room on 1, not on the other one.",
    )
    yield Cause(
        "tolerates-another-number",
        [node("a", taints=("team=t1:NoSchedule",)), pod(tolerations=tolerates("team", "t2"))],
        "The only node, a, has the taint team=t1:NoSchedule, which it does not tolerate.",
        "It tolerates team=t2; nodes have team=t1:NoSchedule. No pod that leaves would change that.",
    )
