"""Host ports, pod (anti-)affinity, topology spread."""

from __future__ import annotations

import re

from tests.schedweb.runs.pending.second_reading.cluster import HOST, ZONE, Cluster, Manifest, words
from tests.schedweb.runs.pending.second_reading.sentences import says


@says(r"Its host ports? (?P<ports>.+?) (?:is|are) taken on every node that it may use\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    ports = {int(each) for each in words(m["ports"])}
    usable = [node for node in c.nodes if c.may_use(pod, node)]
    return ports <= c.ports(pod) and all(any(ports & c.ports(each) for each in c.on(node)) for node in usable)


@says(r"(?P<holders>\S+ has \d+ on \S+?(?:(?:, | and )(?:\S+ has \d+ on \S+?|\d+ more))*)\.(?= |$)")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    found = [re.fullmatch(r"(\S+) has (\d+) on (\S+)", each) for each in words(m["holders"])]
    return all(each and c.places.get(each[1]) == each[3] and int(each[2]) in c.ports(c.pods[each[1]]) for each in found)


@says(
    r"Its pod anti-affinity (?:allows one pod with|keeps it away from pods with) (?P<labels>\S+?)(?: per (?P<domain>\S+))?, and every (?P<every>\S+) that it may use has one\."
)
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    [term] = c.terms(pod, "podAntiAffinity")
    key, value = m["labels"].split("=")
    same = {HOST: "node", ZONE: "zone"}.get(term["topologyKey"], term["topologyKey"]) == m["every"]
    itself = pod["metadata"]["labels"].get(key) == value
    usable = [node for node in c.nodes if c.may_use(pod, node)]
    return same and itself == (m["domain"] is not None) and all(c.kept_away(pod, node)[0] for node in usable)


@says(r"(?P<where>\S+ is (?:on|in) \S+?(?:(?:, | and )(?:\S+ is (?:on|in) \S+?|\d+ more))*)\.(?= |$)")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    for each in words(m["where"]):
        found = re.fullmatch(r"(\S+) is (on|in) (\S+)", each)
        assert found is not None, each
        key, how, place = found.groups()
        if (c.places.get(key) if how == "on" else c.labels(c.places[key]).get(ZONE)) != place:
            return False
    return True


@says(r"The pod anti-affinity of (?P<pods>.+?) keeps it off every node that it may use\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    usable = [node for node in c.nodes if c.may_use(pod, node)]
    all_others = {key for node in usable for key in c.kept_away(pod, node)[1]}
    return set(words(m["pods"])) <= all_others and all(c.kept_away(pod, node)[1] for node in usable)


@says(r"(?P<key>\S+) on (?P<node>\S+) wants no pod with (?P<labels>\S+) (?P<where>.+?)\.(?= |$)")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    keys = {"on the same node": HOST, "in the same zone": ZONE}
    name, value = m["labels"].split("=")
    return c.places[m["key"]] == m["node"] and any(
        term["topologyKey"] == keys[m["where"]] and term["labelSelector"]["matchLabels"].get(name) == value
        for term in c.terms(c.pods[m["key"]], "podAntiAffinity")
    )


@says(r"Pod anti-affinity keeps it off every node that it may use\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    return all(any(c.kept_away(pod, node)) for node in c.nodes if c.may_use(pod, node))


@says(r"It keeps away from (?P<pods>.+?)\.(?= |$)")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    return all_at(c, m["pods"], {key for node in c.nodes for key in c.kept_away(pod, node)[0]})


@says(
    r"(?P<pods>\S+ on \S+(?:(?:, | and )(?:\S+ on \S+|\d+ more))*) keeps? it away by (?:its|their) own anti-affinity\."
)
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    return all_at(c, m["pods"], {key for node in c.nodes for key in c.kept_away(pod, node)[1]})


def all_at(c: Cluster, said: str, allowed: set[str]) -> bool:
    pairs = [each.split(" on ") for each in words(said)]
    return all(key in allowed and c.places.get(key) == node for key, node in pairs)


@says(
    r"No (?:placed )?pod (?:in namespace (?P<namespace>\S+) )?has (?P<labels>\S+); its pod affinity asks for one (?P<where>.+?)\.(?= |$)"
)
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    key, value = m["labels"].split("=")
    there = [
        each
        for each in c.places
        if c.pods[each]["metadata"].get("labels", {}).get(key) == value
        and m["namespace"] in (None, c.pods[each]["metadata"]["namespace"])
    ]
    return not there and any(
        term["labelSelector"]["matchLabels"].get(key) == value for term in c.terms(pod, "podAffinity")
    )


@says(r"Pods with it are in (?P<namespaces>.+?)\.(?= |$)")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    [term] = c.terms(pod, "podAffinity")
    wanted = term["labelSelector"]["matchLabels"].items()
    return set(words(m["namespaces"])) == {
        each["metadata"]["namespace"]
        for each in map(c.pods.__getitem__, c.places)
        if wanted <= each["metadata"].get("labels", {}).items()
    }


@says(r"(?P<pods>\S+(?: and \S+)*) (?:has|have) it and (?:is|are) not placed either\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    [term] = c.terms(pod, "podAffinity")
    return all(key in c.pods and key not in c.places and c.means(pod, term, c.pods[key]) for key in words(m["pods"]))


@says(
    r"Its pod affinity asks for a place .+? as (?P<pods>\S+ on \S+?(?:(?:, | and )(?:\S+ on \S+?|\d+ more))*), and no node that it may use is there\."
)
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    companions = {
        key for key in c.places if all(c.means(pod, term, c.pods[key]) for term in c.terms(pod, "podAffinity"))
    }
    return all_at(c, m["pods"], companions) and not any(c.asked(pod, node) for node in c.nodes)


@says(
    r"Its topology spread over (?P<key>\S+) \(maxSkew (?P<skew>\d+)\) leaves it only (?P<domains>.+?), and there is no node there that it may use\."
)
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    constraint = next(each for each in pod["spec"]["topologySpreadConstraints"] if each["topologyKey"] == m["key"])
    there = c.open_domains(pod, constraint)
    usable = [node for node in c.nodes if c.may_use(pod, node) and c.labels(node).get(m["key"]) in there]
    return set(words(m["domains"])) == there and not usable and constraint["maxSkew"] == int(m["skew"])


@says(r"By its topology spread over (?P<key>\S+) it may go only to (?P<domains>.+?)\.(?= |$)")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    constraint = next(each for each in pod["spec"]["topologySpreadConstraints"] if each["topologyKey"] == m["key"])
    return set(words(m["domains"])) == c.open_domains(pod, constraint)


@says(r"Its topology spread over (?P<key>\S+) asks for at least (?P<least>\d+) domains before any of them takes more\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    constraint = next(each for each in pod["spec"]["topologySpreadConstraints"] if each["topologyKey"] == m["key"])
    return constraint["minDomains"] == int(m["least"]) > len(c.domains(pod, constraint)) and not c.open_domains(
        pod, constraint
    )


@says(r"Such pods: (?P<counts>.+?)\.(?= |$)")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    said = dict(each.split(" has ") for each in words(m["counts"]))
    return any(
        {name: int(count) for name, count in said.items()} == c.domains(pod, each)
        for each in pod["spec"]["topologySpreadConstraints"]
    )


@says(r"Nodes that are cordoned or tainted count as well, unless nodeTaintsPolicy is Honor\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    return any(c.cordoned(node) or c.taints(pod, node) for node in c.nodes) and not any(
        each.get("nodeTaintsPolicy") == "Honor" for each in pod["spec"]["topologySpreadConstraints"]
    )
