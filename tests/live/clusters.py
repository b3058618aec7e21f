"""A cluster as the scenarios use it: by its API alone, so that the stand-in and a real API server are one to them.

What a test makes is its own: a namespace, nodes with a label of their own, accounts, roles; it is removed afterwards.
Nothing else has to run there. Where controllers and kubelets do, they do no harm: nodes say that they are alive, pods
need no token, and whatever terminates is removed by force.
"""

from __future__ import annotations

import abc
import contextlib
import json
import secrets
import threading
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml
from kubernetes import config as kubernetes_config

from tests.apiserver import ApiServer
from tests.apiserver.kinds import KINDS, Json, Kind
from tests.apiserver.manifests import node, pod
from tests.apiserver.pod_groups import POD_GROUPS

OWN = "playground-test"
"""The label of a test's nodes, with its namespace as value."""
STRATEGIC = "application/strategic-merge-patch+json"
ALIVE_SECONDS = 10.0
_KINDS = {kind.name: kind for kind in reversed((*KINDS, POD_GROUPS))}
_REMOVED = ("Pod", "ResourceClaim", "Event", "ServiceAccount")


class Refused(Exception):
    def __init__(self, status: int, body: Any) -> None:
        super().__init__(f"{status}: {body}")
        self.status = status


class Account:
    """Somebody with a token and the rights that a test gives."""

    def __init__(self, user: str, token: str) -> None:
        self.user = user
        self.token = token


