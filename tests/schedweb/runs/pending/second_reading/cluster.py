"""A cluster as its manifests have it, read with nothing of the product."""

from __future__ import annotations

import re
from typing import Any

Manifest = dict[str, Any]
UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40}
ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"


def quantity(text: str) -> float:
    """``500m``, ``16Gi``, ``1,200``"""
    found = re.fullmatch(r"([\d.,]+)\s*([A-Za-z]*)", text.strip())
    assert found is not None, text
    number, unit = found.groups()
    value = float(number.replace(",", ""))
    return value / 1000 if unit == "m" else value * UNITS[unit]


def words(text: str) -> list[str]:
    """``a, b and c``; ``a or b``; "2 more" is left out."""
    parts = re.split(r", | and | or ", text)
    return [part for part in parts if not re.fullmatch(r"\d+ more", part)]


class Cluster:
    def __init__(
        self, objects: list[Manifest], places: dict[str, str], profile_wants: dict[str, str] | None = None
    ) -> None:
        """``places``: namespace/name → node of the pods that have one; ``profile_wants``: labels of nodes."""
        self.all = objects
        self.profile_wants = profile_wants or {}
        self.nodes = {each["metadata"]["name"]: each for each in objects if each["kind"] == "Node"}
        self.pods = {self.key(each): each for each in objects if each["kind"] == "Pod"}
        self.places = places

    @staticmethod
    def key(obj: Manifest) -> str:
        return f"{obj['metadata']['namespace']}/{obj['metadata']['name']}"

    def of_kind(self, kind: str) -> list[Manifest]:
        return [each for each in self.all if each["kind"] == kind]

    def labels(self, node: str) -> dict[str, str]:
        found: dict[str, str] = self.nodes[node]["metadata"].get("labels", {})
        return found

    def value(self, node: str, key: str) -> str | None:
        return node if key == "metadata.name" else self.labels(node).get(key)

    def on(self, node: str) -> list[Manifest]:
        return [self.pods[key] for key, place in self.places.items() if place == node and key in self.pods]

    # --- one node ---------------------------------------------------------------------------------------------------

    def holds(self, node: str, expression: Manifest) -> bool:
        value, wanted = self.value(node, expression["key"]), expression.get("values", [])
        operator = expression["operator"]
        if operator == "In":
            return value in wanted
        if operator == "NotIn":
            return value not in wanted
        if operator == "Exists":
            return value is not None
        if operator == "DoesNotExist":
            return value is None
        above = value is not None and int(value) > int(wanted[0])
        return above if operator == "Gt" else value is not None and int(value) < int(wanted[0])

    def matches(self, pod: Manifest, node: str) -> bool:
        spec = pod["spec"]
        if any(self.value(node, key) != value for key, value in spec.get("nodeSelector", {}).items()):
            return False
        required = (
            spec.get("affinity", {}).get("nodeAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution")
        )
        if required is None:
            return True
        return any(
            all(self.holds(node, each) for each in [*term.get("matchExpressions", []), *term.get("matchFields", [])])
            for term in required["nodeSelectorTerms"]
            if term  # an empty one matches no node
        )

    def cordoned(self, node: str) -> bool:
        return bool(self.nodes[node].get("spec", {}).get("unschedulable"))

    def taints(self, pod: Manifest, node: str) -> list[str]:
        """That it does not tolerate, as ``key=value:effect``."""
        left = []
        for taint in self.nodes[node].get("spec", {}).get("taints", []):
            if taint["effect"] == "PreferNoSchedule":
                continue
            tolerated = any(
                each.get("key", taint["key"]) == taint["key"]
                and (each.get("operator") == "Exists" or each.get("value", "") == taint.get("value", ""))
                and each.get("effect", taint["effect"]) == taint["effect"]
                for each in pod["spec"].get("tolerations", [])
            )
            if not tolerated:
                left.append(f"{taint['key']}{'=' + taint['value'] if taint.get('value') else ''}:{taint['effect']}")
        return left

    def volumes_there(self, pod: Manifest, node: str) -> bool:
        for volume in self.bound_volumes(pod):
            zone = volume["metadata"].get("labels", {}).get(ZONE)
            if zone is not None and ZONE in self.labels(node) and self.labels(node)[ZONE] != zone:
                return False
            affinity = volume["spec"].get("nodeAffinity")
            if affinity is not None:
                [term] = affinity["required"]["nodeSelectorTerms"]
                if not all(self.holds(node, each) for each in term["matchExpressions"]):
                    return False
        return all(self.can_have(claim, node) for claim in self.claims(pod))

    def can_have(self, claim: Manifest, node: str) -> bool:
        """Of a claim without a volume: a free one is reached from the node, or its class makes one there."""
        name = claim["spec"].get("storageClassName")
        of = next((each for each in self.of_kind("StorageClass") if each["metadata"]["name"] == name), None)
        if claim["spec"].get("volumeName") or of is None or of["volumeBindingMode"] == "Immediate":
            return True
        free, makes = self.free_volumes(claim), of["provisioner"] != "kubernetes.io/no-provisioner"
        terms = of.get("allowedTopologies", []) if makes else []
        if not terms and (makes or not free):
            return True  # anywhere; or nowhere, of which another sentence speaks
        reached = any(
            all(self.holds(node, one) for one in term["matchExpressions"])
            for each in free
            for term in each["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
        )
        return reached or any(
            all(self.value(node, one["key"]) in one["values"] for one in term["matchLabelExpressions"])
            for term in terms
        )

    def free_volumes(self, claim: Manifest) -> list[Manifest]:
        return [
            each
            for each in self.of_kind("PersistentVolume")
            if "claimRef" not in each["spec"]
            and each["spec"].get("storageClassName") == claim["spec"].get("storageClassName")
        ]

    def claims(self, pod: Manifest) -> list[Manifest]:
        names = [
            each["persistentVolumeClaim"]["claimName"]
            for each in pod["spec"].get("volumes", [])
            if "persistentVolumeClaim" in each
        ]
        return [each for each in self.of_kind("PersistentVolumeClaim") if each["metadata"]["name"] in names]

    def bound_volumes(self, pod: Manifest) -> list[Manifest]:
        names = [claim["spec"].get("volumeName") for claim in self.claims(pod)]
        return [each for each in self.of_kind("PersistentVolume") if each["metadata"]["name"] in names]

    def terms(self, pod: Manifest, kind: str) -> list[Manifest]:
        affinity = pod["spec"].get("affinity", {}).get(kind, {})
        found: list[Manifest] = affinity.get("requiredDuringSchedulingIgnoredDuringExecution", [])
        return found

    def means(self, owner: Manifest, term: Manifest, other: Manifest) -> bool:
        namespaces = term.get("namespaces") or [owner["metadata"]["namespace"]]
        labels = other["metadata"].get("labels", {})
        wanted = term["labelSelector"]["matchLabels"]
        return other["metadata"]["namespace"] in namespaces and wanted.items() <= labels.items()

    def near(self, one: str, other: str, key: str) -> bool:
        return self.value(one, key) is not None and self.value(one, key) == self.value(other, key)

    def beside(self, pod: Manifest, node: str) -> bool:
        terms = self.terms(pod, "podAffinity")
        placed = [(self.pods[key], place) for key, place in self.places.items()]
        alone = not any(self.means(pod, term, other) for term in terms for other, _ in placed)
        if alone and all(self.means(pod, term, pod) for term in terms):
            return True
        return all(
            any(self.means(pod, term, other) and self.near(node, place, term["topologyKey"]) for other, place in placed)
            for term in terms
        )

    def may_use(self, pod: Manifest, node: str) -> bool:
        return self.asked(pod, node) and not self.cordoned(node) and not self.taints(pod, node)

    def asked(self, pod: Manifest, node: str) -> bool:
        return self.matches(pod, node) and self.volumes_there(pod, node) and self.beside(pod, node)

    # --- amounts ----------------------------------------------------------------------------------------------------

    def size(self, node: str, resource: str) -> float:
        return quantity(self.nodes[node]["status"]["allocatable"].get(resource, "0"))

    def wanted(self, pod: Manifest, resource: str) -> float:
        if resource == "pods":
            return 1
        return sum(quantity(each["resources"]["requests"].get(resource, "0")) for each in pod["spec"]["containers"])

    def free(self, node: str, resource: str) -> float:
        return self.size(node, resource) - sum(self.wanted(each, resource) for each in self.on(node))

    @staticmethod
    def asks(pod: Manifest) -> list[str]:
        return [
            *dict.fromkeys(name for each in pod["spec"]["containers"] for name in each["resources"]["requests"]),
            "pods",
        ]

    def large(self, pod: Manifest, node: str) -> bool:
        return all(self.size(node, each) >= self.wanted(pod, each) for each in self.asks(pod))

    def roomy(self, pod: Manifest, node: str) -> bool:
        return all(self.free(node, each) >= self.wanted(pod, each) - 1e-9 for each in self.asks(pod))

    def ports(self, pod: Manifest) -> set[int]:
        return {port["hostPort"] for each in pod["spec"]["containers"] for port in each.get("ports", [])}

    def kept_away(self, pod: Manifest, node: str) -> tuple[list[str], list[str]]:
        """(pods from which it keeps away, pods that keep it away), of those near the node."""
        own, others = [], []
        for key, place in self.places.items():
            other = self.pods[key]
            if any(
                self.means(pod, t, other) and self.near(node, place, t["topologyKey"])
                for t in self.terms(pod, "podAntiAffinity")
            ):
                own.append(key)
            if any(
                self.means(other, t, pod) and self.near(node, place, t["topologyKey"])
                for t in self.terms(other, "podAntiAffinity")
            ):
                others.append(key)
        return own, others

    def domains(self, pod: Manifest, constraint: Manifest) -> dict[str, int]:
        key = constraint["topologyKey"]
        counts: dict[str, int] = {}
        for node in self.nodes:
            value = self.labels(node).get(key)
            if value is None or not self.matches(pod, node):
                continue
            if constraint.get("nodeTaintsPolicy") == "Honor" and self.taints(pod, node):
                continue
            wanted = constraint["labelSelector"]["matchLabels"].items()
            counts[value] = counts.get(value, 0) + sum(
                wanted <= each["metadata"].get("labels", {}).items()
                for each in self.on(node)
                if each["metadata"]["namespace"] == pod["metadata"]["namespace"]
            )
        return counts

    def open_domains(self, pod: Manifest, constraint: Manifest) -> set[str]:
        counts = self.domains(pod, constraint)
        least = min(counts.values(), default=0) if len(counts) >= constraint.get("minDomains", 1) else 0
        itself = constraint["labelSelector"]["matchLabels"].items() <= pod["metadata"].get("labels", {}).items()
        return {value for value, count in counts.items() if count + itself - least <= constraint["maxSkew"]}
