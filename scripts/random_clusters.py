"""Small random clusters as exports have them: every rule of the scheduler occurs, and some pods find no node."""

from __future__ import annotations

import json
from random import Random
from typing import Any, Literal

Manifest = dict[str, Any]
Form = Literal["list", "simulator"]

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
GIB = 1 << 30
CREATED = "2026-01-01T00:00:00Z"
NAMESPACE = "shop"
CLASSES = {"batch": 10, "standard": 1000, "critical": 100_000}
OWNERS = (("ReplicaSet", "apps/v1"), ("ReplicaSet", "apps/v1"), ("StatefulSet", "apps/v1"), ("Job", "batch/v1"))
APPS = ("web", "api", "cart", "db", "queue", "search", "mail")
GPU = "nvidia.com/gpu"
PROVISIONER = "ebs.csi.aws.com"
#: What an export of kube-scheduler-simulator has lists for.
SIMULATOR_LISTS = {
    "Namespace": "namespaces",
    "Node": "nodes",
    "PriorityClass": "priorityClasses",
    "StorageClass": "storageClasses",
    "PersistentVolume": "pvs",
    "PersistentVolumeClaim": "pvcs",
    "Pod": "pods",
}


def export(seed: int, form: Form) -> str:
    """The same cluster for the same seed; of the simulator's form without what it has no lists for."""
    objects = RandomCluster(seed).objects
    if form == "list":
        return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    lists: dict[str, list[Manifest]] = {name: [] for name in SIMULATOR_LISTS.values()}
    for each in objects:
        if each["kind"] in SIMULATOR_LISTS:
            bare = {key: value for key, value in each.items() if key not in ("apiVersion", "kind")}
            lists[SIMULATOR_LISTS[each["kind"]]].append(bare)
    return json.dumps(lists)


