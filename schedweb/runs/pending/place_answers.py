"""First sentences of pods that may use no node, whatever runs there: labels, volumes, companions, cordons, taints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from framework.advice.spelling import meant, meant_key
from framework.objects import Node
from framework.objects.selectors import EXISTS, IN, METADATA_NAME, Requirement, required_node_affinity
from schedweb.runs.filtering.filters import NodeFacts, Wanted, holds
from schedweb.runs.filtering.places import CORDON_TAINT, Places, Step, untolerated
from schedweb.runs.filtering.volume_places import reaches
from schedweb.runs.pending.claim_answers import no_volume_there, volume_place
from schedweb.runs.pending.in_the_way import some, where
from schedweb.runs.pending.mistyped import (
    alternatives_of,
    asked_words,
    did_you_mean,
    hints_of,
    is_equality,
    labels_mistyped,
    requirement_words,
    tolerations_mistyped,
)
from schedweb.sentences import both, clauses, counted, either, forms, one_after_another, say

Explanation = tuple[str, str]
_SHORT: Final = {
    Step.LABELS: forms(
        "{count} does not match its node affinity or selector", "{count} do not match its node affinity or selector"
    ),
    Step.VOLUMES: forms("{count} cannot reach its volumes", "{count} cannot reach its volumes"),
    Step.BESIDE: forms("{count} does not satisfy its pod affinity", "{count} do not satisfy its pod affinity"),
    Step.CORDON: forms("{count} is cordoned", "{count} are cordoned"),
    Step.TAINT: forms("{count} has a taint that it does not tolerate", "{count} have taints that it does not tolerate"),
}


def kept_off(places: Places, steps: Iterable[Step] = Step) -> str:
    """Nodes that it may not use: ``6 of 36 nodes do not match its node affinity or selector, 1 is cordoned.``"""
    counts = {step: len(places.kept_off[step]) for step in steps if step in places.kept_off}
    if not counts:
        return ""
    first, *others = [counted(*_SHORT[step], count) for step, count in counts.items()]
    # Every one of these texts begins with its count.
    how_many, _, text = first.partition(" ")
    whole = say("{count} of {total} nodes {text}", count=how_many, total=places.total, text=text)
    return say("{clauses}.", clauses=clauses([whole, *others]))


def no_place(places: Places) -> Explanation:
    """Of a pod that may use no node: what to mend first, and what comes after it."""
    matching = places.total - len(places.kept_off.get(Step.LABELS, ()))
    if matching == 0:
        headline, detail = no_label(places)
        alone = companions_missing(places)
        slips = [*labels_mistyped(places, but=detail), *tolerations_mistyped(places)]
        return headline, one_after_another([detail, *slips, alone[0] if alone else ""])
    headline, detail = _beyond_labels(places)
    return headline, one_after_another([detail, mistyped(places)])


def mistyped(places: Places) -> str:
    """Of a pod some of whose labels are on nodes: what of the others, and of its tolerations, looks mistyped."""
    return one_after_another([*labels_mistyped(places), *tolerations_mistyped(places)])


def _beyond_labels(places: Places) -> Explanation:
    closed = [*places.kept_off.get(Step.CORDON, ()), *places.kept_off.get(Step.TAINT, ())]
    if closed:
        steps = (Step.LABELS, Step.VOLUMES, Step.BESIDE)
        cordons, taints = places.kept_off.get(Step.CORDON, ()), places.kept_off.get(Step.TAINT, ())
        return _closed(places, cordons, taints, steps), kept_off(places, steps)
    if beside := places.kept_off.get(Step.BESIDE):
        rest = kept_off(places, (Step.LABELS, Step.VOLUMES))
        if missing := companions_missing(places):
            return missing[0], one_after_another([missing[1], rest])
        headline, detail = companions_elsewhere(places)
        cordoned, tainted = places.shut(beside)
        if len(cordoned) + len(tainted) == len(beside) and Step.VOLUMES not in places.kept_off:
            # What pod affinity says of nodes that it may use would be said of none.
            first = _closed(places, cordoned, tainted, (Step.LABELS,))
            return first, one_after_another([headline, detail, rest])
        return headline, one_after_another([detail, rest])
    return volumes_elsewhere(places), kept_off(places, (Step.LABELS,))


def volumes_elsewhere(places: Places) -> str:
    """Of a pod that can reach its volumes, or have one, on none of the nodes that match."""
    nodes = places.standing.nodes.values()
    for one, volume in places.bound:
        if not any(reaches(volume, node) for node in nodes):
            return volume_place(one, deserted=True)
    for each in places.unbound:
        if not any(each.reaches(node) for node in nodes):
            return no_volume_there(each.claim, each.volumes, each.terms)
    if places.bound:
        return volume_place(places.bound[0][0], deserted=False)
    return say("No node that it may use can have its volumes.")


# --- labels -----------------------------------------------------------------------------------------------------------


def no_label(places: Places) -> Explanation:
    nodes = list(places.standing.nodes.values())
    required = required_node_affinity(places.pod)
    named = [
        value
        for term in required.terms or ()
        for each in term.fields
        if each.key == METADATA_NAME and each.operator == IN
        for value in each.values
    ]
    if named and not any(node.metadata.name in named for node in nodes):
        alike = did_you_mean(named, [node.metadata.name for node in nodes])
        return say("It may run only on {name}, and no node is called that.", name=either(named)), alike
    if any(required.matches(node.metadata.labels, node.metadata.name) for node in nodes) or required.is_empty:
        return say("No node has the labels that its profile asks for."), ""
    if required.terms == ():
        return say("Its node affinity has only empty terms, and an empty term matches no node."), ""
    alternatives = alternatives_of(required)
    asked = asked_words(alternatives)
    plain = len(alternatives) == 1 and all(is_equality(each) or each.operator == EXISTS for each in alternatives[0])
    headline = say("No node has {labels}.", labels=asked) if plain else say("No node matches {labels}.", labels=asked)
    hints = [hint for each in alternatives for hint in hints_of(each, nodes)]
    return headline, one_after_another(list(dict.fromkeys(hints)))


# --- companions -------------------------------------------------------------------------------------------------------


def companions_missing(places: Places) -> Explanation | None:
    """Of a pod that must run beside pods of which none is placed."""
    if not places.terms or places.companions or places.is_its_own_companion:
        return None
    placed = [each for each in places.standing.pods if each.node]
    lonely = [term for term in places.terms if not any(places.means(term, each) for each in placed)]
    if not lonely:
        selectors = both(list(dict.fromkeys(str(term.selector) for term in places.terms)))
        return say("No pod has {labels} at once; its pod affinity asks for one.", labels=selectors), ""
    term = lonely[0]
    if term.selector.nothing:
        return say("Its pod affinity has no label selector, so it means no pod."), ""
    labels = str(term.selector) or say("any label")
    waiting = [each.key for each in places.standing.pods if not each.node and places.means(term, each)]
    asks = {"labels": labels, "where": where(term.topology_key)}
    if waiting:
        headline = say("No placed pod has {labels}; its pod affinity asks for one {where}.", **asks)
        return headline, counted(
            "{pods} has it and is not placed either.",
            "{pods} have it and are not placed either.",
            len(waiting),
            pods=some(waiting),
        )
    headline = say("No pod has {labels}; its pod affinity asks for one {where}.", **asks)
    elsewhere = sorted({each.namespace for each in placed if term.selector.matches(each.labels)})
    if elsewhere:
        seen = sorted({each.namespace for each in places.standing.pods} & term.namespaces) or sorted(term.namespaces)
        return say(
            "No pod in namespace {seen} has {labels}; its pod affinity asks for one {where}.", seen=either(seen), **asks
        ), say("Pods with it are in {namespaces}.", namespaces=some(elsewhere))
    return headline, _alike_label(term.selector.requirements, [each.labels for each in placed])


def _alike_label(asked: Iterable[Requirement], labels: Sequence[Mapping[str, str]]) -> str:
    for one in asked:
        if is_equality(one):
            alike = meant(one.values[0], {each[one.key] for each in labels if one.key in each})
            if alike:
                return say("Did you mean {name}?", name=f"{one.key}={alike}")
            key = meant_key(one.key, {key for each in labels for key in each})
            if any(each.get(key) == one.values[0] for each in labels):
                return say("Did you mean {name}?", name=f"{key}={one.values[0]}")
    return ""


def companions_elsewhere(places: Places) -> Explanation:
    """Of a pod whose companions are where it may not be."""
    keys = list(dict.fromkeys(term.topology_key for term in places.terms))
    known = {key for node in places.standing.nodes.values() for key in node.metadata.labels}
    nowhere = [key for key in keys if key not in known]
    if nowhere or not places.companions:
        alike = [each for key in keys if (each := meant_key(key, known))]
        guess = say("Did you mean {name}?", name=both(alike)) if alike else ""
        if nowhere:
            return say("No node has the label {key}, which its pod affinity names.", key=either(nowhere)), guess
        return say("No node that it may use has the label {key}, which its pod affinity names.", key=both(keys)), guess
    at = [say("{pod} on {node}", pod=each.key, node=each.node) for each in places.companions]
    headline = say(
        "Its pod affinity asks for a place {where} as {pods}, and no node that it may use is there.",
        where=both(list(dict.fromkeys(where(term.topology_key) for term in places.terms))),
        pods=some(at),
    )
    return headline, ""


# --- cordons and taints -----------------------------------------------------------------------------------------------


def _closed(places: Places, cordons: Sequence[str], tainted: Sequence[str], steps: Sequence[Step]) -> str:
    """Of nodes that pass ``steps``, all cordoned or tainted."""
    nodes = places.standing.nodes
    names, cordoned = [*cordons, *tainted], len(cordons)
    taints = Counter(taint for name in tainted if name in nodes for taint in taint_words(places, nodes[name]))
    one = len(names) == 1
    which = which_nodes(places, steps, one=one)
    if cordoned == len(names):
        if one:
            return say("{nodes} is cordoned.", nodes=_the_only(which, names[0]))
        return say("{nodes} are cordoned.", nodes=_all(which, len(names)))
    if cordoned == 0 and len(taints) == 1 and taints.total() == len(names):
        [taint] = taints
        if one:
            return say(
                "{nodes} has the taint {taint}, which it does not tolerate.",
                nodes=_the_only(which, names[0]),
                taint=taint,
            )
        return say(
            "{nodes} have the taint {taint}, which it does not tolerate.", nodes=_all(which, len(names)), taint=taint
        )
    if cordoned == 0:
        text = some([f"{taint} ({count})" if not one else taint for taint, count in taints.most_common()])
        if one:
            return say(
                "{nodes} has taints that it does not tolerate: {taints}.", nodes=_the_only(which, names[0]), taints=text
            )
        return say(
            "{nodes} have taints that it does not tolerate: {taints}.", nodes=_all(which, len(names)), taints=text
        )
    return say(
        "{nodes} are closed to it: {cordoned}, {tainted} ({taints}).",
        nodes=_all(which, len(names)),
        cordoned=counted(*_SHORT[Step.CORDON], cordoned),
        tainted=counted(*_SHORT[Step.TAINT], len(names) - cordoned),
        taints=some(list(taints)),
    )


def taint_words(places: Places, node: Node) -> list[str]:
    found = untolerated(places.pod, node)
    worth_naming = [each for each in found if each.key != CORDON_TAINT] or found
    return [f"{each.key}{f'={each.value}' if each.value else ''}:{each.effect}" for each in worth_naming]


def which_nodes(places: Places, steps: Sequence[Step], *, one: bool) -> str:
    """``with pool=gpu``: what ``steps`` ask for of a node; "" when it is every node."""
    narrowing = [step for step in steps if step in places.kept_off]
    if not narrowing:
        return ""
    if narrowing == [Step.VOLUMES]:
        return say("that can reach its volumes")
    if narrowing == [Step.BESIDE]:
        return say("that its pod affinity allows")
    if narrowing != [Step.LABELS]:
        return say("that it asks for")
    required = required_node_affinity(places.pod)
    if required.terms is None and all(is_equality(each) for each in required.labels.requirements):
        return say("with {labels}", labels=both([requirement_words(each) for each in required.labels.requirements]))
    terms = alternatives_of(required)
    if len(terms) != 1:
        return say("that it asks for")
    labels = asked_words(terms)
    return say("that matches {labels}", labels=labels) if one else say("that match {labels}", labels=labels)


def _the_only(which: str, node: str) -> str:
    if which:
        return say("The only node {which}, {node},", which=which, node=node)
    return say("The only node, {node},", node=node)


def _all(which: str, count: int) -> str:
    if count == 2:
        return say("Both nodes {which}", which=which) if which else say("Both nodes")
    return (
        counted("All {count} nodes {which}", "All {count} nodes {which}", count, which=which)
        if which
        else counted("All {count} nodes", "All {count} nodes", count)
    )


# --- nodes that would be large enough ---------------------------------------------------------------------------------


class Closed(NamedTuple):
    words: str
    """A sentence about nodes that are cordoned or tainted and have room; "" without one."""
    only: bool
    """No other node is large enough, even without the pods that are there."""
    nodes: int


def large_but_closed(places: Places, facts: Mapping[str, NodeFacts], wanted: Wanted) -> Closed:
    closed = [*places.kept_off.get(Step.CORDON, ()), *places.kept_off.get(Step.TAINT, ())]
    large = [name for name in closed if name in facts and holds(facts[name], wanted, free=False)]
    only = not any(holds(facts[name], wanted, free=False) for name in places.names if name in facts)
    roomy = [name for name in large if holds(facts[name], wanted, free=True)]
    shown = large if only else roomy
    if not shown:
        return Closed("", False, 0)
    nodes = places.standing.nodes
    why = {
        name: say("is cordoned")
        if name in places.kept_off.get(Step.CORDON, ())
        else say("has the taint {taint}", taint=both(taint_words(places, nodes[name])))
        for name in shown
        if name in nodes
    }
    named = some([say("{node} {why}", node=name, why=text) for name, text in why.items()])
    if only:
        words = counted(
            "Only {count} node is large enough, and it is closed to this pod: {named}.",
            "Only {count} nodes are large enough, and they are closed to this pod: {named}.",
            len(shown),
            named=named,
        )
    else:
        words = counted(
            "{count} node with room is closed to it: {named}.",
            "{count} nodes with room are closed to it: {named}.",
            len(shown),
            named=named,
        )
    return Closed(words, only, len(shown))
