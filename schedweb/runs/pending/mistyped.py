"""Hints about labels and tolerations that are probably mistyped (framework/advice/spelling.py has the rule)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from framework.advice.spelling import meant, meant_key
from framework.objects import Node, Taint, Toleration
from framework.objects.selectors import (
    EXISTS,
    IN,
    METADATA_NAME,
    LabelMatcher,
    NodeSelectorMatcher,
    Requirement,
    required_node_affinity,
)
from framework.objects.tolerations import NO_EXECUTE, NO_SCHEDULE, PREFER_NO_SCHEDULE, toleration_tolerates
from schedweb.runs.filtering.places import CORDON_TAINT, Places, untolerated
from schedweb.runs.pending.in_the_way import some
from schedweb.sentences import both, clauses, either, one_after_another, say

SHOWN: Final = 6
"""Values of a label that a hint lists."""
TOLD: Final = 2
"""Hints of one kind."""
SAYS_NOTHING: Final = frozenset({"", "true", "false", "yes", "no", "enabled", "disabled", "on", "off"})
"""Values that many labels have."""
EFFECTS: Final = (NO_SCHEDULE, PREFER_NO_SCHEDULE, NO_EXECUTE)


def alternatives_of(required: NodeSelectorMatcher) -> list[list[Requirement]]:
    """What a pod asks of a node's labels and name: any of these lists, all of one."""
    return [
        [*required.labels.requirements, *(term.labels.requirements if term else ()), *(term.fields if term else ())]
        for term in (required.terms or (None,))
    ]


def is_equality(one: Requirement) -> bool:
    return one.operator == IN and len(one.values) == 1


def asked_words(alternatives: Sequence[Sequence[Requirement]]) -> str:
    """``pool=gpu and zone=a``, as kubectl writes selectors."""
    return either([both([requirement_words(each) for each in one]) for one in alternatives])


def requirement_words(one: Requirement) -> str:
    if one.operator == EXISTS:
        return say("the label {key}", key=one.key)
    return str(one._replace(values=tuple(map(value_words, one.values))))


def value_words(value: str) -> str:
    """An empty value would leave a gap in a sentence."""
    return value or '""'


def hints_of(asked: Sequence[Requirement], nodes: Sequence[Node]) -> list[str]:
    """What was probably meant; where every part is on some node, how many nodes each has."""
    labels = [{**node.metadata.labels, METADATA_NAME: node.metadata.name} for node in nodes]
    found = []
    for one in asked:
        if one.operator not in (IN, EXISTS) or any(
            LabelMatcher.from_requirements([one]).matches(each) for each in labels
        ):
            continue
        values = Counter(each[one.key] for each in labels if one.key in each)
        if not values:
            found.append(_other_key(one, labels))
        else:
            has = some([value_words(each) for each in sorted(values, key=lambda value: (-values[value], value))], SHOWN)
            guess = did_you_mean(one.values, values)
            found.append(one_after_another([guess, say("For {key} nodes have {values}.", key=one.key, values=has)]))
    if found or len(asked) < 2:
        return found
    on = [
        (requirement_words(one), sum(LabelMatcher.from_requirements([one]).matches(each) for each in labels))
        for one in asked
    ]
    return [
        say(
            "Each alone is on some node: {counts}.",
            counts=clauses([say("{labels} on {count}", labels=labels, count=count) for labels, count in on]),
        )
    ]


def _other_key(one: Requirement, labels: Sequence[Mapping[str, str]]) -> str:
    """A node may have the value under another name, or another label of nearly that name."""
    keys = {key for each in labels for key in each}
    telling = [value for value in one.values if value.lower() not in SAYS_NOTHING and not value.isdigit()]
    same = sorted({key for each in labels for key, value in each.items() if value in telling and key != one.key})
    alike = meant_key(one.key, keys)
    none = say("No node has a label {key}.", key=one.key) if one.operator == IN else ""
    there = next((value for value in one.values if any(each.get(alike) == value for each in labels)), "")
    if alike and there:
        return one_after_another([say("Did you mean {name}?", name=f"{alike}={there}"), none])
    if same:
        value = next(value for value in telling if any(each.get(same[0]) == value for each in labels))
        return one_after_another([say("Did you mean {name}?", name=f"{same[0]}={value}"), none])
    return one_after_another([say("Did you mean {name}?", name=alike) if alike else "", none])


