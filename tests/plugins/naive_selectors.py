"""Selectors, affinity and tolerations evaluated straight from the manifests' Structs, for the naive evaluations."""

from __future__ import annotations

from collections.abc import Mapping

from framework.objects import LabelSelector, Node, NodeSelectorTerm, Pod

Labels = Mapping[str, str]


def selects(selector: LabelSelector | None, labels: Labels) -> bool:
    """None selects nothing, an empty selector everything."""
    if selector is None:
        return False
    wanted = all(labels.get(key) == value for key, value in selector.match_labels.items())
    return wanted and all(
        _holds(expression.key, expression.operator, expression.values, labels)
        for expression in selector.match_expressions
    )


def is_empty(selector: LabelSelector | None) -> bool:
    return selector is not None and not selector.match_labels and not selector.match_expressions


def _holds(key: str, operator: str, values: tuple[str, ...], labels: Labels) -> bool:
    match operator:
        case "In":
            return key in labels and labels[key] in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
    raise AssertionError(operator)


def required_affinity_matches(pod: Pod, node: Node) -> bool:
    labels = node.metadata.labels
    if any(labels.get(key) != value for key, value in (pod.spec.node_selector or {}).items()):
        return False
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    return required is None or any(_term_matches(term, labels) for term in required.node_selector_terms)


def _term_matches(term: NodeSelectorTerm, labels: Labels) -> bool:
    assert not term.match_fields
    return bool(term.match_expressions) and all(
        _holds(e.key, e.operator, e.values, labels) for e in term.match_expressions
    )


def tolerates_hard_taints(pod: Pod, node: Node) -> bool:
    for taint in node.spec.taints:
        if taint.effect not in ("NoSchedule", "NoExecute"):
            continue
        for toleration in pod.spec.tolerations:
            same_effect = toleration.effect in ("", taint.effect)
            same_key = toleration.key in ("", taint.key)
            if same_effect and same_key and (toleration.operator == "Exists" or toleration.value == taint.value):
                break
        else:
            return False
    return True
