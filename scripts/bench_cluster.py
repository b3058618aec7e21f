"""Large clusters for measurements: files like ``kubectl get nodes,pods -A -o json``, and their way to a run."""

from __future__ import annotations

import json
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from scripts.site import Site, eventually

CREATED = "2026-01-01T00:00:00Z"
BOUNDARY = "bench-cluster"
MIB = 1024 * 1024


def node(number: int) -> dict[str, Any]:
    name = f"node-{number}"
    amounts = {"cpu": "16", "memory": "64Gi", "pods": "110", "ephemeral-storage": "100Gi"}
    conditions = [
        {
            "type": kind,
            "status": status,
            "lastTransitionTime": CREATED,
            "lastHeartbeatTime": CREATED,
            "reason": "Kubelet",
        }
        for kind, status in (("MemoryPressure", "False"), ("DiskPressure", "False"), ("Ready", "True"))
    ]
    labels = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "topology.kubernetes.io/zone": f"zone{number % 3}",
        "node.kubernetes.io/instance-type": "m5.4xlarge",
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": f"node-uid-{number}", "creationTimestamp": CREATED, "labels": labels},
        "spec": {"podCIDR": f"10.{number % 250}.0.0/24", "providerID": f"cloud:///{name}"},
        "status": {"allocatable": amounts, "capacity": amounts, "conditions": conditions},
    }


def pod(number: int, nodes: int, workloads: int, *, placed: bool) -> dict[str, Any]:
    """As a controller's pod looks when it runs, or before anybody has tried it."""
    app = f"app-{number % workloads}"
    token = f"kube-api-access-{number:05x}"
    container = {
        "name": "main",
        "image": f"registry.example.com/{app}:1.2.3",
        "imagePullPolicy": "IfNotPresent",
        "env": [{"name": "MODE", "value": "production"}, {"name": "LEVEL", "value": "info"}],
        "ports": [{"containerPort": 8080, "name": "http", "protocol": "TCP"}],
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "512Mi"}},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "volumeMounts": [{"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "name": token}],
    }
    owner = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": f"{app}-5d8f",
        "uid": f"rs-{app}",
        "controller": True,
    }
    conditions = [
        {"type": kind, "status": "True", "lastTransitionTime": CREATED, "lastProbeTime": None}
        for kind in ("Initialized", "Ready", "ContainersReady", "PodScheduled")
    ]
    running = {
        "phase": "Running",
        "podIP": f"10.0.{number % 250}.{number // 250 % 250}",
        "startTime": CREATED,
        "qosClass": "Burstable",
        "conditions": conditions,
    }
    spread = {
        "maxSkew": 1,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": app}},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{app}-5d8f-{number}",
            "generateName": f"{app}-5d8f-",
            "namespace": f"team-{number % 20}",
            "uid": f"pod-uid-{number}",
            "resourceVersion": str(1000 + number),
            "creationTimestamp": CREATED,
            "labels": {"app": app, "pod-template-hash": "5d8f"},
            "ownerReferences": [owner],
        },
        "spec": {
            **({"nodeName": f"node-{number % nodes}"} if placed else {}),
            "schedulerName": "default-scheduler",
            "serviceAccountName": "default",
            "restartPolicy": "Always",
            "priority": 0,
            "preemptionPolicy": "PreemptLowerPriority",
            "terminationGracePeriodSeconds": 30,
            "dnsPolicy": "ClusterFirst",
            "containers": [container],
            "topologySpreadConstraints": [spread],
            "tolerations": [
                {
                    "effect": "NoExecute",
                    "key": f"node.kubernetes.io/{what}",
                    "operator": "Exists",
                    "tolerationSeconds": 300,
                }
                for what in ("not-ready", "unreachable")
            ],
            "volumes": [{"name": token, "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}],
        },
        "status": running if placed else {"phase": "Pending", "qosClass": "Burstable"},
    }


def write_cluster(path: Path, nodes: int, placed: int, workloads: int, pending: int = 0) -> None:
    with path.open("w") as file:
        file.write('{"apiVersion": "v1", "kind": "List", "items": [\n')
        made = [*map(node, range(nodes))]
        file.write(",\n".join(map(json.dumps, made)))
        for number in range(placed + pending):
            file.write(",\n" + json.dumps(pod(number, nodes, workloads, placed=number < placed)))
        file.write("\n]}\n")


def upload(site: Site, file: Path) -> str:
    """As a browser sends a chosen file. Answers the import's id."""
    head = (
        f"--{BOUNDARY}\r\n"
        f'Content-Disposition: form-data; name="file"; filename="{file.name}"\r\n'
        "Content-Type: application/json\r\n\r\n"
    ).encode()
    end = f"\r\n--{BOUNDARY}--\r\n".encode()
    connection = HTTPConnection(site.origin.removeprefix("http://"), timeout=300)
    connection.putrequest("POST", "/api/v1/imports/")
    connection.putheader("Content-Type", f"multipart/form-data; boundary={BOUNDARY}")
    connection.putheader("Content-Length", str(len(head) + file.stat().st_size + len(end)))
    connection.putheader("Cookie", "; ".join(f"{name}={value}" for name, value in site.cookies().items()))
    connection.putheader("X-CSRFToken", site.csrf_token)
    connection.putheader("Origin", site.origin)
    connection.endheaders(head)
    with file.open("rb") as content:
        while part := content.read(MIB):
            connection.send(part)
    connection.send(end)
    response = connection.getresponse()
    body = json.loads(response.read())
    assert response.status in (200, 201, 202), body
    connection.close()
    made: str = body["id"]
    return made


def imported(site: Site, file: Path, name: str) -> str:
    """The id of the snapshot."""
    path = f"/api/v1/imports/{upload(site, file)}/"

    def read() -> Any:
        body = site.get(path)
        return None if body["state"] == "reading" else body

    preview = eventually("the file is read", read, seconds=300)
    assert preview["state"] == "ready", preview["error"]
    snapshot: str = site.post(f"{path}commit/", {"name": name})["id"]
    return snapshot


def configured(site: Site, name: str) -> str:
    """The id of a built-in configuration's newest version."""
    every = site.get("/api/v1/configurations/?limit=50")["results"]
    version: str = next(each for each in every if each["name"] == name)["latest"]["id"]
    return version


def created(site: Site, snapshot: str, configuration: str, *, pending: int) -> str:
    """The id of a run that stands at its beginning, when it is ready."""
    body = {"snapshot": snapshot, "configuration_version": configuration, "seed": 1, "paused": True}
    run: str = site.post("/api/v1/runs/", body)["id"]
    site.run_until(run, "the run is ready", lambda seen: seen["counts"].get("active", 0) == pending)
    return run
