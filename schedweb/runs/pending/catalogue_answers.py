"""First sentences about refusals of plugins from scheduler-plugins: quotas, groups, NUMA zones, networks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from framework.plugins.capacityscheduling.quotas import NO_LIMIT, request_of, total
from framework.plugins.coscheduling.plugin import Coscheduling
from schedweb.runs.filtering import elastic_quotas, networks
from schedweb.runs.filtering.elastic_quotas import NamespaceQuota, exceeded, quotas_of
from schedweb.runs.filtering.filters import amount_in_words, lacking_words
from schedweb.runs.filtering.standing import StandingPod, read_pod
from schedweb.runs.objects import numa_zones
from schedweb.runs.objects.claims import Objects
from schedweb.runs.objects.numa_zones import nearest_zone, topologies
from schedweb.sentences import both, counted, one_after_another, say

Manifest = Mapping[str, Any]
Explanation = tuple[str, str]
OVER_MAX: Final = re.compile(r"because ElasticQuota \S+ is more than Max$")
OVER_MIN: Final = re.compile(r"because total ElasticQuota used is more than min$")
_TOO_FAR: Final = re.compile(r"Satisfied: (?P<satisfied>\d+) Violated: (?P<violated>\d+)$")
_FAILED: Final = re.compile(r"podGroup (?P<group>\S+) failed recently$")
_GATED: Final = "cannot proceed due to gated pods in the same PodGroup"
_GAP: Final = re.compile(r"resource gap: map\[(?P<amounts>.*)\]$")
_QUANTITY: Final = re.compile(r"(?P<resource>[^\s:{}]+):\{\{(?P<number>\d+) (?P<exponent>-?\d+)\}")
_GUESSED: Final = "invalid node topology data"


# --- before any node is looked at -------------------------------------------------------------------------------------


def refused_by_quota(
    plugin: str, message: str, manifest: Manifest, objects: Objects, pods: Iterable[StandingPod]
) -> Explanation | None:
    """Of a pod that CapacityScheduling refused; None of other refusals."""
    if plugin != elastic_quotas.PLUGIN:
        return None
    quotas = quotas_of(objects, pods)
    pod = read_pod(manifest)
    own = next((each for each in quotas if each.namespace == pod.metadata.namespace), None)
    if own is None:
        return None
    request = request_of(pod)
    if OVER_MAX.search(message):
        return _over_max(own, request)
    return _over_min(quotas, own, request) if OVER_MIN.search(message) else None


def _over_max(own: NamespaceQuota, request: dict[str, int]) -> Explanation:
    about = {"namespace": own.namespace, "quota": own.name}
    resource = exceeded(request, own.quota.used, own.quota.most, NO_LIMIT)
    if not resource:
        text = say("With the pods that have room kept for them {namespace} would use more than its max.", **about)
        return text, say("ElasticQuota {quota} of {namespace} says how much that is.", **about)
    most = own.most(resource) or 0
    headline = say(
        "{namespace} may use {most} at most; it uses {used}, and this pod asks for {asked}.",
        most=lacking_words(resource, most),
        used=amount_in_words(resource, own.used(resource)),
        asked=amount_in_words(resource, request.get(resource, 0)),
        **about,
    )
    if resource not in own.quota.most:
        missing = say(
            "max of ElasticQuota {quota} leaves {resource} out, which allows none.", resource=resource, **about
        )
        return headline, missing
    return headline, say(
        "It is the max of ElasticQuota {quota}. The pod is tried again when a pod goes or an ElasticQuota changes.",
        **about,
    )


def _over_min(quotas: Sequence[NamespaceQuota], own: NamespaceQuota, request: dict[str, int]) -> Explanation:
    used = total(*(each.quota.used for each in quotas))
    least = total(*(each.quota.least for each in quotas))
    resource = exceeded(request, used, least, 0)
    if not resource:
        return say(
            "With the pods that have room kept for them more would be used than all ElasticQuotas guarantee."
        ), ""
    asked = lacking_words(resource, request.get(resource, 0))
    guaranteed = amount_in_words(resource, least.get(resource, 0))
    left = least.get(resource, 0) - used.get(resource, 0)
    if not least.get(resource):
        headline = say("It asks for {asked}, of which no ElasticQuota guarantees any.", asked=asked)
    elif left > 0:
        headline = say(
            "It asks for {asked}; of the {guaranteed} that all ElasticQuotas guarantee {left} are left to give out.",
            asked=asked,
            guaranteed=guaranteed,
            left=amount_in_words(resource, left),
        )
    else:
        headline = say(
            "It asks for {asked}; all of the {guaranteed} that ElasticQuotas guarantee is in use.",
            asked=asked,
            guaranteed=guaranteed,
        )
    over = own.used(resource) - own.least(resource)
    about = {"namespace": own.namespace, "amount": lacking_words(resource, abs(over))}
    lent = any(each.used(resource) > each.least(resource) for each in quotas)
    standing = ""
    if over > 0:
        standing = say("{namespace} already borrows {amount} from others.", **about)
    elif over < 0 and lent:
        standing = say("Of what {namespace} is guaranteed {amount} are not used: others borrow it.", **about)
    return headline, one_after_another(
        [standing, say("The pod is tried again when a pod goes or an ElasticQuota changes.")]
    )


def refused_by_group(plugin: str, message: str) -> Explanation | None:
    """Of a pod that Coscheduling refused because of its group; None of other refusals.

    That siblings are missing is said by ``claim_answers``, for every plugin that asks for them.
    """
    if plugin != Coscheduling.name:
        return None
    if found := _FAILED.match(message):
        return say(
            "Pods of its pod group {group} fitted nowhere a short time ago, so none of them is tried yet.",
            group=found["group"],
        ), say("{field} of {plugin} says how long.", field="podGroupBackoffSeconds", plugin=plugin)
    if message.endswith(_GATED):
        return say("Pods of its pod group still have scheduling gates, so none of the group is tried."), ""
    if found := _GAP.match(message):
        missing = [_lacking(each) for each in _QUANTITY.finditer(found["amounts"])]
        return say("All nodes together are short of {missing} for its pod group.", missing=both(missing)), say(
            "{fields} of its {kind} say what all of its pods need.",
            fields=both(["minMember", "minResources"]),
            kind="PodGroup",
        )
    return None


def _lacking(quantity: re.Match[str]) -> str:
    """Go's structure of a quantity holds a number and its decimal exponent."""
    resource = quantity["resource"]
    exponent = int(quantity["exponent"]) + (3 if resource == "cpu" else 0)
    number = int(quantity["number"])
    return lacking_words(resource, number * 10**exponent if exponent >= 0 else -(-number // 10**-exponent))


# --- on nodes ---------------------------------------------------------------------------------------------------------


def refused_in_catalogue(
    plugin: str, groups: Mapping[str, Sequence[str]], manifest: Manifest, objects: Objects
) -> Explanation | None:
    """Of a pod whose nodes Filter refused. ``groups``: message → nodes, of ``plugin``."""
    if plugin == numa_zones.PLUGIN:
        return _not_aligned(groups, manifest, objects)
    if plugin == networks.PLUGIN:
        return _too_far(groups)
    return None


def _not_aligned(groups: Mapping[str, Sequence[str]], manifest: Manifest, objects: Objects) -> Explanation:
    if set(groups) == {_GUESSED}:
        return say("What NUMA zones have free is not known of any node that it may use."), say(
            "They are looked at again when their NodeResourceTopology agrees with the pods on them."
        )
    nodes = [name for names in groups.values() for name in names]
    nearest = nearest_zone(read_pod(manifest), topologies(objects), nodes)
    headline = say("On no node that it may use one NUMA zone has all that it asks for.")
    if nearest is None:
        return headline, say("Containers fit into zones one by one, but not all of them.")
    return headline, say(
        "{zone} of {node} is nearest, short of {missing}.",
        zone=nearest.name,
        node=nearest.node,
        missing=both([lacking_words(name, amount) for name, amount in nearest.missing.items()]),
    )


def _too_far(groups: Mapping[str, Sequence[str]]) -> Explanation | None:
    found = [
        (int(match["violated"]) - int(match["satisfied"]), int(match["violated"]), int(match["satisfied"]), names)
        for message, names in groups.items()
        if (match := _TOO_FAR.search(message))
    ]
    if not found:
        return None
    _, violated, satisfied, names = min(found, key=lambda each: each[:3])
    return say("Every node that it may use is too far from the pods that it talks to."), counted(
        "Nearest is {node}: of {total} pod it reaches {satisfied}; {violated} cost more than its AppGroup allows.",
        "Nearest is {node}: of {total} pods it reaches {satisfied}; {violated} cost more than its AppGroup allows.",
        violated + satisfied,
        node=both(sorted(names)[:1]),
        total=violated + satisfied,
        satisfied=satisfied,
        violated=violated,
    )