class Cluster(abc.ABC):
    """Entered once per test."""

    is_real: bool

    def __init__(self, kubeconfig: Path) -> None:
        """``kubeconfig``: of somebody who may do everything, by its current context."""
        self.namespace = f"live-{secrets.token_hex(4)}"
        self._kubeconfig = kubeconfig
        self._client = kubernetes_config.new_client_from_config(str(kubeconfig))
        self._made: list[tuple[Kind, str, str]] = []
        self._over = threading.Event()
        self._is_still = threading.Event()

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        self.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}})
        alive = threading.Thread(target=self._keep_alive, daemon=True)
        alive.start()
        try:
            yield
        finally:
            self._over.set()
            alive.join()
            self._remove()

    @contextlib.contextmanager
    def still(self) -> Iterator[None]:
        """Within the block nothing is changed by what this class does on its own."""
        self._is_still.set()
        try:
            yield
        finally:
            self._is_still.clear()

    # Objects

    def ask(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> Any:
        """Raises Refused."""
        headers = {"Accept": "application/json", "Content-Type": content_type}
        self._client.update_params_for_auth(headers, [], ["BearerToken"], path, method, None)
        answer = self._client.rest_client.pool_manager.request(
            method,
            f"{self._client.configuration.host}{path}",
            headers=headers,
            body=None if body is None else json.dumps(body),
        )
        said = json.loads(answer.data) if answer.data[:1] == b"{" else answer.data.decode()
        if answer.status >= 400:
            raise Refused(answer.status, said)
        return said

    def serves(self, kind: Kind) -> bool:
        try:
            found = self.ask("GET", f"/apis/{kind.api_version}")["resources"]
        except Refused as refused:
            if refused.status == 404:
                return False
            raise
        return kind.plural in {each["name"] for each in found}

    def create(self, manifest: Json) -> Json:
        """With its status, where it has one."""
        kind = _KINDS[manifest["kind"]]
        metadata = manifest["metadata"]
        namespace = metadata.get("namespace", self.namespace) if kind.namespaced else ""
        made: Json = self.ask("POST", _path(kind, namespace), manifest)
        self._made.append((kind, namespace, made["metadata"]["name"]))
        if manifest.get("status"):
            made = self.patch(kind.name, made["metadata"]["name"], {"status": manifest["status"]}, "/status")
        return made

    def find(self, kind: str, name: str) -> Json | None:
        try:
            found: Json = self.ask("GET", self._path_of(kind, name))
        except Refused as refused:
            if refused.status == 404:
                return None
            raise
        return found

    def get(self, kind: str, name: str) -> Json:
        found = self.find(kind, name)
        assert found is not None, (kind, name)
        return found

    def all(self, kind: str) -> list[Json]:
        """Of this test's namespace, or of the cluster."""
        of = _KINDS[kind]
        items: list[Json] = self.ask("GET", _path(of, self.namespace if of.namespaced else ""))["items"]
        return items

    def patch(self, kind: str, name: str, body: Json, subresource: str = "") -> Json:
        patched: Json = self.ask("PATCH", self._path_of(kind, name) + subresource, body, STRATEGIC)
        return patched

    def remove(self, kind: str, name: str) -> None:
        """At once, and also where it is gone already."""
        options = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}
        with contextlib.suppress(Refused):
            self.ask("DELETE", self._path_of(kind, name), options)

    def _path_of(self, kind: str, name: str) -> str:
        of = _KINDS[kind]
        return f"{_path(of, self.namespace if of.namespaced else '')}/{name}"

    # What schedulers look at

    def node(self, name: str, **options: Any) -> str:
        """One that is ready, for this test's pods alone; its name in the cluster."""
        whole = f"{name}-{self.namespace}"
        made = node(whole, metadata={"labels": {OWN: self.namespace}}, **options)
        self.create(made)
        # A node begins as one that is not ready, and stays so where no controller takes that back.
        self.patch("Node", whole, {"spec": {"taints": None}})
        return whole

    def pod(self, name: str, scheduler: str, **options: Any) -> Json:
        """Pending, for this test's nodes."""
        made = pod(name, self.namespace, scheduler=scheduler, **options)
        made["spec"].setdefault("nodeSelector", {})[OWN] = self.namespace
        made["spec"]["automountServiceAccountToken"] = False
        # Whoever creates a pod may not say its priority: a class does.
        priority = made["spec"].pop("priority", 0)
        if priority:
            made["spec"]["priorityClassName"] = self._priority_class(priority)
        made["spec"]["terminationGracePeriodSeconds"] = 30
        del made["status"]
        return self.create(made)

    def _priority_class(self, value: int) -> str:
        name = f"{self.namespace}-{value}"
        if self.find("PriorityClass", name) is None:
            about = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
            self.create({**about, "metadata": {"name": name}, "value": value})
        return name

    def bind(self, name: str, on: str) -> None:
        """As another scheduler would."""
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": name},
            "target": {"kind": "Node", "name": on},
        }
        self.ask("POST", self._path_of("Pod", name) + "/binding", body)

    def node_of(self, name: str) -> str:
        found = self.find("Pod", name)
        return "" if found is None else str(found["spec"].get("nodeName", ""))

    def condition(self, name: str, type_: str = "PodScheduled") -> Json:
        found = self.get("Pod", name)["status"].get("conditions", [])
        return next((each for each in found if each["type"] == type_), {})

    def events(self, name: str) -> list[Json]:
        """As `kubectl describe` finds them, the oldest first."""
        found = [each for each in self.all("Event") if each["involvedObject"]["name"] == name]
        return sorted(found, key=lambda each: str(each.get("eventTime")))

    def reasons(self, name: str) -> list[str]:
        return [each["reason"] for each in self.events(name)]

    def _keep_alive(self) -> None:
        """Kubelets say every few seconds that they are there; where a controller looks after nodes it wants to hear."""
        while not self._over.wait(ALIVE_SECONDS):
            for kind, _, name in list(self._made):
                if kind.name == "Node" and not self._is_still.is_set():
                    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
                    ready = {"type": "Ready", "status": "True", "lastHeartbeatTime": now}
                    with contextlib.suppress(Refused):
                        self.patch("Node", name, {"status": {"conditions": [ready]}}, "/status")

    def _remove(self) -> None:
        for name in _REMOVED:
            for each in self.all(name):
                self._remove_protected(name, each["metadata"]["name"])
        for kind, _, name in reversed(self._made):
            self._remove_protected(kind.name, name)

    def _remove_protected(self, kind: str, name: str) -> None:
        if kind.startswith("PersistentVolume") or kind in ("ResourceClaim", "PodGroup"):
            # What protects it is taken away by a controller, which need not be there.
            with contextlib.suppress(Refused):
                self.patch(kind, name, {"metadata": {"finalizers": None}})
        self.remove(kind, name)

    # People

    @abc.abstractmethod
    def account(self, name: str) -> Account:
        """Without any rights but to ask what they are."""

    @abc.abstractmethod
    def grant(self, account: Account, roles: str) -> None:
        """``roles``: the YAML that the product prints for it to be applied."""

    @abc.abstractmethod
    def writes_of(self, account: Account) -> list[str]:
        """What the API server was asked to change by somebody, as ``verb resource namespace/name``, with
        ``?dryRun=All`` behind what was only tried. LookupError where nobody knows."""

    def kubeconfig_for(self, account: Account, context: str) -> Json:
        whole = yaml.safe_load(self._kubeconfig.read_text(encoding="utf-8"))
        current = next(each for each in whole["contexts"] if each["name"] == whole["current-context"])
        cluster = next(each for each in whole["clusters"] if each["name"] == current["context"]["cluster"])
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": context,
            "contexts": [{"name": context, "context": {"cluster": cluster["name"], "user": account.user}}],
            "clusters": [cluster],
            "users": [{"name": account.user, "user": {"token": account.token}}],
        }


