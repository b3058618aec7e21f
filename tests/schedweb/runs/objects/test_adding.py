"""Objects of the catalogue are added to a run and deleted from it, as text: what is refused and where, who is tried."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client

from framework.configuration.presets import preset
from framework.objects.catalogue import QUOTA_PARENT, AppGroup, LoadMetrics
from schedweb.runs.models import JournalEntry
from schedweb.sentences import translated
from tests.schedweb.engine.worlds import Manifest, node, pod
from tests.schedweb.runs.conftest import Game, played_out
from tests.schedweb.runs.test_api import check_shape, get

pytestmark = pytest.mark.django_db(transaction=True)
AT = "/api/v1/runs/{run}/objects/yaml/"


def text_of(id_: str) -> str:
    chosen = preset(id_)
    assert chosen is not None
    return chosen.text


def made(api: str, kind: str, name: str, namespace: str = "", **fields: Any) -> Manifest:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **fields.pop("metadata", {})}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **fields}


def quota(name: str = "shop", namespace: str = "shop", cpu: str = "2", **more: Any) -> Manifest:
    return made("scheduling.x-k8s.io/v1alpha1", "ElasticQuota", name, namespace, spec={"max": {"cpu": cpu}}, **more)


def sent(game: Game, client: Client, manifest: Manifest | str, status: int = 202, **more: Any) -> Any:
    text = manifest if isinstance(manifest, str) else json.dumps(manifest)
    body = {"type": "change", "manifest": text, "client_id": str(uuid4()), **more}
    answer = client.post(f"/api/v1/runs/{game.id}/commands/", body, content_type="application/json")
    assert answer.status_code == status, answer.content
    return answer.json()


def done(game: Game, receipt: dict[str, Any]) -> JournalEntry:
    game.command("play", speed="max")
    game.play()
    return JournalEntry.objects.get(pk=receipt["id"])


def rests_on(game: Game, client: Client, kind: str, name: str, namespace: str = "") -> str:
    body = get(client, f"{AT.format(run=game.id)}?kind={kind}&namespace={namespace}&name={name}")
    check_shape(AT, body)
    said: str = body["rests_on_it"]
    return said


def test_a_quota_that_is_added_holds_the_next_pod_back_until_it_is_deleted(operator: User, client: Client) -> None:
    game = played_out(operator, [node("a", "8"), pod("first", "1500m")], configuration=text_of("quotas"))
    receipt = sent(game, client, quota(cpu="2", mix=1), verb="add")
    assert ["mix" in warning for warning in receipt["warnings"]] == [True]
    entry = done(game, receipt)
    assert entry.status == "applied"
    game.command("pod_add", manifest=json.dumps(pod("second", "1500m")))
    game.play()
    assert game.places() == {"first": "bound", "second": "unschedulable"}
    assert rests_on(game, client, "ElasticQuota", "shop", "shop") == "2 pods are held to it."

    known = get(client, f"{AT.format(run=game.id)}?kind=ElasticQuota&namespace=shop&name=shop")["yaml"]
    named: Manifest = {"kind": "ElasticQuota", "namespace": "shop", "name": "shop"}
    entry = done(game, sent(game, client, known, verb="delete", **named))
    assert entry.status == "applied"
    assert entry.command["manifest"] == {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "ElasticQuota",
        "metadata": {"name": "shop", "namespace": "shop"},
    }
    assert game.places() == {"first": "bound", "second": "bound"}
    assert client.get(f"{AT.format(run=game.id)}?kind=ElasticQuota&namespace=shop&name=shop").status_code == 404


def test_what_is_wrong_is_told_with_its_line_and_nothing_is_stored(operator: User, client: Client) -> None:
    game = played_out(operator, [node("a")])
    before = JournalEntry.objects.count()
    head = "apiVersion: scheduling.x-k8s.io/v1alpha1\nkind: ElasticQuota\n"
    text = f"{head}metadata:\n  name: Shop_1\nspec:\n  max:\n    cpu: many\n"
    problems = sent(game, client, text, 422, verb="add")["error"]["problems"]
    assert [(each["path"], each["line"]) for each in problems] == [("metadata.name", 4), ("spec.max[cpu]", 7)]
    for metadata in ("", "metadata: null\n", "metadata: {}\n"):
        [problem] = sent(game, client, head + metadata, 422, verb="add")["error"]["problems"]
        assert problem["path"] == "metadata.name"
    another = made(LoadMetrics.api_version, LoadMetrics.kind, "mine")
    error = sent(game, client, another, 422, verb="add")["error"]
    assert error["problems"][0]["path"] == "metadata.name"
    assert "its name is load-watcher" in error["message"]
    assert JournalEntry.objects.count() == before


def test_one_without_a_namespace_or_with_a_generated_name_is_placed_as_an_api_server_does(
    operator: User, client: Client
) -> None:
    game = played_out(operator, [node("a")])
    manifest = quota(namespace="")
    manifest["metadata"] = {"generateName": "team-"}
    entry = done(game, sent(game, client, manifest, verb="add"))
    assert entry.status == "applied"
    [row] = get(client, f"/api/v1/runs/{game.id}/objects/?kind=ElasticQuota")["results"]
    assert row["namespace"] == "default"
    assert row["name"].startswith("team-")
    assert len(row["name"]) == len("team-") + 5


def test_one_that_is_there_already_and_one_that_is_not_are_refused(operator: User, client: Client) -> None:
    game = played_out(operator, [node("a"), quota()])
    again = done(game, sent(game, client, quota(), verb="add"))
    assert (again.status, str(translated(again.text))) == ("refused", 'elasticquotas "shop" already exists')
    gone = done(game, sent(game, client, quota("other"), verb="delete"))
    assert (gone.status, str(translated(gone.text))) == ("refused", "ElasticQuota shop/other not found")


def test_who_deletes_one_does_not_mean_another(operator: User, client: Client) -> None:
    game = played_out(operator, [node("a"), quota(), quota("other")])
    named: Manifest = {"kind": "ElasticQuota", "namespace": "shop", "name": "shop"}
    [problem] = sent(game, client, quota("other"), 422, verb="delete", **named)["error"]["problems"]
    assert problem["path"] == "metadata.name"


def test_what_rests_on_each_kind_is_told(operator: User, client: Client) -> None:
    grouped = pod("grouped", **{"scheduling.x-k8s.io/pod-group": "trio"})
    app = pod("app", **{AppGroup.GROUP_LABEL: "store"})
    called = pod("called")
    called["spec"]["securityContext"] = {
        "seccompProfile": {"type": "Localhost", "localhostProfile": "operator/shop/web.json"}
    }
    group = made("scheduling.x-k8s.io/v1alpha1", "PodGroup", "trio", "shop", spec={"minMember": 1})
    network = "networktopology.diktyo.x-k8s.io/v1alpha1"
    load: Manifest = {"NodeMetricsMap": {"a": {"metrics": []}, "gone": {"metrics": []}}}
    profiles = [
        made("security-profiles-operator.x-k8s.io/v1beta1", "SeccompProfile", name, "shop") for name in ("web", "idle")
    ]
    game = played_out(
        operator,
        [
            node("a", "8"),
            group,
            quota("all", "x"),
            quota("part", "y", metadata={"labels": {QUOTA_PARENT: "all"}}),
            made("topology.node.k8s.io/v1alpha2", "NodeResourceTopology", "a"),
            made(AppGroup.api_version, "AppGroup", "store", "shop"),
            made(network, "NetworkTopology", "nt", "shop"),
            *profiles,
            made(LoadMetrics.api_version, LoadMetrics.kind, LoadMetrics.NAME, data=load),
            grouped,
            app,
            called,
        ],
    )
    told = {
        ("PodGroup", "trio", "shop"): "1 pod is of this group.",
        ("ElasticQuota", "all", "x"): "1 quota is below it.",
        ("ElasticQuota", "part", "y"): "Nothing rests on it now.",
        ("NodeResourceTopology", "a", ""): "It says what the NUMA zones of node a have.",
        ("AppGroup", "store", "shop"): "1 pod is of this application.",
        ("NetworkTopology", "nt", "shop"): "1 AppGroup is placed by costs between zones.",
        ("SeccompProfile", "web", "shop"): "1 pod names it.",
        ("SeccompProfile", "idle", "shop"): "Nothing rests on it now.",
        ("LoadMetrics", LoadMetrics.NAME, ""): "It says how busy 1 node is.",
    }
    assert {key: rests_on(game, client, *key) for key in told} == told


def test_a_pod_that_waits_for_zones_is_tried_again_when_they_are_told(operator: User, client: Client) -> None:
    """By the plugin's registration for NodeResourceTopology, as upstream's informer would send it."""
    wide = pod("wide", "3")
    resources = {"requests": {"cpu": "3", "memory": "1Gi"}, "limits": {"cpu": "3", "memory": "1Gi"}}
    wide["spec"]["containers"][0]["resources"] = resources
    narrow = zones("a", "2")
    game = played_out(operator, [node("a", "8"), narrow, wide], configuration=text_of("numa"))
    assert game.places() == {"wide": "unschedulable"}
    assert done(game, sent(game, client, narrow, verb="delete")).status == "applied"
    assert done(game, sent(game, client, zones("a", "4"), verb="add")).status == "applied"
    assert game.places() == {"wide": "bound"}


def zones(name: str, cpu: str) -> Manifest:
    resources = [
        {"name": resource, "capacity": amount, "allocatable": amount, "available": amount}
        for resource, amount in (("cpu", cpu), ("memory", "8Gi"))
    ]
    return made(
        "topology.node.k8s.io/v1alpha2",
        "NodeResourceTopology",
        name,
        attributes=[
            {"name": "topologyManagerPolicy", "value": "single-numa-node"},
            {"name": "topologyManagerScope", "value": "pod"},
        ],
        zones=[{"name": f"node-{index}", "type": "Node", "resources": resources} for index in range(2)],
    )
