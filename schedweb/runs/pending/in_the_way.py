"""Sentences about the pods that keep a pod off nodes it may use: host ports, pod anti-affinity, topology spread."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from framework.interface import PodInfo
from framework.interface.affinity_terms import AffinityTerm
from framework.interface.node_info import WILDCARD_IP, HostPort
from framework.objects import Node, Pod
from framework.objects.selectors import SelectorError, required_node_affinity
from framework.plugins.podtopologyspread.constraints import DO_NOT_SCHEDULE, HOSTNAME, Constraint, constraints_of
from schedweb.runs.filtering.places import Places, untolerated
from schedweb.runs.filtering.standing import Standing, StandingPod
from schedweb.runs.objects.selectors import ZONE
from schedweb.sentences import both, counted, either, one_after_another, say

Explanation = tuple[str, str]
NAMED: Final = 3
"""Pods, nodes and the like that a sentence names; the rest are counted."""
OWN: Final = "didn't match pod anti-affinity rules"
OTHERS: Final = "didn't satisfy existing pods anti-affinity rules"


def some(words: Sequence[str], named: int = NAMED) -> str:
    """``a, b, c and 4 more``"""
    rest = len(words) - named
    return both([*words[:named], *([say("{count} more", count=rest)] if rest > 0 else [])])


def where(key: str) -> str:
    """Of a topology key: where pods are together."""
    if key == HOSTNAME:
        return say("on the same node")
    return say("in the same zone") if key == ZONE else say("with the same {key}", key=key)


def domain(key: str) -> str:
    """One of a topology key's values."""
    if key == HOSTNAME:
        return say("node")
    return say("zone") if key == ZONE else key


def labelled(terms: Iterable[AffinityTerm]) -> str:
    """The pods that terms mean."""
    return either(list(dict.fromkeys(str(term.selector) or say("any label") for term in terms)))


# --- host ports -------------------------------------------------------------------------------------------------------


def holders_of_ports(places: Places, names: Iterable[str]) -> dict[str, dict[str, list[StandingPod]]]:
    """Node → port → pods that hold it there, of the ports that the pod asks for."""
    wanted, on = PodInfo(places.pod).host_ports, set(names)
    found: dict[str, dict[str, list[StandingPod]]] = {}
    for each in places.standing.pods:
        if each.node in on:
            held = PodInfo(each.pod).host_ports
            for port in wanted:
                if any(conflict(port, other) for other in held):
                    found.setdefault(each.node, {}).setdefault(port_words(port), []).append(each)
    return found


def conflict(one: HostPort, other: HostPort) -> bool:
    same_ip = one.ip == other.ip or WILDCARD_IP in (one.ip, other.ip)
    return same_ip and one.protocol == other.protocol and one.port == other.port


def port_words(port: HostPort) -> str:
    text = str(port.port) if port.protocol == "TCP" else f"{port.port}/{port.protocol}"
    return text if port.ip == WILDCARD_IP else f"{port.ip}:{text}"


def ports_taken(places: Places, names: Sequence[str]) -> Explanation:
    held = holders_of_ports(places, names)
    taken = {port for by_port in held.values() for port in by_port}
    ports = [words for words in map(port_words, PodInfo(places.pod).host_ports) if words in taken]
    if not ports:
        return say("Its host ports are taken on every node that it may use."), ""
    headline = counted(
        "Its host port {ports} is taken on every node that it may use.",
        "Its host ports {ports} are taken on every node that it may use.",
        len(ports),
        ports=both(ports),
    )
    return headline, holders_words(held)


def holders_words(held: Mapping[str, Mapping[str, list[StandingPod]]]) -> str:
    """``shop/web-1 has 80 on n1, shop/web-2 has 80 on n2, …``"""
    parts = [
        say("{pod} has {port} on {node}", pod=each.key, port=port, node=node)
        for node, by_port in held.items()
        for port, pods in by_port.items()
        for each in pods
    ]
    return say("{text}.", text=some(parts)) if parts else ""


# --- pod anti-affinity ------------------------------------------------------------------------------------------------


@dataclass
class InTheWay:
    own: dict[str, list[StandingPod]]
    """Node → pods from which the pod keeps away."""
    others: dict[str, list[StandingPod]]
    """Node → pods that keep the pod away."""
    terms: dict[str, list[AffinityTerm]]
    """Of a pod of ``others``, by its key: those that mean this pod."""


