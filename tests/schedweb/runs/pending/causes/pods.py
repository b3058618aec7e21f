"""Who is there: host ports, pod (anti-)affinity, topology spread, and several causes at once."""

from __future__ import annotations

from collections.abc import Iterator

from tests.schedweb.runs.pending.causes.cause import Cause
from tests.schedweb.runs.pending.causes.manifests import (
    POOLS,
    WEB,
    ZONE,
    ZONES,
    away,
    beside,
    claims,
    csi_node,
    device_claim,
    device_class,
    full,
    node,
    pod,
    pv,
    pvc,
    spread,
    storage_class,
)

OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"


def causes() -> Iterator[Cause]:
    yield from ports()
    yield from pod_affinity()
    yield from pod_anti_affinity()
    yield from topology_spread()
    yield from several()


def ports() -> Iterator[Cause]:
    yield Cause(
        "port-taken",
        [node("a"), node("b"), pod("p1", on="a", ports=(80,)), pod("p2", on="b", ports=(80,)), pod(ports=(80,))],
        "Its host port 80 is taken on every node that it may use.",
        "shop/p1 has 80 on a and shop/p2 has 80 on b.",
    )
    yield Cause(
        "ports-taken",
        [node("a"), pod("p1", on="a", ports=(80, 443)), pod(ports=(80, 443))],
        "Its host ports 80 and 443 are taken on every node that it may use.",
        "shop/p1 has 80 on a and shop/p1 has 443 on a.",
    )
    yield Cause(
        "port-taken-on-its-own",
        [*POOLS, pod("p1", on="x1", ports=(80,)), pod(ports=(80,), nodeSelector={"pool": "gpu"})],
        "Its host port 80 is taken on every node that it may use.",
        "shop/p1 has 80 on x1. 3 of 4 nodes do not match its node affinity or selector. Pods that "
        "leave can make room on 1, not on the other 3.",
    )


