"""deploy/kubernetes: every overlay builds, is what the API takes, may do what the code asks for and nothing more."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any, Final

import pytest

from schedweb.clusters.reading.access import Access
from schedweb.clusters.reading.kinds import EXTRA, STANDARD, kinds_of
from schedweb.clusters.reading.rights import READ_VERBS, Mode, ask, rules_for
from schedweb.clusters.writing.permission import VARIABLE, is_allowed
from scripts.compose import Service, read_compose
from tests.apiserver import ApiServer
from tests.deploy.manifests import Manifest, built, containers, faults, of_kind, pod_templates

OVERLAYS: Final = ("base", "overlays/look", "overlays/shadow", "overlays/schedule")
OURS: Final = ("web", "worker", "migrate")
NAMESPACE: Final = "scheduling-playground"
pytestmark = pytest.mark.xdist_group("kustomize")
"""Each overlay is built once, for all tests."""
Granted = set[tuple[str, str, str, str, str]]
"""Namespace ("" for all), group, resource, name ("" for all), verb."""


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_it_is_what_the_api_of_kubernetes_takes(overlay: str) -> None:
    assert [fault for each in built(overlay) for fault in faults(each)] == []
    names = [(each["kind"], each["metadata"].get("namespace"), each["metadata"]["name"]) for each in built(overlay)]
    assert len(names) == len(set(names))


def test_what_the_api_would_not_take_is_found() -> None:
    [claim] = of_kind(built("base"), "PersistentVolumeClaim")
    wrong: list[Manifest] = [
        {**claim, "kind": "PersistentVolumeclaim"},
        {**claim, "spec": {**claim["spec"], "accessmodes": []}},
        {**claim, "spec": {**claim["spec"], "resources": {"requests": {"storage": 10}}}},
        {**claim, "metadata": {**claim["metadata"], "finalizers": "none"}},
        {**claim, "spec": {**claim["spec"], "storage_class_name": "fast"}},
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"replicas": 2}},
    ]
    assert faults(claim) == []
    assert [each for each in wrong if not faults(each)] == []


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_no_pod_runs_as_root_writes_to_its_image_or_may_become_more(overlay: str) -> None:
    for name, template in pod_templates(built(overlay)).items():
        spec = template["spec"]
        pod = spec["securityContext"]
        assert pod["runAsNonRoot"] is True, name
        assert min(pod["runAsUser"], pod["runAsGroup"]) > 0, name
        assert pod["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert not {"hostNetwork", "hostPID", "hostIPC"} & set(spec), name
        assert spec["enableServiceLinks"] is False, name
        assert not [each for each in spec["volumes"] if "hostPath" in each], name
        for container in containers(template):
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert set(container["resources"]["requests"]) == {"cpu", "memory"}
            assert "memory" in container["resources"]["limits"]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_what_pods_name_is_there(overlay: str) -> None:
    manifests = built(overlay)
    there = {(each["kind"], each["metadata"]["name"]) for each in manifests}
    sets = of_kind(manifests, "StatefulSet")
    claims = {claim["metadata"]["name"] for each in sets for claim in each["spec"]["volumeClaimTemplates"]}
    for template in pod_templates(manifests).values():
        spec = template["spec"]
        assert ("ServiceAccount", spec["serviceAccountName"]) in there
        volumes = {each["name"]: each for each in spec["volumes"]}
        for container in containers(template):
            assert {each["name"] for each in container["volumeMounts"]} <= set(volumes) | claims
            for each in container.get("envFrom", []):
                assert ("ConfigMap", each["configMapRef"]["name"]) in there
        for volume in volumes.values():
            if "configMap" in volume:
                assert ("ConfigMap", volume["configMap"]["name"]) in there
    labels = [set(each["metadata"]["labels"].items()) for each in pod_templates(manifests).values()]
    for service in of_kind(manifests, "Service"):
        assert any(set(service["spec"]["selector"].items()) <= each for each in labels)
    for budget in of_kind(manifests, "PodDisruptionBudget"):
        assert any(set(budget["spec"]["selector"]["matchLabels"].items()) <= each for each in labels)


def test_nothing_secret_is_in_it() -> None:
    assert [each for overlay in OVERLAYS for each in of_kind(built(overlay), "Secret")] == []


# What it runs is what Compose runs.


@pytest.fixture(scope="module")
def services() -> dict[str, Service]:
    return read_compose({"POSTGRES_PASSWORD": "$(POSTGRES_PASSWORD)", "SECRET_KEY": "from-the-secret"})


@pytest.mark.parametrize("name", [*OURS, "redis"])
def test_the_commands_are_compose_s(name: str, services: dict[str, Service]) -> None:
    [container] = pod_templates(built("base"))[name]["spec"]["containers"]
    assert (container.get("command") or container["args"]) == services[name].command


@pytest.mark.parametrize("name", ["redis", "postgres"])
def test_what_is_not_ours_is_compose_s_image(name: str, services: dict[str, Service]) -> None:
    [container] = pod_templates(built("base"))[name]["spec"]["containers"]
    health = services[name].health
    assert health is not None
    assert container["image"] == services[name].image
    assert container["readinessProbe"]["exec"]["command"] == health.command


@pytest.mark.parametrize("name", OURS)
def test_the_environment_has_all_that_compose_sets(name: str, services: dict[str, Service]) -> None:
    template = pod_templates(built("base"))[name]
    configured = {each["metadata"]["name"]: each["data"] for each in of_kind(built("base"), "ConfigMap")}
    for container in containers(template):
        [source] = container["envFrom"]
        given = dict(configured[source["configMapRef"]["name"]])
        given |= {each["name"]: each.get("value") for each in container["env"]}
        runs = name if container["name"] == name else "migrate"
        wanted = services[runs].environment
        assert wanted.keys() <= given.keys()
        # What differs: where metrics are told, and what comes from the Secret.
        secret = {each["name"] for each in container["env"] if "valueFrom" in each}
        same = wanted.keys() - secret - {"METRICS_PORT"}
        assert {"DATABASE_URL", "REDIS_URL", "PUBLIC_URL"} <= same
        assert {key: given[key] for key in same} == {key: wanted[key] for key in same}
        mounted = {each["mountPath"] for each in container["volumeMounts"]}
        assert mounted == {given["PLAYGROUND_DATA"], "/tmp"} == {given["TMPDIR"], "/tmp"}


def test_web_and_worker_wait_until_the_database_is_theirs() -> None:
    for name in ("web", "worker"):
        [waiting] = pod_templates(built("base"))[name]["spec"]["initContainers"]
        assert waiting["command"] == ["sh", "-c", "until python manage.py migrate --check; do sleep 2; done"]


def test_web_is_asked_for_signs_of_life() -> None:
    [web] = pod_templates(built("base"))["web"]["spec"]["containers"]
    asked = {kind: web[f"{kind}Probe"]["httpGet"] for kind in ("startup", "liveness", "readiness")}
    assert {kind: each["path"] for kind, each in asked.items()} == {
        "startup": "/livez",
        "liveness": "/livez",
        "readiness": "/readyz?exclude=workers&exclude=storage",
    }
    assert {each["port"] for each in asked.values()} == {web["ports"][0]["name"]}


def test_a_worker_is_not_ended_because_redis_is_away(services: dict[str, Service]) -> None:
    [worker] = pod_templates(built("base"))["worker"]["spec"]["containers"]
    health = services["worker"].health
    assert health is not None
    assert worker["readinessProbe"]["exec"]["command"] == health.command
    assert worker["livenessProbe"]["httpGet"]["path"] == "/metrics"
    assert "exec" not in worker["livenessProbe"]


# What it may do in the cluster.


def expanded(rules: list[Manifest], namespace: str) -> Granted:
    return {
        (namespace, group, resource, name, verb)
        for rule in rules
        for group, resource, name, verb in itertools.product(
            rule["apiGroups"], rule["resources"], rule.get("resourceNames") or [""], rule["verbs"]
        )
    }


def granted(overlay: str, account: str) -> Granted:
    """What the bindings of an overlay allow a service account."""
    manifests = built(overlay)
    subject = {"kind": "ServiceAccount", "namespace": NAMESPACE, "name": account}
    found: Granted = set()
    for binding in of_kind(manifests, "ClusterRoleBinding", "RoleBinding"):
        if subject in binding["subjects"]:
            reference, namespace = binding["roleRef"], binding["metadata"].get("namespace", "")
            [role] = [
                each
                for each in of_kind(manifests, reference["kind"])
                if each["metadata"]["name"] == reference["name"]
                and (reference["kind"] == "ClusterRole" or each["metadata"]["namespace"] == namespace)
            ]
            found |= expanded(role["rules"], namespace)
    return found


def asked_for(*modes: Mode) -> Granted:
    return {
        (each.namespace, each.group, each.resource, "" if verb == "create" else each.name, verb)
        for each in rules_for(STANDARD + EXTRA)
        if each.mode in modes
        for verb in each.verbs
    }


@pytest.mark.parametrize("overlay", ["overlays/look", "overlays/shadow"])
def test_who_looks_may_read_what_is_asked_for_and_write_nothing(overlay: str) -> None:
    assert granted(overlay, "worker") == asked_for("look")
    roles = of_kind(built(overlay), "ClusterRole", "Role")
    assert {verb for role in roles for rule in role["rules"] for verb in rule["verbs"]} == set(READ_VERBS)


def test_workers_alone_may_write_what_is_asked_for_where_people_may_schedule() -> None:
    assert granted("overlays/schedule", "worker") == asked_for("look", "schedule")
    for account in ("web", "migrate", "default"):
        assert granted("overlays/schedule", account) == set()


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_who_offers_to_schedule_and_who_does_it_were_told_that_they_may(overlay: str) -> None:
    """The web refuses a run that schedules, and a worker writes nothing, without the variable; nobody else has it."""
    configured = {each["metadata"]["name"]: each["data"] for each in of_kind(built(overlay), "ConfigMap")}
    told = {}
    for name in ("web", "worker"):
        [container] = pod_templates(built(overlay))[name]["spec"]["containers"]
        [source] = container["envFrom"]
        given = {**configured[source["configMapRef"]["name"]], **{each["name"]: "" for each in container["env"]}}
        told[name] = [context for context in given.get(VARIABLE, "").split(",") if context]
        assert set(told[name]) <= set(given.get("PLAYGROUND_CONTEXTS", "").split(","))
    wanted = ["in-cluster"] if overlay == "overlays/schedule" else []
    assert told == {"web": wanted, "worker": wanted}
    assert is_allowed("in-cluster", {VARIABLE: ",".join(told["worker"])}) is bool(wanted)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_process_of_ours_that_stays_is_asked_for_signs_of_life(overlay: str) -> None:
    deployments = of_kind(built(overlay), "Deployment", "StatefulSet")
    assert {each["metadata"]["name"] for each in deployments} == {"web", "worker", "postgres", "redis"}
    for each in deployments:
        [container] = each["spec"]["template"]["spec"]["containers"]
        assert {"livenessProbe", "readinessProbe"} <= set(container), each["metadata"]["name"]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_only_who_has_rights_has_a_token(overlay: str) -> None:
    bound = {
        subject["name"]
        for binding in of_kind(built(overlay), "ClusterRoleBinding", "RoleBinding")
        for subject in binding["subjects"]
    }
    templates = pod_templates(built(overlay)).values()
    with_token = {
        each["spec"]["serviceAccountName"] for each in templates if each["spec"]["automountServiceAccountToken"]
    }
    assert with_token == bound
    assert not any(each["automountServiceAccountToken"] for each in of_kind(built(overlay), "ServiceAccount"))


@pytest.mark.parametrize(
    ("overlay", "account", "modes"),
    [("overlays/look", "worker", ["look"]), ("overlays/schedule", "worker", ["look", "schedule"])],
)
def test_with_these_rights_an_api_server_says_that_nothing_is_missing(
    overlay: str,
    account: str,
    modes: list[Mode],
    api_server: ApiServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    token = api_server.user("ours", [])
    for namespace, group, resource, name, verb in granted(overlay, account):
        rule = {"apiGroups": [group], "resources": [resource], "verbs": [verb]}
        api_server.grant("ours", [{**rule, "resourceNames": [name]} if name else rule], namespace=namespace)
    monkeypatch.setenv("KUBECONFIG", str(api_server.write_kubeconfig(tmp_path / "config", token=token, context="here")))
    access = Access("here")
    rights = ask(access, kinds_of(access))
    assert [mode for mode in ("look", "schedule") if not rights.missing(mode)] == modes


# Who may talk to whom.

OUTSIDE: Final = {
    "ingress": ("ingress-nginx", {"app.kubernetes.io/name": "ingress-nginx"}),
    "dns": ("kube-system", {"k8s-app": "kube-dns"}),
    "other": ("default", {"app.kubernetes.io/name": "web"}),
}
API_SERVER: Final = "api-server"
PORTS: Final = (("UDP", 53), ("TCP", 53), ("TCP", 443), ("TCP", 5432), ("TCP", 6379), ("TCP", 6443), ("TCP", 8000))


def selects(selector: dict[str, Any], labels: dict[str, str]) -> bool:
    assert selector.keys() <= {"matchLabels", "matchExpressions"}
    for each in selector.get("matchExpressions", []):
        assert each["operator"] == "In"
        if labels.get(each["key"]) not in each["values"]:
            return False
    wanted: dict[str, str] = selector.get("matchLabels", {})
    return wanted.items() <= labels.items()


def opens(rule: dict[str, Any], side: str, other: tuple[str, dict[str, str]] | None, protocol: str, port: int) -> bool:
    """Whether one rule of a NetworkPolicy lets a pod talk with another one (None: an address that is no pod's)."""
    if not any((each["protocol"], each["port"]) == (protocol, port) for each in rule["ports"]):
        return False
    if side not in rule:
        return True
    if other is None:
        return False
    namespace, labels = other
    return any(
        selects(peer.get("podSelector", {}), labels)
        and (
            selects(peer["namespaceSelector"], {"kubernetes.io/metadata.name": namespace})
            if "namespaceSelector" in peer
            else namespace == NAMESPACE
        )
        for peer in rule[side]
    )


def may_talk(overlay: str) -> set[tuple[str, str, str, int]]:
    """As the API server's documentation has it: a side that a policy selects takes what one of its policies opens."""
    manifests = built(overlay)
    inside = {name: (NAMESPACE, each["metadata"]["labels"]) for name, each in pod_templates(manifests).items()}
    pods: dict[str, tuple[str, dict[str, str]] | None] = {**inside, **OUTSIDE, API_SERVER: None}
    policies = [each["spec"] for each in of_kind(manifests, "NetworkPolicy")]

    def lets(direction: str, side: str, one: str, other: str, protocol: str, port: int) -> bool:
        if one not in inside:
            return True
        chosen = [
            each
            for each in policies
            if selects(each["podSelector"], inside[one][1]) and direction.capitalize() in each["policyTypes"]
        ]
        assert chosen, "all else is refused"
        return any(
            opens(rule, side, pods[other], protocol, port) for each in chosen for rule in each.get(direction, [])
        )

    return {
        (one, other, protocol, port)
        for one, other in itertools.permutations(pods, 2)
        if one in inside or other in inside
        for protocol, port in PORTS
        if lets("egress", "to", one, other, protocol, port) and lets("ingress", "from", other, one, protocol, port)
    }


WITHIN: Final = {
    *((name, "dns", protocol, 53) for name in OURS for protocol in ("UDP", "TCP")),
    *((name, "postgres", "TCP", 5432) for name in OURS),
    *((name, "redis", "TCP", 6379) for name in ("web", "worker")),
    ("ingress", "web", "TCP", 8000),
}


def to_api_server(name: str) -> set[tuple[str, str, str, int]]:
    """It has no labels that a policy could name, so these ports are open to any address outside."""
    others = (API_SERVER, "ingress", "dns", "other")
    return {(name, other, "TCP", port) for other in others for port in (443, 6443)}


@pytest.mark.parametrize(
    ("overlay", "more"),
    [
        ("base", set()),
        ("overlays/look", to_api_server("worker")),
        ("overlays/shadow", to_api_server("worker")),
        ("overlays/schedule", to_api_server("worker")),
    ],
)
def test_the_network_is_open_where_it_has_to_be_and_nowhere_else(
    overlay: str, more: set[tuple[str, str, str, int]]
) -> None:
    assert may_talk(overlay) == WITHIN | more
