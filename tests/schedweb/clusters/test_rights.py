"""What the credentials may do, and the rules that are missing: applied, nothing is missing any more."""

from __future__ import annotations

from typing import Any

import yaml

from schedweb.clusters.reading.access import Access
from schedweb.clusters.reading.kinds import kinds_of
from schedweb.clusters.reading.rights import Rights, ask, missing_yaml
from tests.apiserver import ApiServer
from tests.apiserver.access import READER
from tests.schedweb.clusters.conftest import CONTEXT


def asked() -> Rights:
    access = Access(CONTEXT)
    return ask(access, kinds_of(access))


def granted_by(text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    role, binding = yaml.safe_load_all(text)
    assert (role["kind"], binding["kind"]) == ("ClusterRole", "ClusterRoleBinding")
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
    return role, binding


def test_a_reader_may_look_and_not_schedule(cluster: ApiServer) -> None:
    rights = asked()
    assert rights.missing("look") == []
    assert missing_yaml(rights, "look", CONTEXT) == ""
    assert {each.rule.resource for each in rights.missing("schedule")} == {
        "pods/binding",
        "pods/status",
        "pods",
        "persistentvolumes",
        "persistentvolumeclaims",
        "resourceclaims",
        "resourceclaims/status",
        "resourceclaims/binding",
        "events",
        "leases",
    }


def test_only_what_is_missing_is_to_be_applied_and_then_it_suffices(cluster: ApiServer) -> None:
    kept = [rule for rule in READER if "storage.k8s.io" not in rule["apiGroups"]]
    cluster.revoke("reader")
    cluster.grant("reader", kept)
    role, binding = granted_by(missing_yaml(asked(), "look", CONTEXT))
    [rule] = role["rules"]
    assert rule["apiGroups"] == ["storage.k8s.io"]
    assert set(rule["resources"]) == {
        "storageclasses",
        "csinodes",
        "csidrivers",
        "csistoragecapacities",
        "volumeattachments",
    }
    assert rule["verbs"] == ["get", "list", "watch"]
    assert binding["subjects"] == [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "reader"}]
    cluster.grant("reader", role["rules"])
    assert asked().missing("look") == []


def test_what_is_applied_later_is_a_role_of_another_name(cluster: ApiServer) -> None:
    names = set()
    for left_out in ("storage.k8s.io", "policy"):
        cluster.revoke("reader")
        cluster.grant("reader", [rule for rule in READER if left_out not in rule["apiGroups"]])
        role, _ = granted_by(missing_yaml(asked(), "look", CONTEXT))
        assert role["metadata"]["name"].startswith("scheduling-playground-look-")
        names.add(role["metadata"]["name"])
    assert len(names) == 2


def test_a_verb_alone_may_be_missing(cluster: ApiServer) -> None:
    cluster.revoke("reader")
    cluster.grant("reader", [{**rule, "verbs": ["get", "list"]} for rule in READER])
    role, _ = granted_by(missing_yaml(asked(), "look", CONTEXT))
    assert {tuple(rule["verbs"]) for rule in role["rules"]} == {("watch",)}


def test_what_scheduling_lacks_suffices_when_it_is_granted(cluster: ApiServer) -> None:
    role, _ = granted_by(missing_yaml(asked(), "schedule", CONTEXT))
    cluster.grant("reader", role["rules"])
    assert asked().missing("schedule") == []


def test_a_service_account_is_named_as_one(cluster: ApiServer) -> None:
    rights = Rights(0.0, asked().answers, "system:serviceaccount:tools:playground")
    _, binding = granted_by(missing_yaml(rights, "schedule", CONTEXT))
    assert binding["subjects"] == [{"kind": "ServiceAccount", "namespace": "tools", "name": "playground"}]


def test_kube_schedulers_own_lease_is_a_mode_of_its_own(cluster: ApiServer) -> None:
    """Who schedules under another name needs nothing of it, and is not told to ask for it."""
    assert {each.rule.name for each in asked().missing("schedule")} == {"", "scheduling-playground"}
    role, _ = granted_by(missing_yaml(asked(), "default_scheduler", CONTEXT))
    named = [rule for rule in role["rules"] if "resourceNames" in rule]
    assert [(rule["resources"], rule["resourceNames"], rule["verbs"]) for rule in named] == [
        (["leases"], ["kube-scheduler"], ["get", "update"])
    ]
    cluster.grant("reader", role["rules"])
    assert asked().missing("default_scheduler") == []
    assert any(each.rule.resource == "leases" for each in asked().missing("schedule"))