def did_you_mean(words: Iterable[str], known: Iterable[str]) -> str:
    """Of the first word that looks mistyped; "" when none does."""
    known = list(known)
    name = next((found for word in words if (found := meant(word, known))), "")
    return say("Did you mean {name}?", name=name) if name else ""


def labels_mistyped(places: Places, *, but: str = "") -> list[str]:
    """Of values that no node has, of lists and alternatives of which others are on nodes; ``but``: said already."""
    nodes = places.standing.nodes.values()
    labels = [{**node.metadata.labels, METADATA_NAME: node.metadata.name} for node in nodes]
    keys = {key for each in labels for key in each}
    found = []
    for one in dict.fromkeys(each for term in alternatives_of(required_node_affinity(places.pod)) for each in term):
        key = one.key if one.key in keys else meant_key(one.key, keys)
        known = {each[key] for each in labels if key in each}
        for value in one.values if one.operator == IN else ():
            right = value if value in known and key != one.key else meant(value, known) if key == one.key else ""
            name = right if key == one.key else f"{key}={right}"
            if right and say("Did you mean {name}?", name=name) not in but:
                found.append(say("No node has {label}; did you mean {name}?", label=f"{one.key}={value}", name=name))
    return found[:TOLD]


def tolerations_mistyped(places: Places) -> list[str]:
    """Of taints that a toleration nearly tolerates: its key, its value or its effect is another."""
    taints: dict[tuple[str, str, str], Taint] = {}
    for node in places.standing.nodes.values():
        for taint in untolerated(places.pod, node):
            if taint.key != CORDON_TAINT:
                taints.setdefault((taint.key, taint.value, taint.effect), taint)
    found = [
        hint for each in places.pod.spec.tolerations for taint in taints.values() if (hint := _nearly(each, taint))
    ]
    left = taints.values()
    found += [text for each in places.pod.spec.tolerations if (text := _of_another_value(each, places, left))]
    return list(dict.fromkeys(found))[:TOLD]


def _nearly(toleration: Toleration, taint: Taint) -> str:
    """What to say of a toleration that would tolerate the taint with another key, value or effect; "" else."""
    key = toleration.key if toleration.key == taint.key else meant(toleration.key, [taint.key])
    if not key:
        return ""
    right = replace(toleration, key=key)
    if right.operator in ("", "Equal") and right.value != taint.value:
        right = replace(right, value=meant(right.value, [taint.value]) or right.value)
    if right.effect not in ("", *EFFECTS):
        right = replace(right, effect=meant(right.effect, [taint.effect]) or right.effect)
    if right != toleration:
        if not toleration_tolerates(right, taint):
            return ""
        about = [_written(each.key, each.value, each.effect) for each in (toleration, right)]
        return say("It tolerates {given}; did you mean {taint}?", given=about[0], taint=about[1])
    if not toleration_tolerates(replace(right, effect=""), taint):
        return ""
    about = [_written(taint.key, taint.value, ""), right.effect, taint.effect]
    return say(
        "It tolerates {taint} with effect {given} only; the taint has {effect}.",
        taint=about[0],
        given=about[1],
        effect=about[2],
    )


def _of_another_value(toleration: Toleration, places: Places, left: Iterable[Taint]) -> str:
    """Of a toleration that no node needs, where taints that keep the pod off have its key; "" else."""
    there = [
        _written(each.key, each.value, each.effect)
        for each in left
        if each.key == toleration.key and each.value != toleration.value and not _nearly(toleration, each)
    ]
    needed = any(
        toleration_tolerates(toleration, taint) for node in places.standing.nodes.values() for taint in node.spec.taints
    )
    if not there or needed or toleration.operator not in ("", "Equal"):
        return ""
    given = _written(toleration.key, toleration.value, toleration.effect)
    return say("It tolerates {given}; nodes have {taints}.", given=given, taints=some(there))


def _written(key: str, value: str, effect: str) -> str:
    """``dedicated=gpu:NoSchedule``"""
    return f"{key}{f'={value}' if value else ''}{f':{effect}' if effect else ''}"