def in_the_way(places: Places, names: Iterable[str]) -> InTheWay:
    pod, nodes = places.pod, places.standing.nodes
    there = {name: nodes[name] for name in names if name in nodes}
    wants = PodInfo(pod).affinity_terms.required_anti
    labels = places.namespace_labels(pod.metadata.namespace)
    found = InTheWay({}, {}, {})
    for each in places.standing.pods:
        if each.node not in nodes:
            continue
        home = nodes[each.node]
        if keys := {term.topology_key for term in wants if places.means(term, each)}:
            _note(found.own, there, home, keys, each)
        if each.names_anti_affinity:
            terms = [
                term
                for term in PodInfo(each.pod).affinity_terms.required_anti
                if term.matches(pod.metadata.namespace, pod.metadata.labels, labels)
            ]
            if terms and _note(found.others, there, home, {term.topology_key for term in terms}, each):
                found.terms[each.key] = terms
    return found


def _note(
    found: dict[str, list[StandingPod]], nodes: Mapping[str, Node], home: Node, keys: set[str], pod: StandingPod
) -> bool:
    """Notes ``pod`` with the nodes that share a domain with its own; whether there was one."""
    near = [name for name, node in nodes.items() if any(shares(home, node, key) for key in keys)]
    for name in near:
        found.setdefault(name, []).append(pod)
    return bool(near)


def shares(one: Node, other: Node, key: str) -> bool:
    value = one.metadata.labels.get(key)
    return value is not None and other.metadata.labels.get(key) == value


def distinct(found: Mapping[str, list[StandingPod]]) -> list[StandingPod]:
    return list({each.key: each for pods in found.values() for each in pods}.values())


def held_off(places: Places, names: Sequence[str]) -> Explanation | None:
    """Of a pod that anti-affinity keeps off all ``names``, its own, that of pods that are there, or both."""
    found = in_the_way(places, names)
    if all(name in found.own for name in names):
        return _keeps_away(places, found)
    if all(name in found.others for name in names):
        return _is_kept_away(found)
    if found.own or found.others:
        headline = say("Pod anti-affinity keeps it off every node that it may use.")
        return headline, in_the_way_words(found)
    return None


def _keeps_away(places: Places, found: InTheWay) -> Explanation:
    terms = PodInfo(places.pod).affinity_terms.required_anti
    pods = distinct(found.own)
    [*keys] = dict.fromkeys(term.topology_key for term in terms)
    if len(keys) > 1:
        headline = say(
            "Its pod anti-affinity keeps it away from pods with {labels}, and every node that it may use is near one.",
            labels=labelled(terms),
        )
        return headline, in_the_way_words(found)
    metadata = places.pod.metadata
    itself = StandingPod(metadata.namespace, metadata.name, metadata.labels, "", b"")
    every = {"labels": labelled(terms), "domain": domain(keys[0])}
    if all(places.means(term, itself) for term in terms):
        headline = say(
            "Its pod anti-affinity allows one pod with {labels} per {domain}, "
            "and every {domain} that it may use has one.",
            **every,
        )
    else:
        headline = say(
            "Its pod anti-affinity keeps it away from pods with {labels}, and every {domain} that it may use has one.",
            **every,
        )
    return headline, say("{text}.", text=some(stand(places, pods, keys[0])))


def stand(places: Places, pods: Iterable[StandingPod], key: str) -> list[str]:
    """``shop/web-1 is on n1``, ``shop/web-1 is in eu-1a``"""
    nodes = places.standing.nodes
    return [
        say("{pod} is on {node}", pod=each.key, node=each.node)
        if key == HOSTNAME
        else say("{pod} is in {domain}", pod=each.key, domain=nodes[each.node].metadata.labels.get(key, each.node))
        for each in pods
    ]


def _is_kept_away(found: InTheWay) -> Explanation:
    pods = distinct(found.others)
    named = some([each.key for each in pods])
    headline = say("The pod anti-affinity of {pods} keeps it off every node that it may use.", pods=named)
    first = pods[0]
    term = found.terms[first.key][0]
    return headline, say(
        "{pod} on {node} wants no pod with {labels} {where}.",
        pod=first.key,
        node=first.node,
        labels=labelled([term]),
        where=where(term.topology_key),
    )


def in_the_way_words(found: InTheWay) -> str:
    own, others = distinct(found.own), distinct(found.others)
    return one_after_another(
        [
            say("It keeps away from {pods}.", pods=some([_at(each) for each in own])) if own else "",
            counted(
                "{pods} keeps it away by its own anti-affinity.",
                "{pods} keep it away by their own anti-affinity.",
                len(others),
                pods=some([_at(each) for each in others]),
            )
            if others
            else "",
        ]
    )


def _at(pod: StandingPod) -> str:
    return say("{pod} on {node}", pod=pod.key, node=pod.node)


# --- topology spread --------------------------------------------------------------------------------------------------


@dataclass
class Spread:
    constraint: Constraint
    counts: dict[str, int]
    """Domain → pods there that count."""
    itself: int
    """1 when the pod would count, too."""

    @property
    def least(self) -> int:
        """What a domain is held against: 0 as long as there are fewer domains than ``minDomains``."""
        enough = len(self.counts) >= self.constraint.min_domains
        return min(self.counts.values(), default=0) if enough else 0

    def allows(self, domain: str) -> bool:
        return self.counts[domain] + self.itself - self.least <= self.constraint.max_skew

    @property
    def open(self) -> list[str]:
        return sorted(each for each in self.counts if self.allows(each))


