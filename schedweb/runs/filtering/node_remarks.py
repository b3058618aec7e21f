"""What of a node made a Filter plugin refuse it, where its message does not say: its taints, its labels.

Read from the node as the run has it now, which is what kube-scheduler saw unless somebody changed the node since.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final
from uuid import UUID

import msgspec

from framework.configuration.feature_gates import gates_of
from framework.objects import Taint, Toleration
from framework.objects.tolerations import COMPARISONS_GATE, NO_EXECUTE, NO_SCHEDULE, tolerates
from schedweb.configurations.models import ConfigurationVersion
from schedweb.runs.models import NodeRecord
from schedweb.runs.records.manifests import manifest_of
from schedweb.sentences import say, translated

Manifest = Mapping[str, Any]
REMARKED: Final = ("TaintToleration", "NodeAffinity")
HARD: Final = (NO_SCHEDULE, NO_EXECUTE)


def node_remarks(run: UUID, plugin: str, names: Iterable[str], pod: Manifest) -> dict[str, str]:
    """Name → ``dedicated=data:NoSchedule``, ``disk=hdd``, of nodes that a plugin of ``REMARKED`` refused."""
    stored = NodeRecord.objects.filter(run=run, name__in=list(names)).order_by("present", "row")
    remark = _labels
    if plugin == "TaintToleration":
        text = ConfigurationVersion.objects.values_list("text", flat=True).get(runs=run)
        remark = partial(_taints, comparisons=gates_of(text).enabled(COMPARISONS_GATE))
    return {name: remark(manifest_of(blob), pod) for name, blob in stored.values_list("name", "manifest")}


def _taints(node: Manifest, pod: Manifest, *, comparisons: bool) -> str:
    tolerations = msgspec.convert(pod.get("spec", {}).get("tolerations") or [], tuple[Toleration, ...], strict=False)
    taints = msgspec.convert(node.get("spec", {}).get("taints") or [], tuple[Taint, ...], strict=False)
    hard = [
        each for each in taints if each.effect in HARD and not tolerates(tolerations, each, comparisons=comparisons)
    ]
    return translated([f"{each.key}{f'={each.value}' if each.value else ''}:{each.effect}" for each in hard])


def _labels(node: Manifest, pod: Manifest) -> str:
    labels = node.get("metadata", {}).get("labels") or {}
    labelled = [f"{key}={labels[key]}" if key in labels else say("no label {key}", key=key) for key in asked_keys(pod)]
    return translated(labelled)


def asked_keys(pod: Manifest) -> list[str]:
    """Labels of nodes that the pod's selector and required node affinity speak of."""
    spec = pod.get("spec", {})
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    terms = (affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get("nodeSelectorTerms") or []
    expressions = [each["key"] for term in terms for each in term.get("matchExpressions") or []]
    return list(dict.fromkeys([*(spec.get("nodeSelector") or {}), *expressions]))