class StandIn(Cluster):
    is_real = False

    def __init__(self, server: ApiServer, folder: Path) -> None:
        self.server = server
        super().__init__(server.write_kubeconfig(folder / "admin"))

    def account(self, name: str) -> Account:
        user = f"system:serviceaccount:{self.namespace}:{name}"
        return Account(user, self.server.user(user))

    def grant(self, account: Account, roles: str) -> None:
        for each in yaml.safe_load_all(roles):
            if each["kind"] == "ClusterRole":
                self.server.grant(account.user, each["rules"])

    def writes_of(self, account: Account) -> list[str]:
        return [
            _written(each.verb, each.resource, each.namespace, each.name, dry_run=each.dry_run)
            for each in self.server.requests.writes()
            if each.user == account.user
        ]


class Real(Cluster):
    is_real = True

    def __init__(self, kubeconfig: Path, audit_log: Path | None) -> None:
        super().__init__(kubeconfig)
        self.audit_log = audit_log

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        with super().entered():
            # Pods want one, and where no controller makes it nobody does.
            with contextlib.suppress(Refused):
                self.account("default")
            yield

    def account(self, name: str) -> Account:
        self.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}})
        request = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": 7200},
        }
        given = self.ask("POST", f"{self._path_of('ServiceAccount', name)}/token", request)
        return Account(f"system:serviceaccount:{self.namespace}:{name}", given["status"]["token"])

    def grant(self, account: Account, roles: str) -> None:
        """Under names of this test's own."""
        for each in yaml.safe_load_all(roles):
            each["metadata"]["name"] += f"-{self.namespace}"
            if each["kind"] == "ClusterRoleBinding":
                each["roleRef"]["name"] += f"-{self.namespace}"
            self.create(each)

    def writes_of(self, account: Account) -> list[str]:
        if self.audit_log is None:
            raise LookupError("TEST_AUDIT_LOG names no audit log")
        found = []
        for line in self.audit_log.read_text(encoding="utf-8").splitlines():
            said: Mapping[str, Any] = json.loads(line)
            about = said.get("objectRef") or {}
            if said["user"]["username"] != account.user or said["verb"] in ("get", "list", "watch"):
                continue
            if not about.get("resource", "").startswith("selfsubject"):
                resource = "/".join(filter(None, (about.get("resource"), about.get("subresource"))))
                dry_run = "dryRun=All" in said["requestURI"]
                names = about.get("namespace", ""), about.get("name", "")
                found.append(_written(said["verb"], resource, *names, dry_run=dry_run))
        return found

    def _remove(self) -> None:
        super()._remove()
        # Where no controller empties namespaces, nobody says that this one is empty.
        with contextlib.suppress(Refused):
            found = self.ask("GET", f"/api/v1/namespaces/{self.namespace}")
            self.ask("PUT", f"/api/v1/namespaces/{self.namespace}/finalize", {**found, "spec": {"finalizers": []}})


def _path(kind: Kind, namespace: str) -> str:
    root = f"/apis/{kind.api_version}" if kind.group else f"/api/{kind.version}"
    return f"{root}/namespaces/{namespace}/{kind.plural}" if kind.namespaced else f"{root}/{kind.plural}"


def _written(verb: str, resource: str, namespace: str, name: str, *, dry_run: bool) -> str:
    return f"{verb} {resource} {namespace}/{name}{'?dryRun=All' if dry_run else ''}"