def pod_affinity() -> Iterator[Cause]:
    yield Cause(
        "beside-nobody",
        [node("a"), pod("db", on="a", labels={"app": "db"}), pod(affinity=beside(app="nobody"))],
        "No pod has app=nobody; its pod affinity asks for one on the same node.",
        "No pod that leaves would change that.",
    )
    yield Cause(
        "beside-typo",
        [node("a"), pod("db", on="a", labels={"app": "database"}), pod(affinity=beside(app="databse"))],
        "No pod has app=databse; its pod affinity asks for one on the same node.",
        "Did you mean app=database? No pod that leaves would change that.",
    )
    yield Cause(
        "beside-other-namespace",
        [node("a"), pod("db", on="a", labels={"app": "db"}, namespace="data"), pod(affinity=beside(app="db"))],
        "No pod in namespace shop has app=db; its pod affinity asks for one on the same node.",
        "Pods with it are in data. No pod that leaves would change that.",
    )
    yield Cause(
        "beside-a-pending-pod",
        [node("a"), pod("db", "9", labels={"app": "db"}), pod(affinity=beside(app="db"))],
        "No placed pod has app=db; its pod affinity asks for one on the same node.",
        "shop/db has it and is not placed either. No pod that leaves would change that.",
    )
    yield Cause(
        "beside-full",
        [*ZONES, pod("db", "3800m", on="n-a", labels={"app": "db"}), pod(affinity=beside(app="db"))],
        "No node that it may use has 0.5 free cpu; the nearest, n-a, has 0.2.",
        "2 of 3 nodes do not satisfy its pod affinity. Pods that leave can make room on 1, not on the other 2.",
    )
    yield Cause(
        "beside-zone-full",
        [
            *ZONES,
            node("n-a2", labels={ZONE: "a"}),
            full("n-a2"),
            full("n-b"),
            pod("db", "3900m", on="n-a", labels={"app": "db"}),
            pod(affinity=beside(ZONE, app="db")),
        ],
        "None of the 2 nodes that it may use has 0.5 free cpu; the nearest, n-a2, has 0.2.",
        "2 of 4 nodes do not satisfy its pod affinity. Pods that leave can make room on 2, not on the other 2.",
    )
    yield Cause(
        "beside-wrong-pool",
        [
            *POOLS,
            pod("db", on="g1", labels={"app": "db"}),
            pod(affinity=beside(app="db"), nodeSelector={"pool": "gpu"}),
        ],
        "Its pod affinity asks for a place on the same node as shop/db on g1, and no node that it may use is there.",
        "3 of 4 nodes do not match its node affinity or selector. No pod that leaves would change that.",
    )
    yield Cause(
        "beside-cordoned",
        [node("a", cordoned=True), node("b"), pod("db", on="a", labels={"app": "db"}), pod(affinity=beside(app="db"))],
        "The only node that its pod affinity allows, a, is cordoned.",
        "1 of 2 nodes does not satisfy its pod affinity. No pod that leaves would change that.",
    )
    yield Cause(
        "beside-no-such-key",
        [node("a"), pod("db", on="a", labels={"app": "db"}), pod(affinity=beside("rack", app="db"))],
        "No node has the label rack, which its pod affinity names.",
        "No pod that leaves would change that.",
    )
    yield Cause(
        "beside-old-key",
        [*ZONES, pod("db", on="n-a", labels={"app": "db"}), pod(affinity=beside(OLD_ZONE, app="db"))],
        f"No node has the label {OLD_ZONE}, which its pod affinity names.",
        f"Did you mean {ZONE}? No pod that leaves would change that.",
    )
    yield Cause(
        "beside-itself-tainted",
        [
            *POOLS[:3],
            node("x1", labels={"pool": "gpu"}, taints=("gpu:NoSchedule",)),
            pod(labels=WEB, nodeSelector={"pool": "gpu"}, affinity=beside("rack", app="web")),
        ],
        "The only node with pool=gpu, x1, has the taint gpu:NoSchedule, which it does not tolerate.",
        "No node has the label rack, which its pod affinity names. 3 of 4 nodes do not match its node affinity or "
        "selector. No pod that leaves would change that.",
    )
    yield Cause(
        "beside-nobody-and-no-label",
        [*POOLS, pod(affinity=beside(app="nobody"), nodeSelector={"pool": "arm"})],
        "No node has pool=arm.",
        "For pool nodes have general, gpu and spot. No pod has app=nobody; its pod affinity asks "
        "for one on the same node. No pod that leaves would change that.",
    )


