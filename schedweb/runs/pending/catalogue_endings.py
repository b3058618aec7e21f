"""Sentences about refusals of the catalogue's plugins in which Filter has no part: PreFilter's that only a message
tells, PostFilter's, Reserve's and Permit's, the end of a wait on Permit, and errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from framework.plugins.capacityscheduling.plugin import CapacityScheduling
from framework.plugins.coscheduling.plugin import Coscheduling
from framework.plugins.coscheduling.pod_groups import LABEL
from framework.plugins.crossnodepreemption.plugin import NOBODY, CrossNodePreemption
from framework.plugins.networkaware.networkoverhead import NetworkOverhead
from framework.plugins.noderesourcetopology.plugin import NodeResourceTopologyMatch
from framework.plugins.preemptiontoleration.plugin import PreemptionToleration
from framework.plugins.quotatree.plugin import ElasticQuotaTree
from framework.plugins.reservation.plugin import NO_MATCH_HERE, ReservationPlugin
from framework.trace.attempt import AttemptTrace, ExtenderCall
from schedweb.sentences import counted, one_after_another, say

Explanation = tuple[str, str]
TIMED_OUT: Final = "rejected due to timeout"


def group_of(manifest: Mapping[str, Any]) -> str:
    """``namespace/name`` of the PodGroup that the pod's label names; "" of one without."""
    metadata = manifest.get("metadata") or {}
    name = (metadata.get("labels") or {}).get(LABEL)
    return f"{metadata.get('namespace', '')}/{name}" if name else ""


# --- before any node is looked at -------------------------------------------------------------------------------------

_UNREADABLE: Final = re.compile(r"the pod's reservation affinity cannot be read: (?P<error>.*)$", re.DOTALL)
_OVER_TREE: Final = re.compile(r"ElasticQuota (?P<quota>\S+) would use more (?P<resource>\S+) than its (?P<bound>\w+)$")


def refused_before_nodes(plugin: str, message: str) -> Explanation | None:
    """Of a pod that PreFilter refused, where nothing is known but what it said."""
    if plugin == ReservationPlugin.name and (found := _UNREADABLE.search(message)):
        return say(
            "Its annotation says which reservations it may use, and cannot be read: {error}", **found.groupdict()
        ), (say("It is not tried on any node before that is mended."))
    if plugin == ElasticQuotaTree.name and (found := _OVER_TREE.search(message)):
        about = {"quota": found["quota"], "resource": found["resource"]}
        headline = (
            say("With it {quota} would have used more {resource} than its max allows.", **about)
            if found["bound"] == "max"
            else say("With it {quota} would have used more {resource} than its share.", **about)
        )
        return headline, say(
            "The pod is tried again when its ElasticQuotas have room: when pods go, nodes come or a quota changes."
        )
    return None


# --- after Filter refused all nodes -----------------------------------------------------------------------------------

_GROUP_GIVEN_UP: Final = re.compile(r"PodGroup (?P<group>\S+) gets rejected due to Pod \S+ is unschedulable even after")
_NO_GROUP: Final = "can not find pod group"
_TRIES: Final = re.compile(r"gave up after (?P<tries>\d+) tries, before all sets of pods were tried")
_OVER_QUOTAS: Final = "global quota max exceeded"
_NO_STATE: Final = "not eligible due to failed to read from cycleState"


def after_no_node(trace: AttemptTrace, manifest: Mapping[str, Any]) -> str:
    """What the catalogue's plugins did in PostFilter about a pod that fits nowhere; "" where nothing is to be said."""
    # Whom PreFilter refused with its group was told why, and nothing was held for the others then.
    early = trace.pre_filter_status
    said = [
        told_by_post_filter(each.plugin, message, group_of(manifest))
        for each in trace.post_filter
        if early is None or each.plugin != Coscheduling.name
        for message in (each.status.message, *(reason for reason, _ in each.refused))
    ]
    said += map(told_by_extender, trace.extender_calls)
    return one_after_another(list(dict.fromkeys(text for text in said if text)))


def told_by_extender(call: ExtenderCall) -> str:
    """Of one that was asked which candidates preemption leaves."""
    if call.verb != "preempt" or call.ignored or call.kept:
        return ""
    if call.error:
        return say(
            "The extender at {extender} failed when it was asked whom to evict, so nobody is evicted: {error}",
            extender=call.extender,
            error=call.error,
        )
    return say("The extender at {extender} leaves no node where pods might be evicted for it.", extender=call.extender)