class RandomCluster:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.objects: list[Manifest] = [_object("v1", "Namespace", NAMESPACE)]
        for name, value in CLASSES.items():
            self.objects.append({**_object("scheduling.k8s.io/v1", "PriorityClass", name), "value": value})
        self.free: dict[str, dict[str, int]] = {}
        self.nodes: dict[str, Manifest] = {}
        self.ports: dict[str, set[int]] = {}
        self.pods = 0
        self._nodes()
        self._storage()
        self._placed()
        self._budgets()
        self._pending()
        # Of its own, so that what comes before stays as it is.
        self.random = Random(f"{seed}: nobody serves")
        self.random.choice(UNSERVED)(self)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    # --- nodes ------------------------------------------------------------------------------------------------------

    def _nodes(self) -> None:
        zones = self.random.sample(["a", "b", "c"], self.random.randint(1, 3))
        for number in range(self.random.randint(2, 7)):
            cpu = self.random.choice([2, 4, 4, 8, 16])
            amounts = {"cpu": str(cpu), "memory": f"{cpu * 4}Gi", "pods": self.random.choice(["110", "110", "8"])}
            if self.chance(0.2):
                amounts[GPU] = self.random.choice(["1", "2", "4"])
            name = f"node-{number}"
            node = _object("v1", "Node", name)
            node["metadata"]["labels"] = {
                HOSTNAME: name,
                ZONE: self.random.choice(zones),
                "pool": self.random.choice(["general", "general", "spot", "compute"]),
            }
            node["spec"] = {"taints": self._taints()} if self.chance(0.3) else {}
            if self.chance(0.12):
                node["spec"]["unschedulable"] = True
                mark = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
                node["spec"]["taints"] = [*node["spec"].get("taints", []), mark]
            node["status"] = {"capacity": amounts, "allocatable": amounts}
            self.nodes[name] = node
            self.objects.append(node)
            self.free[name] = {
                "cpu": cpu * 1000,
                "memory": cpu * 4 * GIB,
                "pods": int(amounts["pods"]),
                GPU: int(amounts.get(GPU, "0")),
            }
            self.ports[name] = set()

    def _taints(self) -> list[Manifest]:
        known = [
            {"key": "dedicated", "value": "batch", "effect": "NoSchedule"},
            {"key": "spot", "effect": "NoExecute"},
            {"key": "maintenance", "value": "soon", "effect": "PreferNoSchedule"},
        ]
        return self.random.sample(known, self.random.randint(1, 2))

    # --- storage ----------------------------------------------------------------------------------------------------

    def _storage(self) -> None:
        late = {**_object("storage.k8s.io/v1", "StorageClass", "local"), "provisioner": "kubernetes.io/no-provisioner"}
        self.objects.append({**late, "volumeBindingMode": "WaitForFirstConsumer"})
        self.volumes = 0
        for number in range(self.random.randint(0, 3)):
            node = self.random.choice(list(self.nodes))
            volume = _object("v1", "PersistentVolume", f"disk-{number}")
            term = {"matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": [node]}]}
            volume["spec"] = {
                "capacity": {"storage": "10Gi"},
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "local",
                "persistentVolumeReclaimPolicy": "Retain",
                "local": {"path": f"/disks/{number}"},
                "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
            }
            volume["status"] = {"phase": "Available"}
            self.objects.append(volume)
            self.volumes += 1

    def _claim(self, name: str) -> Manifest:
        claim = _object("v1", "PersistentVolumeClaim", name, namespaced=True)
        claim["metadata"]["uid"] = f"claim-{name}"  # a volume that is provisioned is called by it
        claim["spec"] = {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "local",
            "resources": {"requests": {"storage": "5Gi"}},
        }
        claim["status"] = {"phase": "Pending"}
        self.objects.append(claim)
        return {"name": "data", "persistentVolumeClaim": {"claimName": name}}

    # --- pods -------------------------------------------------------------------------------------------------------

    def _pod(self, app: str, requests: dict[str, str], *, owner: tuple[str, str] | None, ordinal: int) -> Manifest:
        """``owner``: (kind, apiVersion) of its controller."""
        self.pods += 1
        tail = str(ordinal) if owner is not None and owner[0] == "StatefulSet" else _tail(self.pods)
        pod = _object("v1", "Pod", app if owner is None else f"{app}-{tail}", namespaced=True)
        if owner is None:
            pod["metadata"]["name"] = f"{app}-alone-{self.pods}"
            pod["metadata"]["uid"] = f"uid-Pod-{pod['metadata']['name']}"
        else:
            reference = {"apiVersion": owner[1], "kind": owner[0], "name": app, "uid": f"owner-{app}"}
            pod["metadata"]["ownerReferences"] = [{**reference, "controller": True}]
        pod["metadata"]["labels"] = {"app": app}
        container: Manifest = {
            "name": "main",
            "image": f"registry.example/{app}:1",
            "resources": {"requests": requests},
        }
        if GPU in requests:
            container["resources"]["limits"] = {GPU: requests[GPU]}
        pod["spec"] = {"schedulerName": "default-scheduler", "containers": [container]}
        self._priority(pod, self.random.choice(list(CLASSES)) if self.chance(0.6) else "")
        return pod

    def _priority(self, pod: Manifest, name: str) -> None:
        pod["spec"]["priority"] = CLASSES.get(name, 0)
        if name:
            pod["spec"]["priorityClassName"] = name

    def _placed(self) -> None:
        """Nodes filled up by half to wholly, never more."""
        for number, app in enumerate(self.random.sample(APPS, self.random.randint(2, 5))):
            kind = None if self.chance(0.2) else self.random.choice(OWNERS)
            if self.chance(0.1):
                kind = ("DaemonSet", "apps/v1")
            cpu = self.random.choice([250, 500, 500, 1000, 2000])
            memory = self.random.choice([1, 1, 2, 4])
            for ordinal in range(self.random.randint(1, 6)):
                requests = {"cpu": f"{cpu}m", "memory": f"{memory}Gi"}
                pod = self._pod(app, requests, owner=kind, ordinal=ordinal)
                if number == 0 and self.chance(0.5):
                    pod["spec"]["affinity"] = {"podAntiAffinity": _required(app, HOSTNAME)}
                port = 8080 if self.chance(0.15) else 0
                self._put(pod, {"cpu": cpu, "memory": memory * GIB, "pods": 1}, port)

    def _put(self, pod: Manifest, amounts: dict[str, int], port: int) -> None:
        names = list(self.nodes)
        self.random.shuffle(names)
        for name in names:
            free = self.free[name]
            if any(free[resource] < amount for resource, amount in amounts.items()) or port in self.ports[name]:
                continue
            for resource, amount in amounts.items():
                free[resource] -= amount
            if port:
                self.ports[name].add(port)
                pod["spec"]["containers"][0]["ports"] = [{"containerPort": port, "hostPort": port}]
            pod["spec"]["nodeName"] = name
            pod["status"] = {"phase": "Running"}
            self.objects.append(pod)
            return

    def _budgets(self) -> None:
        for app in self.random.sample(APPS, 2):
            budget = _object("policy/v1", "PodDisruptionBudget", app, namespaced=True)
            budget["spec"] = {"minAvailable": 1, "selector": {"matchLabels": {"app": app}}}
            budget["status"] = {"disruptionsAllowed": self.random.randint(0, 1)}
            self.objects.append(budget)

    def _pending(self) -> None:
        for number in range(self.random.randint(1, 3)):
            app = f"{self.random.choice(['legacy', 'trainer', 'runner', 'report'])}-{number}"
            owner = None if self.chance(0.4) else self.random.choice(OWNERS)
            requests = {
                "cpu": self.random.choice(["100m", "500m", "1", "3", "6", "12", "24"]),
                "memory": self.random.choice(["512Mi", "2Gi", "8Gi", "40Gi"]),
            }
            if self.chance(0.2):
                requests[GPU] = self.random.choice(["1", "2"])
            rules = self.random.sample(RULES, self.random.choice([0, 1, 1, 2]))
            never = self.chance(0.2)
            for ordinal in range(self.random.choice([1, 1, 2])):
                pod = self._pod(app, requests, owner=owner, ordinal=ordinal)
                pod["status"] = {"phase": "Pending"}
                if never:
                    pod["spec"]["preemptionPolicy"] = "Never"
                for rule in rules:
                    rule(self, pod, app)
                if self.volumes and self.chance(0.2):
                    pod["spec"]["volumes"] = [self._claim(f"data-{pod['metadata']['name']}")]
                self.objects.append(pod)

    # --- what no node, class or volume serves -----------------------------------------------------------------------

    def unmet_claims(self) -> None:
        """Of a StatefulSet, whose claims are missing, or of a class that is missing or can be nowhere."""
        self._provisioned("network")
        self._provisioned("far", zone="x")
        wanted = self.random.choice(["", "far", "gone", "network"])
        for ordinal in range(self.random.randint(1, 2)):
            pod = self._small("store", OWNERS[2], ordinal)
            name = f"data-{pod['metadata']['name']}"
            pod["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": name}}]
            if wanted:
                self._claim(name)
                self.objects[-1]["spec"]["storageClassName"] = wanted
            self.objects.append(pod)

    def unreached_volume(self) -> None:
        self._provisioned("network")
        pod = self._small("ledger", None, 0)
        pod["spec"]["volumes"] = [self._claim("ledger")]
        claim = self.objects[-1]
        claim["spec"] |= {"storageClassName": "network", "volumeName": "disk-far"}
        claim["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
        claim["status"] = {"phase": "Bound"}
        volume = _object("v1", "PersistentVolume", "disk-far")
        term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["x"]}]}
        about = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": NAMESPACE, "name": "ledger"}
        volume["spec"] = {
            "capacity": {"storage": "5Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "network",
            "persistentVolumeReclaimPolicy": self.random.choice(["Retain", "Delete"]),
            "csi": {"driver": PROVISIONER, "volumeHandle": "disk-far"},
            "claimRef": {**about, "uid": claim["metadata"]["uid"]},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
        }
        volume["status"] = {"phase": "Bound"}
        self.objects += [volume, pod]

    def one_per_zone(self) -> None:
        """More pods than zones: of a Deployment, of a Deployment that is rolled out, or written by hand."""
        kind = self.random.choice(["Deployment", "rollout", "bare"])
        zones = {node["metadata"]["labels"][ZONE] for node in self.nodes.values()}
        for number in range(len(zones) + 1):
            pod = self._small("cache", None if kind == "bare" else OWNERS[0], number)
            if kind != "bare":
                revision = "6d4cf56db6" if kind == "Deployment" or number < len(zones) else "7f5dbbc54b"
                pod["metadata"]["labels"]["pod-template-hash"] = revision
                pod["metadata"]["ownerReferences"][0] |= {"name": f"cache-{revision}", "uid": f"owner-{revision}"}
            _affinity(pod)["podAntiAffinity"] = _required("cache", ZONE)
            self.objects.append(pod)

    def much_disk(self) -> None:
        for node in self.nodes.values():
            node["status"]["allocatable"]["ephemeral-storage"] = "20Gi"
        pod = self._small("crawler", None, 0)
        pod["spec"]["containers"][0]["resources"]["requests"]["ephemeral-storage"] = self.random.choice(
            ["8Gi", "50Gi", "200Gi"]
        )
        self.objects.append(pod)

    def _small(self, app: str, owner: tuple[str, str] | None, ordinal: int) -> Manifest:
        pod = self._pod(app, {"cpu": "100m", "memory": "64Mi"}, owner=owner, ordinal=ordinal)
        pod["status"] = {"phase": "Pending"}
        return pod

    def _provisioned(self, name: str, zone: str = "") -> None:
        made = {**_object("storage.k8s.io/v1", "StorageClass", name), "provisioner": PROVISIONER}
        if zone:
            made["allowedTopologies"] = [{"matchLabelExpressions": [{"key": ZONE, "values": [zone]}]}]
        if all(each["metadata"]["name"] != name for each in self.objects):
            self.objects.append({**made, "volumeBindingMode": "WaitForFirstConsumer"})

    # --- rules of pending pods --------------------------------------------------------------------------------------

    def selector(self, pod: Manifest, app: str) -> None:
        pod["spec"]["nodeSelector"] = {"pool": self.random.choice(["spot", "compute", "arm"])}

    def node_affinity(self, pod: Manifest, app: str) -> None:
        values = self.random.sample(["a", "b", "c", "d"], self.random.randint(1, 2))
        term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": values}]}
        _affinity(pod)["nodeAffinity"] = {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}
        }

    def affinity(self, pod: Manifest, app: str) -> None:
        to = self.random.choice([*APPS, "nobody"])
        _affinity(pod)["podAffinity"] = _required(to, self.random.choice([HOSTNAME, ZONE]))

    def anti_affinity(self, pod: Manifest, app: str) -> None:
        to = self.random.choice([app, *APPS])
        _affinity(pod)["podAntiAffinity"] = _required(to, self.random.choice([HOSTNAME, ZONE, ZONE]))

    def spread(self, pod: Manifest, app: str) -> None:
        pod["metadata"]["labels"]["app"] = to = self.random.choice([app, *APPS])
        constraint = {
            "maxSkew": 1,
            "topologyKey": self.random.choice([HOSTNAME, ZONE]),
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": to}},
        }
        pod["spec"]["topologySpreadConstraints"] = [constraint]

    def gate(self, pod: Manifest, app: str) -> None:
        pod["spec"]["schedulingGates"] = [{"name": "example.com/quota"}]

    def port(self, pod: Manifest, app: str) -> None:
        pod["spec"]["containers"][0]["ports"] = [{"containerPort": 8080, "hostPort": 8080}]

    def toleration(self, pod: Manifest, app: str) -> None:
        pod["spec"]["tolerations"] = [{"key": "dedicated", "operator": "Exists"}]


RULES = (
    RandomCluster.selector,
    RandomCluster.node_affinity,
    RandomCluster.affinity,
    RandomCluster.anti_affinity,
    RandomCluster.spread,
    RandomCluster.gate,
    RandomCluster.port,
    RandomCluster.toleration,
)

UNSERVED = (
    RandomCluster.unmet_claims,
    RandomCluster.unreached_volume,
    RandomCluster.one_per_zone,
    RandomCluster.much_disk,
)


def _object(version: str, kind: str, name: str, *, namespaced: bool = False) -> Manifest:
    metadata: Manifest = {"name": name, "uid": f"uid-{kind}-{name}", "creationTimestamp": CREATED}
    if namespaced:
        metadata["namespace"] = NAMESPACE
    return {"apiVersion": version, "kind": kind, "metadata": metadata}


def _affinity(pod: Manifest) -> Manifest:
    made: Manifest = pod["spec"].setdefault("affinity", {})
    return made


def _required(app: str, key: str) -> Manifest:
    term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key}
    return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}


def _tail(number: int) -> str:
    letters = "bcdfghjklmnpqrstvwxz2456789"
    return "".join(letters[(number * step) % len(letters)] for step in (7, 11, 13, 5, 1))