def pod_anti_affinity() -> Iterator[Cause]:
    yield Cause(
        "away-from-its-own",
        [*ZONES, *(pod(f"web-{z}", on=f"n-{z}", labels=WEB) for z in "abc"), pod(labels=WEB, affinity=away(app="web"))],
        "Its pod anti-affinity allows one pod with app=web per node, and every node that it may use has one.",
        "shop/web-a is on n-a, shop/web-b is on n-b and shop/web-c is on n-c.",
    )
    yield Cause(
        "away-from-its-own-by-zone",
        [
            *ZONES,
            node("n-a2", labels={ZONE: "a"}),
            *(pod(f"web-{z}", on=f"n-{z}", labels=WEB) for z in "abc"),
            pod(labels=WEB, affinity=away(ZONE, app="web")),
        ],
        "Its pod anti-affinity allows one pod with app=web per zone, and every zone that it may use has one.",
        "shop/web-a is in a, shop/web-b is in b and shop/web-c is in c.",
    )
    yield Cause(
        "away-from-many",
        [
            *(node(f"n{i}") for i in range(5)),
            *(pod(f"web-{i}", on=f"n{i}", labels=WEB) for i in range(5)),
            pod(labels=WEB, affinity=away(app="web")),
        ],
        "Its pod anti-affinity allows one pod with app=web per node, and every node that it may use has one.",
        "shop/web-0 is on n0, shop/web-1 is on n1, shop/web-2 is on n2 and 2 more.",
    )
    yield Cause(
        "away-from-others",
        [
            node("a"),
            node("b"),
            pod("db-0", on="a", labels={"app": "db"}),
            pod("db-1", on="b", labels={"app": "db"}),
            pod(labels=WEB, affinity=away(app="db")),
        ],
        "Its pod anti-affinity keeps it away from pods with app=db, and every node that it may use has one.",
        "shop/db-0 is on a and shop/db-1 is on b.",
    )
    yield Cause(
        "kept-away",
        [
            node("a"),
            node("b"),
            *(pod(f"db-{n}", on=n, labels={"app": "db"}, affinity=away(app="web")) for n in "ab"),
            pod(labels=WEB),
        ],
        "The pod anti-affinity of shop/db-a and shop/db-b keeps it off every node that it may use.",
        "shop/db-a on a wants no pod with app=web on the same node.",
    )
    yield Cause(
        "kept-away-by-zone",
        [
            ZONES[0],
            node("n-a2", labels={ZONE: "a"}),
            pod("db-0", on="n-a", labels={"app": "db"}, affinity=away(ZONE, app="web")),
            pod(labels=WEB),
        ],
        "The pod anti-affinity of shop/db-0 keeps it off every node that it may use.",
        "shop/db-0 on n-a wants no pod with app=web in the same zone.",
    )
    yield Cause(
        "away-and-kept-away",
        [
            node("a"),
            node("b"),
            pod("db-0", on="a", affinity=away(app="web")),
            pod("web-0", on="b", labels=WEB),
            pod(labels=WEB, affinity=away(app="web")),
        ],
        "Pod anti-affinity keeps it off every node that it may use.",
        "It keeps away from shop/web-0 on b. shop/db-0 on a keeps it away by its own anti-affinity.",
    )


def topology_spread() -> Iterator[Cause]:
    yield Cause(
        "spread-cordoned-zone",
        [
            *ZONES[:2],
            node("n-c", labels={ZONE: "c"}, cordoned=True),
            pod("w1", on="n-a", labels=WEB),
            pod("w2", on="n-b", labels=WEB),
            pod(labels=WEB, topologySpreadConstraints=spread()),
        ],
        "Its topology spread over topology.kubernetes.io/zone (maxSkew 1) leaves it only c, and "
        "there is no node there that it may use.",
        "Such pods: a has 1, b has 1 and c has 0. Nodes that are cordoned or tainted count as "
        "well, unless nodeTaintsPolicy is Honor. 1 of 3 nodes is cordoned. Pods that leave can "
        "make room on 2, not on the other one.",
    )
    yield Cause(
        "spread-full-zone",
        [*ZONES[:2], pod("w1", on="n-a", labels=WEB), full("n-b"), pod(labels=WEB, topologySpreadConstraints=spread())],
        "None of the 2 nodes that it may use takes it: 1 has no room, 1 would break its spreading.",
        "By its topology spread over topology.kubernetes.io/zone it may go only to b. Of those without "
        "room n-b is nearest, short of 0.3 cpu.",
    )
    yield Cause(
        "spread-no-label",
        [node("a"), node("b"), pod(labels=WEB, topologySpreadConstraints=spread("rack"))],
        "No node that it may use has the label rack, over which it is to be spread.",
        "No pod that leaves would change that.",
    )
    yield Cause(
        "spread-no-label-on-some",
        [
            node("n-a", labels={ZONE: "a"}),
            node("n-b", labels={ZONE: "b"}, cordoned=True),
            node("x"),
            node("y"),
            pod("w1", on="n-a", labels=WEB),
            pod(labels=WEB, topologySpreadConstraints=spread()),
        ],
        "None of the 3 nodes that it may use takes it: 2 lack the label topology.kubernetes.io/zone that it is "
        "spread by, 1 would break its spreading.",
        "By its topology spread over topology.kubernetes.io/zone it may go only to b. 1 of 4 nodes is cordoned.",
    )
    yield Cause(
        "spread-min-domains",
        [
            *ZONES[:2],
            pod("w1", on="n-a", labels=WEB),
            pod("w2", on="n-b", labels=WEB),
            pod(labels=WEB, topologySpreadConstraints=spread(minDomains=3)),
        ],
        "Its topology spread over topology.kubernetes.io/zone asks for at least 3 domains before "
        "any of them takes more.",
        "Such pods: a has 1 and b has 1.",
    )
    yield Cause(
        "spread-tainted-zone-honored",
        [
            *ZONES[:1],
            node("n-b", labels={ZONE: "b"}, taints=("x:NoSchedule",)),
            full("n-a"),
            pod(labels=WEB, topologySpreadConstraints=spread(nodeTaintsPolicy="Honor")),
        ],
        "No node that it may use has 0.5 free cpu; the nearest, n-a, has 0.2.",
        "1 node with room is closed to it: n-b has the taint x:NoSchedule. Pods that leave can "
        "make room on 1, not on the other one.",
    )


