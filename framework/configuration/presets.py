"""Configurations to start from, as the YAML a person would write. A test loads every one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from framework.configuration import preset_texts as texts
from framework.sentences import noted


@dataclass(frozen=True, slots=True)
class Preset:
    id: str
    name: str
    description: str
    text: str


PRESETS: Final = (
    Preset("default", noted("Default"), noted("kube-scheduler's own profile."), texts.DEFAULT),
    Preset("bin-pack", noted("Bin-pack"), noted("Fills nodes before it opens new ones."), texts.BIN_PACK),
    Preset("spread", noted("Spread"), noted("Prefers empty nodes and even zones."), texts.SPREAD),
    Preset("no-scoring", noted("No scoring"), noted("Takes the first node that passes the filters."), texts.NO_SCORING),
    Preset(
        "approvals",
        noted("Gangs and approvals"),
        noted("Every node scored; Coscheduling and ManualApproval on Permit."),
        texts.APPROVALS,
    ),
    Preset(
        "evictions",
        noted("Ask before preempting"),
        noted("EvictionApproval: evictions wait for a person, and nothing is deleted before."),
        texts.EVICTIONS,
    ),
    Preset(
        "quotas", noted("Elastic quotas"), noted("CapacityScheduling: namespaces borrow from each other."), texts.QUOTAS
    ),
    Preset(
        "quota-tree",
        noted("Tree of quotas"),
        noted("ElasticQuotaTree: shares by a tree of min, max and weight."),
        texts.QUOTA_TREE,
    ),
    Preset("numa", noted("NUMA zones"), noted("NodeResourceTopologyMatch: pods that fit into one zone."), texts.NUMA),
    Preset(
        "network",
        noted("Network costs"),
        noted("NetworkOverhead and TopologicalSort: near whom a pod talks to."),
        texts.NETWORK,
    ),
    Preset("load", noted("Measured load"), noted("The load of nodes counts, not what is requested."), texts.LOAD),
    Preset(
        "load-aware",
        noted("Load-aware"),
        noted("LoadAwareScheduling, after koordinator: no more pods on busy nodes."),
        texts.LOAD_AWARE,
    ),
    Preset(
        "reservations",
        noted("Reservations"),
        noted("Reservation, after koordinator: places on nodes held for pods to come."),
        texts.RESERVATIONS,
    ),
    Preset("power", noted("Power"), noted("Peaks: where power grows least."), texts.POWER),
    Preset(
        "toleration",
        noted("Preemption with toleration"),
        noted("PreemptionToleration and QOSSort: who is spared, and for how long."),
        texts.TOLERATION,
    ),
    Preset(
        "cross-node",
        noted("Preemption across nodes"),
        noted("CrossNodePreemption, a sample: pods of several nodes leave together."),
        texts.CROSS_NODE,
    ),
    Preset(
        "node-facts",
        noted("Facts of nodes"),
        noted("NodeResourcesAllocatable, NodeMetadata, PodState and SySched."),
        texts.NODES,
    ),
    Preset(
        "shared-cluster",
        noted("Quotas, zones, network and load"),
        noted("Four plugins of scheduler-plugins together; every node scored."),
        texts.SHARED,
    ),
)


def preset(id_: str) -> Preset | None:
    for each in PRESETS:
        if each.id == id_:
            return each
    return None
