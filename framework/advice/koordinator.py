"""Remedies for refusals of the plugins after koordinator (docs/koordinator.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from shlex import quote
from typing import Final

from msgspec.structs import replace

from framework.advice.candidates import Case, Family, PossibleRemedy
from framework.advice.operations import operation
from framework.advice.patches import Patch, object_diff
from framework.advice.trial import Edit
from framework.objects import Node
from framework.objects.catalogue import USAGE_THRESHOLDS
from framework.objects.resources import CPU, MEMORY
from framework.plugins.loadaware.plugin import LoadAwareScheduling
from framework.plugins.loadaware.usage import own_thresholds
from framework.sentences import joined_with_and, sentence

LOAD: Final = LoadAwareScheduling.name
NODES_TRIED: Final = 8


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