def several() -> Iterator[Cause]:
    yield Cause(
        "label+tainted+full",
        [
            *POOLS,
            node("g3", labels={"pool": "general"}, taints=("x:NoSchedule",)),
            full("g1"),
            full("g2"),
            pod(nodeSelector={"pool": "general"}),
        ],
        "None of the 2 nodes that it may use has 0.5 free cpu; the nearest, g1, has 0.2.",
        "2 of 5 nodes do not match its node affinity or selector, 1 has a taint that it does not "
        "tolerate. 1 node with room is closed to it: g3 has the taint x:NoSchedule. Pods that "
        "leave can make room on 2, not on the other 3.",
    )
    yield Cause(
        "port+room",
        [node("a"), node("b"), pod("p1", on="a", ports=(80,)), full("b"), pod(ports=(80,))],
        "None of the 2 nodes that it may use takes it: 1 has its host port taken, 1 has no room.",
        "shop/p1 has 80 on a. Of those without room b is nearest, short of 0.3 cpu.",
    )
    yield Cause(
        "away+room",
        [node("a"), node("b"), pod("web-0", on="a", labels=WEB), full("b"), pod(labels=WEB, affinity=away(app="web"))],
        "None of the 2 nodes that it may use takes it: 1 is ruled out by pod anti-affinity, 1 has no room.",
        "It keeps away from shop/web-0 on a. Of those without room b is nearest, short of 0.3 cpu.",
    )
    yield Cause(
        "kept-away+room",
        [node("a"), node("b"), pod("db-0", on="a", affinity=away(app="web")), full("b"), pod(labels=WEB)],
        "None of the 2 nodes that it may use takes it: 1 is ruled out by pod anti-affinity, 1 has no room.",
        "shop/db-0 on a keeps it away by its own anti-affinity. Of those without room b is nearest, short of 0.3 cpu.",
    )
    yield Cause(
        "port+away",
        [
            node("a"),
            node("b"),
            pod("web-0", on="a", labels=WEB),
            pod("p1", on="b", ports=(80,)),
            pod(labels=WEB, affinity=away(app="web"), ports=(80,)),
        ],
        "None of the 2 nodes that it may use takes it: 1 is ruled out by pod anti-affinity, 1 has its host port taken.",
        "shop/p1 has 80 on b. It keeps away from shop/web-0 on a.",
    )
    yield Cause(
        "spread+room",
        [
            *ZONES,
            pod("w1", on="n-a", labels=WEB),
            pod("w2", on="n-b", labels=WEB),
            full("n-c"),
            pod(labels=WEB, topologySpreadConstraints=spread()),
        ],
        "None of the 3 nodes that it may use takes it: 2 would break its spreading, 1 has no room.",
        "By its topology spread over topology.kubernetes.io/zone it may go only to c. Of those without "
        "room n-c is nearest, short of 0.3 cpu.",
    )
    yield Cause(
        "beside+taint",
        [
            node("a", taints=("x:NoSchedule",)),
            node("b"),
            pod("db", on="a", labels={"app": "db"}),
            pod(affinity=beside(app="db")),
        ],
        "The only node that its pod affinity allows, a, has the taint x:NoSchedule, which it does not tolerate.",
        "1 of 2 nodes does not satisfy its pod affinity. No pod that leaves would change that.",
    )
    yield Cause(
        "volume-zone+taint",
        [
            node("n-a", labels={ZONE: "a"}, taints=("x:NoSchedule",)),
            *ZONES[1:],
            storage_class("fast"),
            pvc("data", "fast", "v1"),
            pv("v1", "data", zone="a"),
            pod(volumes=claims("data")),
        ],
        "The only node that can reach its volumes, n-a, has the taint x:NoSchedule, which it does not tolerate.",
        "2 of 3 nodes cannot reach its volumes. No pod that leaves would change that.",
    )
    yield Cause(
        "volume-zone+label",
        [
            node("g", labels={ZONE: "b", "pool": "general"}),
            node("z", labels={ZONE: "a", "pool": "spot"}),
            storage_class("fast"),
            pvc("data", "fast", "v1"),
            pv("v1", "data", zone="a"),
            pod(volumes=claims("data"), nodeSelector={"pool": "general"}),
        ],
        "Volume v1 of claim shop/data can be used only in a, and no node there fits.",
        "1 of 2 nodes does not match its node affinity or selector. No pod that leaves would change that.",
    )
    yield Cause(
        "cordon+taint",
        [node("a", cordoned=True), node("b", taints=("x:NoSchedule",)), pod()],
        "Both nodes are closed to it: 1 is cordoned, 1 has a taint that it does not tolerate (x:NoSchedule).",
        "No pod that leaves would change that.",
    )
    yield Cause(
        "cordon+room",
        [node("a", cordoned=True), full("a"), node("b"), full("b"), pod()],
        "No node has 0.5 free cpu; the nearest, b, has 0.2.",
        "1 of 2 nodes is cordoned. Pods that leave can make room on 1, not on the other one.",
    )
    yield Cause(
        "everywhere-too-large+label",
        [*POOLS, pod(cpu="9", nodeSelector={"pool": "gpu"})],
        "No node is that large: it asks for 9 cpu, the largest, x1, has 4 cpu.",
        "3 of 4 nodes do not match its node affinity or selector. No pod that leaves would change that.",
    )
    yield Cause(
        "volume+room",
        [
            node("a"),
            full("a"),
            node("b"),
            storage_class("local", provisioner="kubernetes.io/no-provisioner"),
            pvc("data", "local"),
            pod(volumes=claims("data")),
        ],
        "None of the 2 nodes that it may use takes it: 1 has no room, 1 cannot have its volumes.",
        "Of those without room a is nearest, short of 0.3 cpu.",
    )
    yield Cause(
        "devices+room",
        [
            node("a"),
            full("a"),
            node("b"),
            device_class("gpu.example.com"),
            device_claim("gpu", "gpu.example.com"),
            pod(device="d", resourceClaims=[{"name": "d", "resourceClaimName": "gpu"}]),
        ],
        "None of the 2 nodes that it may use takes it: 1 lacks the devices, 1 has no room.",
        "Of those without room a is nearest, short of 0.3 cpu.",
    )
    yield Cause(
        "volume-limit+room",
        [
            node("a"),
            csi_node("a", 1),
            storage_class("fast"),
            pvc("data", "fast", "v1"),
            pv("v1", "data"),
            pvc("other", "fast", "v2"),
            pv("v2", "other"),
            pod("user", on="a", volumes=claims("other")),
            node("b"),
            full("b"),
            pod(volumes=claims("data")),
        ],
        "None of the 2 nodes that it may use takes it: 1 has no room, 1 has no room for another volume.",
        "Of those without room b is nearest, short of 0.3 cpu.",
    )
