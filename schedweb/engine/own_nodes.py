"""The nodes that a scheduler of a real cluster keeps to, so that two schedulers do not overfill the same ones: labels
that join each profile's addedAffinity (docs/semantics/plugins.md#nodeaffinity)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from framework.configuration.effective import EffectiveConfiguration, EffectiveProfile
from framework.objects import NodeAffinity, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from framework.sentences import Sentence, sentence

NODE_AFFINITY: Final = "NodeAffinity"


def why_not_kept(configuration: EffectiveConfiguration, labels: Mapping[str, str]) -> Sentence | None:
    """None where it can be kept to these nodes."""
    for profile in configuration.profiles if labels else ():
        if NODE_AFFINITY not in profile.point("filter").names:
            return sentence(
                "{scheduler} does not filter by NodeAffinity, so its pods cannot be kept to nodes.",
                scheduler=profile.scheduler_name,
            )
    return None


def kept_to(configuration: EffectiveConfiguration, labels: Mapping[str, str]) -> EffectiveConfiguration:
    """As it is where there are no labels. ``why_not_kept`` has no reason. One of a profile's own terms has to hold,
    each together with the labels."""
    if not labels:
        return configuration
    wanted = tuple(
        NodeSelectorRequirement(key=key, operator="In", values=(value,)) for key, value in sorted(labels.items())
    )
    return replace(configuration, profiles=tuple(_kept_to(profile, wanted) for profile in configuration.profiles))


def _kept_to(profile: EffectiveProfile, wanted: tuple[NodeSelectorRequirement, ...]) -> EffectiveProfile:
    args = profile.args[NODE_AFFINITY]
    added = args.added_affinity or NodeAffinity()
    required = added.required_during_scheduling_ignored_during_execution
    own = (NodeSelectorTerm(),) if required is None else required.node_selector_terms
    terms = tuple(replace(term, match_expressions=(*term.match_expressions, *wanted)) for term in own)
    selector = NodeSelector(node_selector_terms=terms)
    added = replace(added, required_during_scheduling_ignored_during_execution=selector)
    return replace(profile, args={**profile.args, NODE_AFFINITY: replace(args, added_affinity=added)})
