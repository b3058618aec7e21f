"""PodDisruptionBudgets that a change breaks: of pods that leave their nodes because of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from framework.advice.played import End, Fate, PlayedPod
from framework.objects import Pod, PodDisruptionBudget
from framework.preemption.victims import broken_budgets
from framework.scheduler import Cluster
from framework.sentences import counted_sentence, joined_with_and


def broken_by(
    cluster: Cluster, before: Mapping[str, PlayedPod], without: End, others: Sequence[Fate]
) -> dict[str, list[str]]:
    """``namespace/name`` of a pod → the names of the budgets that allow its eviction no more, as preemption counts
    them; pods that leave without the change, too, and those that had no node count for none."""
    leaving = []
    for key in (each.pod for each in others if each.fate != "passed"):
        was, would = before.get(key), without.get(key)
        pod = cluster.get(Pod, *key.split("/", 1))
        if pod is not None and was is not None and was.node and would is not None and would.uid == was.uid:
            leaving.append(pod)
    found = broken_budgets(leaving, cluster.list(PodDisruptionBudget))
    return {
        pod.key: [budget.metadata.name for budget in budgets]
        for pod, budgets in zip(leaving, found, strict=True)
        if budgets
    }


def with_budgets(others: Sequence[Fate], broken: Mapping[str, Sequence[str]]) -> list[Fate]:
    """Each of the pods says which budgets its leaving breaks; among equal fates these come first."""
    fates = [_with_budgets(each, broken.get(each.pod, ())) for each in others]
    order = {fate: place for place, fate in enumerate(dict.fromkeys(each.fate for each in others))}
    return sorted(fates, key=lambda each: (order[each.fate], each.pod not in broken))


def _with_budgets(fate: Fate, budgets: Sequence[str]) -> Fate:
    if not budgets:
        return fate
    text = counted_sentence(
        "{what} This breaks the PodDisruptionBudget {budgets}.",
        "{what} This breaks the PodDisruptionBudgets {budgets}.",
        len(budgets),
        what=fate.text,
        budgets=joined_with_and(list(budgets)),
    )
    return replace(fate, text=text)
