"""The built-in configurations: valid, playable, and asking about the pods that the samples want asked about."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from framework.configuration import load
from framework.interface.node_info import PodInfo
from framework.objects import Pod
from framework.objects.decode import decode_manifest
from framework.plugins.manualapproval.plugin import ManualApproval
from framework.plugins.registry import built_in_registry
from schedweb.configurations.builtins import BUILTINS, Builtin
from schedweb.configurations.examination import examine
from schedweb.snapshots.samples import SAMPLES, SampleCluster

BY_SLUG = {builtin.slug: builtin for builtin in BUILTINS}


@pytest.mark.parametrize("builtin", BUILTINS, ids=lambda each: each.slug)
def test_every_one_can_be_played(builtin: Builtin) -> None:
    examination = examine(builtin.text)
    assert (examination.errors, examination.warnings, examination.runnable) == ([], [], True)


def test_the_default_is_upstreams_and_samples_score_every_node() -> None:
    default = load(BY_SLUG["default"].text, built_in_registry()).effective
    assert (
        default
        == load(
            "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n", built_in_registry()
        ).effective
    )
    assert default is not None
    assert default.percentage_of_nodes_to_score == 0
    for slug in ("default-approvals", "default-every-node"):
        effective = load(BY_SLUG[slug].text, built_in_registry()).effective
        assert effective is not None
        assert effective.profiles[0].percentage_of_nodes_to_score == 100


def test_every_sample_names_a_built_in_one() -> None:
    assert {sample.build().configuration for sample in SAMPLES} <= set(BY_SLUG)


def pods_of(cluster: SampleCluster) -> list[Pod]:
    """Those that are scheduled in a run: pending ones and arrivals."""
    manifests = [*cluster.objects, *(each.manifest for each in cluster.arrivals if not each.delete)]
    decoded = [decode_manifest(manifest) for manifest in manifests if manifest["kind"] == "Pod"]
    return [pod for pod in decoded if isinstance(pod, Pod) and not pod.spec.node_name]


@pytest.mark.parametrize(
    ("slug", "asked"),
    [
        ("three-zone-shop", {"postgres", "legacy-report"}),
        ("gpu-cluster", {"serve", "serve-large", "notebook", "train-llm", "train-vision"}),
    ],
)
def test_a_person_is_asked_about_large_pods(slug: str, asked: set[str]) -> None:
    effective = load(BY_SLUG["default-approvals"].text, built_in_registry()).effective
    assert effective is not None
    profile = effective.profiles[0]
    assert profile.point("queueSort").names == ("Coscheduling",)
    assert profile.point("permit").names == ("Coscheduling", "ManualApproval")
    build: Callable[[], SampleCluster] = next(sample.build for sample in SAMPLES if sample.slug == slug)
    plugin = ManualApproval(profile.args["ManualApproval"], handle=None)  # type: ignore[arg-type]  # asks nobody here
    pods = pods_of(build())
    found = {pod.metadata.labels["app"] for pod in pods if plugin.grounds(PodInfo(pod)) is not None}
    assert found == asked
    assert found < {pod.metadata.labels["app"] for pod in pods}
