"""Amounts."""

from __future__ import annotations

import re

from tests.schedweb.runs.pending.second_reading.cluster import Cluster, Manifest, quantity, words
from tests.schedweb.runs.pending.second_reading.sentences import says

WHOSE = r"(?P<whose>No node that it may use|None of the (?P<n>\d+) nodes that it may use|No node)"


def whose(c: Cluster, pod: Manifest, m: re.Match[str]) -> list[str]:
    """The nodes of "No node", "No node that it may use", "None of the 3 nodes that it may use"."""
    if m["whose"] == "No node":
        return list(c.nodes)
    nodes = [node for node in c.nodes if c.may_use(pod, node)]
    assert len(nodes) == int(m["n"] or 1), nodes
    return nodes


def resource(pod: Manifest, unit: str) -> str:
    if unit in ("GPU", "GPUs"):
        return next(name for name in Cluster.asks(pod) if name.endswith("/gpu"))
    return "pods" if unit == "pod" else unit


def close(one: float, other: float) -> bool:
    return abs(one - other) < 1e-6


@says(WHOSE + r" has free (?P<unit>\S+); it asks for (?P<wanted>[\d.,]+(?: \wi)?) \S+\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    name = resource(pod, m["unit"])
    nodes = whose(c, pod, m)
    some = any(c.size(node, name) > 0 for node in nodes)
    return (
        some
        and all(c.free(node, name) <= 0 for node in nodes if c.size(node, name) >= c.wanted(pod, name))
        and close(quantity(m["wanted"]), c.wanted(pod, name))
    )


@says(WHOSE + r" has (?P<unit>[^\d\s]\S*); it asks for (?P<wanted>[\d.,]*\d(?: \wi)?)(?: GPUs?)?\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    name = resource(pod, m["unit"])
    return all(c.size(node, name) == 0 for node in whose(c, pod, m)) and close(
        quantity(m["wanted"]), c.wanted(pod, name)
    )


@says(
    r"(?P<whose>No node that it may use|None of the (?P<n>\d+) nodes that it may use|No node) is that large: it asks for (?P<wanted>[\d.,]+(?: \wi)?) (?P<unit>\S+), the largest, (?P<node>\S+), has (?P<has>[\d.,]+(?: \wi)?) \S+\."
)
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    name, nodes = resource(pod, m["unit"]), whose(c, pod, m)
    most = max(c.size(node, name) for node in nodes)
    said = close(quantity(m["has"]), most) and close(c.size(m["node"], name), most) and m["node"] in nodes
    return said and most < c.wanted(pod, name) and close(quantity(m["wanted"]), c.wanted(pod, name))


@says(
    WHOSE
    + r" has (?P<wanted>[\d.,]+(?: \wi)?) free (?P<unit>\S+); the nearest, (?P<node>\S+), has (?P<has>[\d.,]+(?: \wi)?)\."
)
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    name, nodes = resource(pod, m["unit"]), whose(c, pod, m)
    most = max(c.free(node, name) for node in nodes)
    said = close(quantity(m["has"]), c.free(m["node"], name)) and m["node"] in nodes
    reachable = not any(c.may_use(pod, node) and c.large(pod, node) for node in nodes) or c.large(pod, m["node"])
    return said and reachable and most < c.wanted(pod, name) and close(quantity(m["wanted"]), c.wanted(pod, name))


@says(r"Nodes have (?P<names>.+?)\.(?= |$)")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    return all(name not in c.asks(pod) and any(c.size(node, name) for node in c.nodes) for name in words(m["names"]))


@says(
    r"No node(?P<usable> that it may use)? has room for all that it asks for; the nearest, (?P<node>\S+), lacks (?P<missing>.+?)\.(?= |$)"
)
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    usable = [node for node in c.nodes if c.may_use(pod, node)]
    return (
        lacks(c, pod, m["node"], m["missing"])
        and m["node"] in usable
        and not any(c.roomy(pod, node) for node in (usable if m["usable"] else c.nodes))
        and (c.large(pod, m["node"]) or not any(c.large(pod, node) for node in usable))
    )


@says(r"Of those without room (?P<node>\S+) is nearest, short of (?P<missing>.+?)\.(?= |$)")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    return c.may_use(pod, m["node"]) and lacks(c, pod, m["node"], m["missing"])


def lacks(c: Cluster, pod: Manifest, node: str, missing: str) -> bool:
    """``0.3 cpu and 1 Gi memory``: exactly that."""
    said = {}
    for part in words(missing):
        amount, _, unit = part.rpartition(" ")
        said[resource(pod, unit)] = quantity(amount)
    short = {name: c.wanted(pod, name) - c.free(node, name) for name in c.asks(pod)}
    short = {name: amount for name, amount in short.items() if amount > 1e-9}
    return said.keys() == short.keys() and all(close(said[name], short[name]) for name in said)


@says(r"Every node that it may use has as many pods as it may have\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    return all(c.free(node, "pods") < 1 for node in c.nodes if c.may_use(pod, node))


@says(
    r"(?P<having>\d+) of (?P<total>\d+) nodes (?:has|have) (?P<unit>\S+), (?P<enough>\d+) of those (?:has|have) (?P<wanted>[\d.,]+)\."
)
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    name = resource(pod, m["unit"])
    sizes = [c.size(node, name) for node in c.nodes]
    right = (sum(size > 0 for size in sizes), len(sizes)) == (int(m["having"]), int(m["total"]))
    return right and sum(size >= c.wanted(pod, name) for size in sizes) == int(m["enough"])