def _hard(pod: Pod) -> Sequence[Constraint]:
    """Its own constraints with whenUnsatisfiable DoNotSchedule."""
    try:
        return constraints_of(pod.spec.topology_spread_constraints, pod.metadata.labels, DO_NOT_SCHEDULE)
    except SelectorError:
        return ()


def unspread_key(places: Places, name: str) -> str:
    """The first topology key of the pod's own constraints that a node has no label for; "" when it has all."""
    node = places.standing.nodes.get(name)
    keys = [each.topology_key for each in _hard(places.pod)]
    return next((key for key in keys if node is not None and key not in node.metadata.labels), "")


def spreads(places: Places) -> list[Spread]:
    """Of the pod's own constraints with whenUnsatisfiable DoNotSchedule."""
    pod, standing = places.pod, places.standing
    metadata, constraints = pod.metadata, _hard(pod)
    keys, required = [each.topology_key for each in constraints], required_node_affinity(pod)
    found = []
    for constraint in constraints:
        counts: dict[str, int] = {}
        counting = {}
        for name, node in standing.nodes.items():
            labels = node.metadata.labels
            if any(key not in labels for key in keys):
                continue
            if constraint.honor_affinity and not required.matches(labels, name):
                continue
            if constraint.honor_taints and untolerated(pod, node):
                continue
            counting[name] = labels[constraint.topology_key]
            counts.setdefault(counting[name], 0)
        for each in _counted_pods(constraint, metadata.namespace, standing):
            if each.node in counting:
                counts[counting[each.node]] += 1
        found.append(Spread(constraint, counts, int(constraint.selector.matches(metadata.labels))))
    return found


def _counted_pods(constraint: Constraint, namespace: str, standing: Standing) -> list[StandingPod]:
    """Terminating pods do not count, and an empty selector means nobody."""
    if constraint.selector.is_empty:
        return []
    return [
        each
        for each in standing.pods
        if each.namespace == namespace
        and constraint.selector.matches(each.labels)
        and not each.pod.metadata.deletion_timestamp
    ]


def would_skew(places: Places, names: Sequence[str]) -> Explanation | None:
    """Of a pod that its spreading keeps off all ``names``."""
    nodes = places.standing.nodes
    for spread in spreads(places):
        key, constraint = spread.constraint.topology_key, spread.constraint
        values = {name: nodes[name].metadata.labels.get(key) for name in names if name in nodes}
        if values and all(value is None for value in values.values()):
            return say("No node that it may use has the label {key}, over which it is to be spread.", key=key), ""
        if any(value is None or (value in spread.counts and spread.allows(value)) for value in values.values()):
            continue
        counts = say("Such pods: {counts}.", counts=_counts(spread))
        if not spread.open:
            headline = say(
                "Its topology spread over {key} asks for at least {least} domains before any of them takes more.",
                key=key,
                least=constraint.min_domains,
            )
            return headline, counts
        headline = say(
            "Its topology spread over {key} (maxSkew {skew}) leaves it only {domains}, "
            "and there is no node there that it may use.",
            key=key,
            skew=constraint.max_skew,
            domains=_some_domains(spread.open),
        )
        return headline, one_after_another([counts, _closed_domains(places, spread)])
    return None


def _counts(spread: Spread) -> str:
    ordered = sorted(spread.counts.items(), key=lambda item: (-item[1], item[0]))
    return some([say("{domain} has {count}", domain=name, count=count) for name, count in ordered], 2 * NAMED)


def _some_domains(domains: Sequence[str]) -> str:
    return either([*domains[:NAMED], *([say("{count} more", count=len(domains) - NAMED)] if domains[NAMED:] else [])])


def _closed_domains(places: Places, spread: Spread) -> str:
    """Where every node of the open domains is tainted or cordoned, they count all the same."""
    nodes, key = places.standing.nodes, spread.constraint.topology_key
    there = [node for node in nodes.values() if node.metadata.labels.get(key) in spread.open]
    if spread.constraint.honor_taints or not all(
        node.spec.unschedulable or untolerated(places.pod, node) for node in there
    ):
        return ""
    return say("Nodes that are cordoned or tainted count as well, unless nodeTaintsPolicy is Honor.")


def spread_words(places: Places) -> str:
    """For a pod whose nodes several plugins refuse."""
    return one_after_another(
        [
            say(
                "By its topology spread over {key} it may go only to {domains}.",
                key=each.constraint.topology_key,
                domains=_some_domains(each.open),
            )
            for each in spreads(places)
            if each.open and len(each.open) < len(each.counts)
        ]
    )
