"""Remedies for refusals of the plugins after koordinator (docs/koordinator.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from shlex import quote
from typing import Final

from msgspec.structs import replace

from framework.advice.candidates import Case, Family, PossibleRemedy, beside_others, with_others
from framework.advice.catalogue import bounds_in_words, changed_bounds, of_object, with_amounts
from framework.advice.operations import operation
from framework.advice.patches import Patch, object_diff
from framework.advice.trial import Edit
from framework.objects import Node, Pod
from framework.objects.catalogue import USAGE_THRESHOLDS, ElasticQuota
from framework.objects.reservations import AVAILABLE, Reservation
from framework.objects.resources import CPU, MEMORY, resource_value
from framework.plugins.loadaware.plugin import LoadAwareScheduling
from framework.plugins.loadaware.usage import own_thresholds
from framework.plugins.quotatree.plugin import ElasticQuotaTree
from framework.plugins.quotatree.tree import QuotaTree, counted_of, tree_of
from framework.plugins.reservation.plugin import ReservationPlugin
from framework.sentences import joined_with_and, sentence

LOAD: Final = LoadAwareScheduling.name
QUOTA_TREE: Final = ElasticQuotaTree.name
NODES_TRIED: Final = 8
RESERVATION: Final = ReservationPlugin.name
BOUNDS_RAISED: Final = 8
"""More than these, of all quotas above a pod, are not raised for it."""


def raised_thresholds(case: Case) -> Iterator[Family]:
    """The node's own threshold raised to what is in use there with the pod, where the least more is needed."""
    if LOAD not in case.rejected_by:
        return
    profile = case.trial.scheduler.profiles[case.pod.spec.scheduler_name]
    plugin = profile.plugins.get(LOAD)
    if not isinstance(plugin, LoadAwareScheduling):
        return

    def family() -> Family:
        found = []
        for node in case.trial.cluster.list(Node):
            needed = plugin.thresholds_needed(case.pod, node.metadata.name)
            if needed and all(percent <= 100 for _, percent in needed.values()):
                over = max(percent - most for most, percent in needed.values())
                found.append((over, node.metadata.name, node, needed))
        for _, name, node, needed in sorted(found, key=lambda each: each[:2])[:NODES_TRIED]:
            raised, text = _annotated(node, {resource: percent for resource, (_, percent) in needed.items()})
            if not case.fits_after([Edit(node, raised)]):
                continue
            words = [
                sentence("{resource} from {old} to {new} %", resource=resource, old=most, new=percent)
                for resource, (most, percent) in needed.items()
            ]
            said = sentence("Raise the usage threshold of {what} on {node}", what=joined_with_and(words), node=name)
            command = f"kubectl annotate node {quote(name)} --overwrite {quote(f'{USAGE_THRESHOLDS}={text}')}"
            yield PossibleRemedy(
                "threshold", said, (operation("replace", raised),), Patch((command,), object_diff(node, raised))
            )

    yield family()


def _annotated(node: Node, thresholds: Mapping[str, int]) -> tuple[Node, str]:
    """The node with these thresholds among its own; their text."""
    own = own_thresholds(node)
    kept = {name: own[name] for name in (CPU, MEMORY) if name in own}
    text = json.dumps({"usageThresholds": {**kept, **thresholds}}, separators=(",", ":"))
    metadata = replace(node.metadata, annotations={**node.metadata.annotations, USAGE_THRESHOLDS: text})
    return replace(node, metadata=metadata), text


# --- the tree of quotas -----------------------------------------------------------------------------------------------


def raised_tree(case: Case) -> Iterator[Family]:
    """On the way up from the pod's quota every max that is too low, then every min of a quota whose share is; for the
    pod, and for those that come before it."""
    if QUOTA_TREE not in case.rejected_by:
        return
    plugin = case.trial.scheduler.profiles[case.pod.spec.scheduler_name].plugins.get(QUOTA_TREE)
    if not isinstance(plugin, ElasticQuotaTree):
        return

    def family() -> Family:
        before = {(each.namespace, each.name): each for each in case.trial.cluster.list(ElasticQuota)}
        for others in beside_others(case):
            after = _with_room(case, plugin.empty_tree(), before, others)
            changed = [(old, after[key]) for key, old in before.items() if after[key] != old]
            if not changed or not case.fits_after([Edit(old, new) for old, new in changed]):
                return
            each_of = [
                of_object("quota", sentence("Raise {what}", what=_raise_words(old, new)), old, new, {"spec": merged})
                for old, new in changed
                for merged in (changed_bounds(old, new),)
            ]
            text = sentence("Raise {what}", what=joined_with_and([_raise_words(old, new) for old, new in changed]))
            patch = Patch(
                tuple(command for one in each_of for command in one.patch.commands),
                "\n".join(one.patch.diff for one in each_of),
            )
            operations = tuple(one for each in each_of for one in each.operations)
            yield PossibleRemedy("quota", with_others(text, others), operations, patch)

    yield family()


def _with_room(
    case: Case,
    tree: QuotaTree,
    quotas: Mapping[tuple[str, str], ElasticQuota],
    others: Sequence[Pod],
) -> dict[tuple[str, str], ElasticQuota]:
    """The quotas with bounds that are just enough for the pod when ``others`` have a node."""
    raised, cluster = dict(quotas), case.trial.cluster
    tree_of(quotas.values(), cluster.list(Node), cluster.list(Pod), tree)
    for other in others:
        tree.set_pod(other.metadata.uid, counted_of(other, placed=True))
    pod = counted_of(case.pod, placed=False)
    for _ in range(BOUNDS_RAISED):
        short = tree.short(case.pod.metadata.uid, pod)
        if short is None:
            break
        key, needed = (short.quota.namespace, short.quota.name), {short.resource: short.used + short.asked}
        spec = raised[key].spec
        if short.over_max:
            spec = replace(spec, max=with_amounts(spec.max or {}, needed))
        else:
            spec = replace(spec, min=with_amounts(spec.min or {}, needed))
        raised[key] = replace(raised[key], spec=spec)
        tree.set_quota(*key, raised[key])
    return raised


def _raise_words(old: ElasticQuota, new: ElasticQuota) -> object:
    words = []
    for bound, before, after in (("max", old.spec.max, new.spec.max), ("min", old.spec.min, new.spec.min)):
        over = {name: resource_value(name, amount) for name, amount in (after or {}).items()}
        differ = {name: amount for name, amount in over.items() if (before or {}).get(name) != (after or {})[name]}
        words += bounds_in_words(bound, before or {}, differ)
    return sentence("{what} in ElasticQuota {quota}", what=joined_with_and(words), quota=old.key)


# --- reservations -----------------------------------------------------------------------------------------------------


def released(case: Case) -> Iterator[Family]:
    """A reservation that holds what the pod needs is deleted: one that nobody uses first."""
    if RESERVATION not in case.rejected_by:
        return

    def family() -> Family:
        held = [each for each in case.trial.cluster.list(Reservation) if each.status.phase == AVAILABLE]
        for each in sorted(held, key=lambda one: (len(one.status.current_owners), one.metadata.name))[:NODES_TRIED]:
            if not case.fits_after([Edit(each, None)]):
                continue
            name = each.metadata.name
            text = sentence("Delete Reservation {name} on {node}", name=name, node=each.status.node_name)
            patch = Patch((f"kubectl delete reservation {quote(name)}",))
            yield PossibleRemedy("free", text, (operation("delete", each),), patch)

    yield family()
