"""Evicting the victims of the chosen node (docs/semantics/preemption.md#eviction)."""

from __future__ import annotations

from framework.interface import Candidate, Handle
from framework.objects import Pod
from framework.preemption.victims import priority_of


def evict_then_clear(plugin: str, handle: Handle, preemptor: Pod, chosen: Candidate) -> str | None:
    """As upstream without asynchronous preemption: lower nominations go last, also where nobody has to be evicted.

    None, or the API server's error, after which nothing more is done.
    """
    for victim in chosen.victims:
        if victim.metadata.deletion_timestamp is None:
            error = _evict_one(plugin, handle, preemptor, victim, chosen.node)
            if error is not None:
                return error
    _clear_lower(handle, preemptor, chosen.node)
    return None


def _clear_lower(handle: Handle, preemptor: Pod, node: str) -> None:
    for nominated in handle.nominator.nominated_pods_for_node(node):
        if priority_of(nominated.pod) < priority_of(preemptor):
            handle.api.clear_nomination(nominated.pod)


def evict(plugin: str, handle: Handle, preemptor: Pod, chosen: Candidate) -> None:
    """Victims that are already terminating are left alone; lower nominations on the node are cleared."""
    victims = [pod for pod in chosen.victims if pod.metadata.deletion_timestamp is None]
    if not victims:
        return
    _clear_lower(handle, preemptor, chosen.node)
    handle.api.evicts(preemptor, victims)
    for victim in victims:
        if _evict_one(plugin, handle, preemptor, victim, chosen.node) is not None:
            # Later victims stay. Upstream's goroutine hears of it when the attempt is over: the pod is active at once.
            handle.activate_once_back(preemptor)
            return


def _evict_one(plugin: str, handle: Handle, preemptor: Pod, victim: Pod, node: str) -> str | None:
    """None, or the API server's error."""
    note = f"Preempted by pod {preemptor.metadata.uid} on node {node}"
    waiting = handle.waiting_pod(victim.metadata.uid)
    if waiting is not None and waiting.preempt(plugin, "preempted"):
        note += " (in kube-scheduler memory)."
    else:
        message = f"{preemptor.spec.scheduler_name}: preempting to accommodate a higher priority pod"
        error = handle.api.patch_pod_condition(
            victim, "DisruptionTarget", "True", "PreemptionByScheduler", message
        ) or handle.api.delete_pod(victim)
        if error:
            # Gone already counts as evicted, without an event.
            return None if error.endswith("not found") else error
    handle.api.event("Normal", "Preempted", victim, note)
    return None