def told_by_post_filter(plugin: str, message: str, group: str) -> str:
    """``message``: of its status, or the reason for which nodes were no candidates. ``group``: as ``group_of``."""
    if plugin == Coscheduling.name:
        if found := _GROUP_GIVEN_UP.search(message):
            return say(
                "Too many of its pod group {group} have no node, so what was held for the others is free again.",
                group=found["group"],
            )
        if message.endswith(_NO_GROUP) and group:
            return say("Its PodGroup {group} does not exist.", group=group)
    if plugin == CrossNodePreemption.name:
        if found := _TRIES.search(message):
            return counted(
                "{plugin} gave up after {count} try: there may be pods whose leaving makes room.",
                "{plugin} gave up after {count} tries: there may be pods whose leaving makes room.",
                int(found["tries"]),
                plugin=plugin,
            )
        if message == NOBODY.message:
            return say("No set of pods of lower priority that leaves makes room on any of their nodes.")
    if plugin == CapacityScheduling.name:
        if message.endswith(_OVER_QUOTAS):
            return say(
                "Pods that leave do not make room in ElasticQuotas: one would be over its max, or all over their min."
            )
        if message.endswith(_NO_STATE):
            return say("{plugin} knows no sums of ElasticQuotas for it, so it evicts nobody.", plugin=plugin)
    if plugin == PreemptionToleration.name and (found := _NO_CLASS.search(message)):
        return _no_class(found["name"])
    return ""


def _no_class(name: str) -> str:
    return say(
        "PriorityClass {name} of a pod of lower priority does not exist: {plugin} cannot say what it tolerates.",
        name=name,
        plugin=PreemptionToleration.name,
    )


# --- when a node was chosen -------------------------------------------------------------------------------------------


def refused_on_its_node(plugin: str, message: str, node: str, manifest: Mapping[str, Any]) -> Explanation | None:
    """Of a pod that had a node: Reserve or Permit refused it, or its wait on Permit was ended by a plugin."""
    if plugin == ReservationPlugin.name and message.endswith(NO_MATCH_HERE):
        return say(
            "{node} was chosen, but the reservation that it must use there has no room any more.", node=node
        ), say("The pod is tried again when a Reservation that it may use comes, or has more left.")
    if plugin != Coscheduling.name:
        return None
    about = {"node": node, "group": group_of(manifest)}
    if message.endswith("PodGroup not found"):
        return say("{node} was chosen, but its PodGroup {group} does not exist.", **about), say(
            "The pod is tried again when it is created."
        )
    again = say("The pod is tried again when pods come or its PodGroup changes.")
    freed = say("What was reserved for it on {node} is free again.", **about)
    for signal, headline in _SIGNALS.items():
        if message.endswith(signal) or message.startswith(signal):
            return headline(about), one_after_another([freed, again])
    return None


def _unplaced(about: Mapping[str, str]) -> str:
    return say("It lost {node}, as another pod of its pod group {group} fits nowhere.", **about)


def _undone(about: Mapping[str, str]) -> str:
    return say("It lost {node}, as another pod of its pod group {group} lost its own.", **about)


def _too_late(about: Mapping[str, str]) -> str:
    return say("Its wait on {node} ran out: too few pods of its pod group {group} had a node by then.", **about)


_SIGNALS: Final[Mapping[str, Callable[[Mapping[str, str]], str]]] = {
    "optimistic rejection in PostFilter": _unplaced,
    "rejection in Unreserve": _undone,
    TIMED_OUT: _too_late,
}

# --- errors -----------------------------------------------------------------------------------------------------------

_NO_NETWORK: Final = re.compile(r'networktopology "(?P<name>[^"]*)" not found$')
_NO_PEER: Final = re.compile(r'pod hostname not found: nodeinfo not found for node name "(?P<node>[^"]*)"$')
_NO_CLASS: Final = re.compile(r'priorityclass\.scheduling\.k8s\.io "(?P<name>[^"]*)" not found')
_NOT_WRITTEN: Final = re.compile(r"the reservation that the pod uses: (?P<error>.*)$", re.DOTALL)
_ACCOUNTS: Final = "inconsistent resource accounting"


def failed_by(message: str) -> Explanation | None:
    """Of an attempt that ended in an error of one of the plugins."""
    again = say("The pod is tried again after its backoff.")
    if found := _NO_NETWORK.search(message):
        return say(
            "NetworkTopology {name}, from which {plugin} reads costs, does not exist.",
            name=found["name"],
            plugin=NetworkOverhead.name,
        ), one_after_another(
            [say("It can be created, or {field} can name another one.", field="networkTopologyName"), again]
        )
    if found := _NO_PEER.search(message):
        return say(
            "A pod that it talks to is on {node}, which is no node of this cluster.", node=found["node"]
        ), one_after_another([say("{plugin} places nothing before that pod goes.", plugin=NetworkOverhead.name), again])
    if found := _NO_CLASS.search(message):
        return _no_class(found["name"]), again
    if message.endswith(_ACCOUNTS):
        return say(
            "What {plugin} counted in NUMA zones does not add up, so the attempt was given up.",
            plugin=NodeResourceTopologyMatch.name,
        ), again
    if found := _NOT_WRITTEN.search(message):
        return say("Which reservation it uses could not be written onto it: {error}", error=found["error"]), again
    return None
