"""What the page of a pod says when Coscheduling, or another plugin of the catalogue, takes its node away again."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from tests.advice.test_pod_group_remedies import group, member
from tests.schedweb.engine.worlds import GANGS, Manifest, node, pod
from tests.schedweb.runs.conftest import played_out
from tests.schedweb.runs.test_api import get

NETWORK = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins: {multiPoint: {enabled: [{name: NetworkOverhead}]}}
  pluginConfig:
  - name: NetworkOverhead
    args: {networkTopologyName: costs, namespaces: [shop]}
"""


def answers(
    user: User, client: Client, objects: list[Manifest], *names: str, configuration: str = GANGS
) -> dict[str, Any]:
    game = played_out(user, objects, configuration=configuration)
    return {name: get(client, f"/api/v1/runs/{game.id}/pods/shop/{name}/")["answer"] for name in names}


def test_a_group_that_does_not_exist(operator: User, client: Client) -> None:
    said = answers(operator, client, [node("n1", "8"), member("a"), member("b", "64"), pod("c", "64")], "a", "b", "c")
    assert said["a"]["headline"] == "n1 was chosen, but its PodGroup shop/ring does not exist."
    assert said["a"]["detail"] == "The pod is tried again when it is created."
    assert said["b"]["detail"].endswith("Its PodGroup shop/ring does not exist.")
    assert "PodGroup" not in said["c"]["detail"], "it is in no group"


def test_a_group_of_which_one_fits_nowhere(operator: User, client: Client) -> None:
    said = answers(
        operator, client, [node("n1", "2"), group(3), member("a"), member("b"), member("c", "64")], "a", "b", "c"
    )
    lost = "It lost n1, as another pod of its pod group shop/ring fits nowhere."
    assert lost in {said["a"]["headline"], said["b"]["headline"]}
    for each in said.values():
        if each["headline"] == lost:
            assert each["detail"] == (
                "What was reserved for it on n1 is free again. "
                "The pod is tried again when pods come or its PodGroup changes."
            )
    given_up = "Too many of its pod group shop/ring have no node, so what was held for the others is free again."
    assert said["c"]["detail"].endswith(given_up)


def test_a_group_that_comes_too_late(operator: User, client: Client) -> None:
    """Nobody gives the others up, so they wait until their time is over."""
    patient = GANGS + "  pluginConfig:\n  - {name: Coscheduling, args: {podGroupRejectPercentage: 100}}\n"
    objects = [node("n1", "2"), group(3, scheduleTimeoutSeconds=2), member("a"), member("b"), member("c", "64")]
    said = answers(operator, client, objects, "a", "b", configuration=patient)
    late = "Its wait on n1 ran out: too few pods of its pod group shop/ring had a node by then."
    assert late in {each["headline"] for each in said.values()}


def test_an_error_of_a_plugin_says_what_is_missing(operator: User, client: Client) -> None:
    worker = pod("worker", "1")
    worker["metadata"]["labels"] = {
        "appgroup.diktyo.x-k8s.io": "it",
        "appgroup.diktyo.x-k8s.io.workload": "w",
    }
    other = pod("other", "1")
    other["metadata"]["labels"] = {"appgroup.diktyo.x-k8s.io": "it", "appgroup.diktyo.x-k8s.io.workload": "v"}
    other["spec"]["nodeName"] = "n1"
    app = {
        "apiVersion": "appgroup.diktyo.x-k8s.io/v1alpha1",
        "kind": "AppGroup",
        "metadata": {"name": "it", "namespace": "shop"},
        "spec": {
            "numMembers": 2,
            "topologySortingAlgorithm": "KahnSort",
            "workloads": [
                {
                    "workload": {"kind": "Deployment", "name": "w", "selector": "w"},
                    "dependencies": [{"workload": {"kind": "Deployment", "name": "v", "selector": "v"}}],
                },
                {"workload": {"kind": "Deployment", "name": "v", "selector": "v"}},
            ],
        },
    }
    said = answers(operator, client, [node("n1", "8"), app, other, worker], "worker", configuration=NETWORK)["worker"]
    assert said["headline"] == "NetworkTopology costs, from which NetworkOverhead reads costs, does not exist."
    assert said["detail"] == (
        "It can be created, or networkTopologyName can name another one. The pod is tried again after its backoff."
    )
