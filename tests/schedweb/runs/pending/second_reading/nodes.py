"""Labels, cordons and taints."""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.schedweb.runs.pending.second_reading.cluster import Cluster, Manifest, words
from tests.schedweb.runs.pending.second_reading.sentences import says


def unquoted(said: str) -> str:
    """An empty value is written "" so that it is seen."""
    return said.replace('""', "")


@says(r"Its node affinity has only empty terms, and an empty term matches no node\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    required = pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    return not any(required["nodeSelectorTerms"])


@says(r"No node has the label (?P<key>\S+), over which it is to be spread\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    return not any(m["key"] in c.labels(node) for node in c.nodes if c.may_use(pod, node))


@says(
    r"No node that it may use has the label (?P<key>\S+), (over which it is to be spread|which its pod affinity names)\."
)
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    named = [
        each["topologyKey"]
        for each in [*pod["spec"].get("topologySpreadConstraints", []), *c.terms(pod, "podAffinity")]
    ]
    return m["key"] in named and not any(m["key"] in c.labels(node) for node in c.nodes if c.matches(pod, node))


@says(r"No node has the label (?P<key>\S+), which its pod affinity names\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    named = [each["topologyKey"] for each in c.terms(pod, "podAffinity")]
    return m["key"] in named and not any(m["key"] in c.labels(node) for node in c.nodes)


@says(r"No node has the labels that its profile asks for\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    return bool(c.profile_wants) and not any(c.profile_wants.items() <= c.labels(node).items() for node in c.nodes)


@says(r"No node has the label (?P<key>\S+)\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    return not any(m["key"] in c.labels(node) for node in c.nodes)


@says(r"No node has a label (?P<key>\S+)\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    return not any(m["key"] in c.labels(node) for node in c.nodes)


@says(r"No node has (?P<pairs>\S+=\S+(?: and \S+=\S+)*)\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    pairs = [unquoted(each).split("=") for each in m["pairs"].split(" and ")]
    return not any(all(c.value(node, key) == value for key, value in pairs) for node in c.nodes)


@says(r"No node matches (?P<what>.+?)\.(?= |$)")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    required = pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    keys = [each["key"] for term in required["nodeSelectorTerms"] for each in term["matchExpressions"]]
    return all(key in m["what"] for key in keys) and not any(c.matches(pod, node) for node in c.nodes)


@says(r"Did you mean (?P<name>\S+)\?")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    holders = [*c.nodes.values(), *c.pods.values()]
    labels = [pair for each in holders for pair in each["metadata"].get("labels", {}).items()]
    known = {word for key, value in labels for word in (key, value, f"{key}={value}")}
    return m["name"] in known or m["name"] in c.nodes


@says(r"No node has (?P<key>[^\s=]+)=(?P<value>\S+); did you mean (?P<name>\S+)\?")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    key, _, value = m["name"].rpartition("=")
    there = any(c.value(node, key or m["key"]) == value for node in c.nodes)
    asked = m["value"] in str(pod["spec"]) and not any(c.value(node, m["key"]) == m["value"] for node in c.nodes)
    return there and asked


@says(r"It tolerates (?P<given>\S+); did you mean (?P<taint>\S+)\?")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    given = [
        f"{each['key']}{'=' + each['value'] if each.get('value') else ''}"
        f"{':' + each['effect'] if each.get('effect') else ''}"
        for each in pod["spec"]["tolerations"]
    ]
    left = [taint for node in c.nodes for taint in c.taints(pod, node)]
    return m["given"] in given and any(taint.startswith(m["taint"]) for taint in left)


@says(r"It tolerates (?P<given>\S+); nodes have (?P<taints>.+?)\.(?= |$)")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    left = {taint for node in c.nodes for taint in c.taints(pod, node)}
    key, _, value = m["given"].partition(":")[0].partition("=")
    given = any((each["key"], each.get("value", "")) == (key, value) for each in pod["spec"]["tolerations"])
    return given and set(words(m["taints"])) <= left


@says(r"It tolerates (?P<taint>\S+) with effect (?P<given>\S+) only; the taint has (?P<effect>\S+)\.(?= |$)")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    left = [taint for node in c.nodes for taint in c.taints(pod, node)]
    return f"{m['taint']}:{m['effect']}" in left and m["given"] in [
        each.get("effect") for each in pod["spec"]["tolerations"]
    ]


@says(r"For (?P<key>\S+) nodes have (?P<values>.+?)\.(?= |$)")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    there = {c.labels(node)[m["key"]] for node in c.nodes if m["key"] in c.labels(node)}
    return {unquoted(each) for each in words(m["values"])} == there


@says(r"Each alone is on some node: (?P<counts>.+?)\.(?= |$)")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    for said in m["counts"].split(", "):
        pair, count = said.split(" on ")
        key, value = unquoted(pair).split("=")
        if sum(c.value(node, key) == value for node in c.nodes) != int(count):
            return False
    return True


@says(r"It may run only on (?P<name>\S+), and no node is called that\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    return m["name"] not in c.nodes and m["name"] in str(pod["spec"]["affinity"])


# --- cordons and taints -----------------------------------------------------------------------------------------------

SUBJECT = r"(?:The only node(?P<which1>.*?), (?P<node>\S+),|(?:Both|All (?P<count>\d+)) nodes(?P<which2>.*?)) (?:is|has|are|have) "


def spoken_of(c: Cluster, pod: Manifest, m: re.Match[str]) -> list[str]:
    """The nodes of a subject like "All 3 nodes with pool=gpu"; none when their number or name is wrong."""
    which = m["which1"] or m["which2"] or ""
    if not which:
        nodes = list(c.nodes)
    elif which == " that it asks for":
        nodes = [node for node in c.nodes if c.asked(pod, node)]
    elif which == " that can reach its volumes":
        nodes = [node for node in c.nodes if c.volumes_there(pod, node)]
    elif which == " that its pod affinity allows":
        nodes = [node for node in c.nodes if c.beside(pod, node)]
    elif which.startswith(" with "):
        pairs = [unquoted(each).split("=") for each in which.removeprefix(" with ").split(" and ")]
        nodes = [node for node in c.nodes if all(c.value(node, key) == value for key, value in pairs)]
    else:
        nodes = [node for node in c.nodes if c.matches(pod, node)]
    right = nodes == [m["node"]] if m["node"] else len(nodes) == int(m["count"] or 2)
    return nodes if right else []


@says(SUBJECT + r"cordoned\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    nodes = spoken_of(c, pod, m)
    return bool(nodes) and all(c.cordoned(node) for node in nodes)


@says(SUBJECT + r"the taint (?P<taint>\S+), which it does not tolerate\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    nodes = spoken_of(c, pod, m)
    return bool(nodes) and all(c.taints(pod, node) == [m["taint"]] for node in nodes)


@says(SUBJECT + r"taints that it does not tolerate: (?P<taints>.+?)\.(?= |$)")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    nodes = spoken_of(c, pod, m)
    there = [each for node in nodes for each in c.taints(pod, node)]
    for said in words(m["taints"]):
        taint, _, count = said.partition(" (")
        if there.count(taint) != int(count.rstrip(")") or 1):
            return False
    return bool(nodes) and all(c.taints(pod, node) for node in nodes)


@says(
    SUBJECT
    + r"closed to it: (?P<cordoned>\d+) (?:is|are) cordoned, (?P<tainted>\d+) (?:has a taint|have taints) that it does not tolerate \((?P<taints>.+?)\)\."
)
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    nodes = spoken_of(c, pod, m)
    cordoned = [node for node in nodes if c.cordoned(node)]
    tainted = [node for node in nodes if node not in cordoned and c.taints(pod, node)]
    right = (len(cordoned), len(tainted)) == (int(m["cordoned"]), int(m["tainted"]))
    return right and set(words(m["taints"])) == {each for node in tainted for each in c.taints(pod, node)}


KEPT: dict[str, Callable[[Cluster, Manifest, str], bool]] = {
    "node affinity or selector": lambda c, pod, node: not c.matches(pod, node),
    "reach its volumes": lambda c, pod, node: not c.volumes_there(pod, node),
    "satisfy its pod affinity": lambda c, pod, node: not c.beside(pod, node),
    "cordoned": lambda c, pod, node: c.cordoned(node),
    "does not tolerate": lambda c, pod, node: bool(c.taints(pod, node)),
}


@says(
    r"(?P<first>\d+) of (?P<total>\d+) nodes (?P<rest>(?:does|do|cannot|is|are|has|have) [^;]*?(?:selector|volumes|affinity|cordoned|tolerate)(?:, \d+ [^;]*?(?:selector|volumes|affinity|cordoned|tolerate))*)\."
)
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    """Each clause speaks of nodes of which none before it spoke."""
    left = list(c.nodes)
    if int(m["total"]) != len(left):
        return False
    for clause in f"{m['first']} {m['rest']}".split(", "):
        count, _, said = clause.partition(" ")
        [reason] = [reason for end, reason in KEPT.items() if said.endswith(end)]
        gone = [node for node in left if reason(c, pod, node)]
        if len(gone) != int(count):
            return False
        left = [node for node in left if node not in gone]
    return True


@says(
    r"Only (?P<count>\d+) nodes? (?:is|are) large enough, and (?:it is|they are) closed to this pod: (?P<named>.+?)\.(?= |$)"
)
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    large = [node for node in c.nodes if c.asked(pod, node) and c.large(pod, node)]
    return len(large) == int(m["count"]) and closed_as_said(c, pod, large, m["named"])


@says(r"(?P<count>\d+) nodes? with room (?:is|are) closed to it: (?P<named>.+?)\.(?= |$)")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    closed = [node for node in c.nodes if c.asked(pod, node) and not c.may_use(pod, node) and c.roomy(pod, node)]
    return len(closed) == int(m["count"]) and closed_as_said(c, pod, closed, m["named"])


def closed_as_said(c: Cluster, pod: Manifest, nodes: list[str], named: str) -> bool:
    found = re.findall(r"(\S+) (is cordoned|has the taint (\S+?))(?=,| and |$)", named)
    return bool(found) and all(
        node in nodes and (c.cordoned(node) if why == "is cordoned" else taint in c.taints(pod, node))
        for node, why, taint in found
    )
