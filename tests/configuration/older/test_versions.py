"""Older KubeSchedulerConfigurations keep what they say and what they left to the defaults of their version."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.configuration.document import to_yaml
from framework.configuration.older import NotOlder, convert, is_older
from framework.configuration.source import SourceError
from tests.configuration.older.converting import REGISTRY, converted, found, only, profile_of

KUBEADM = """\
# Written by the platform team.
apiVersion: kubescheduler.config.k8s.io/v1beta2
kind: KubeSchedulerConfiguration
healthzBindAddress: 127.0.0.1:10251
clientConnection:
  kubeconfig: /etc/kubernetes/scheduler.conf
profiles:
  - schedulerName: default-scheduler
    plugins:
      score:
        enabled:
          - name: ImageLocality
            weight: 5 # big images
    pluginConfig:
      - name: NodeResourcesFit
        args:
          apiVersion: kubescheduler.config.k8s.io/v1beta2
          kind: NodeResourcesFitArgs
          scoringStrategy:
            type: MostAllocated
  - schedulerName: quick
    plugins:
      preScore:
        disabled:
          - name: "*"
      score:
        disabled:
          - name: "*"
"""

PACKING = """\
apiVersion: kubescheduler.config.k8s.io/v1beta1
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: true
  resourceLock: endpointsleases
profiles:
- plugins:
    filter:
      disabled:
      - name: EBSLimits
    score:
      disabled:
      - name: NodeResourcesLeastAllocated
      enabled:
      - name: NodeResourcesMostAllocated # fill nodes
        weight: 3
  pluginConfig:
  - name: NodeResourcesMostAllocated
    args:
      resources:
      - name: cpu
        weight: 2
"""

EARLY = """\
apiVersion: kubescheduler.config.k8s.io/v1alpha1
kind: KubeSchedulerConfiguration
schedulerName: my-scheduler
algorithmSource:
  provider: ClusterAutoscalerProvider
hardPodAffinitySymmetricWeight: 5
leaderElection:
  leaderElect: true
  lockObjectName: my-scheduler
disablePreemption: true
bindTimeoutSeconds: 100
failureDomains: kubernetes.io/hostname
plugins:
  postFilter:
    disabled:
    - name: TaintToleration
  unreserve:
    enabled:
    - name: VolumeBinding
"""


def test_comments_and_what_stands_there_stay() -> None:
    made = converted(KUBEADM)
    assert made.text.startswith("# Written by the platform team.\napiVersion: kubescheduler.config.k8s.io/v1\n")
    assert "            weight: 5 # big images\n" in made.text
    assert only(made, "healthzBindAddress").outcome == "dropped"
    assert only(made, "healthzBindAddress").line == 4
    assert "healthzBindAddress" not in made.text
    assert only(made, "NodeResourcesFit").line == 17


def test_weights_of_the_old_defaults_are_written_out_for_every_profile_that_scores() -> None:
    made = converted(KUBEADM)
    assert profile_of(made).weights == {
        "ImageLocality": 5,
        "TaintToleration": 1,
        "NodeAffinity": 1,
        "NodeResourcesFit": 1,
        "VolumeBinding": 1,
        "PodTopologySpread": 2,
        "InterPodAffinity": 1,
        "DynamicResources": 2,
        "NodeResourcesBalancedAllocation": 1,
    }
    assert profile_of(made, 1).weights == {}
    assert "v1 would give it 3" in str(only(made, "TaintToleration").sentence)


def test_v1beta3_has_the_weights_of_v1_and_nothing_is_written() -> None:
    old = "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n"
    made = converted(old)
    assert made.text == "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    assert [each.what for each in made.findings] == ["apiVersion"]


def test_a_plugin_that_scored_by_resources_becomes_a_strategy_in_its_place() -> None:
    made = converted(PACKING)
    profile = profile_of(made)
    assert "      - name: NodeResourcesFit # fill nodes\n        weight: 3\n" in made.text
    strategy = profile.args["NodeResourcesFit"].scoring_strategy
    assert (strategy.type, [(each.name, each.weight) for each in strategy.resources]) == ("MostAllocated", [("cpu", 2)])
    assert profile.weights["NodeResourcesFit"] == 3
    assert only(made, "EBSLimits").outcome == "dropped"
    assert "resourceLock: leases" in made.text
    assert only(made, "NodePreferAvoidPods").outcome == "dropped"


def test_v1alpha1_becomes_one_profile() -> None:
    made = converted(EARLY)
    profile = profile_of(made)
    assert profile.scheduler_name == "my-scheduler"
    assert profile.args["NodeResourcesFit"].scoring_strategy.type == "MostAllocated"
    assert profile.args["InterPodAffinity"].hard_pod_affinity_weight == 5
    assert profile.args["VolumeBinding"].bind_timeout_seconds == 100
    assert "DefaultPreemption" not in profile.plugins
    assert "TaintToleration" not in profile.point("preScore").names
    assert profile.point("reserve").names[0] == "VolumeBinding"
    assert "resourceName: my-scheduler" in made.text
    assert {each.what for each in made.dropped} == {"NodePreferAvoidPods", "failureDomains"}


def test_one_who_disabled_selector_spread_gets_no_spreading() -> None:
    old = """\
apiVersion: kubescheduler.config.k8s.io/v1alpha2
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    score:
      disabled:
      - name: DefaultPodTopologySpread
"""
    made = converted(old)
    assert profile_of(made).args["PodTopologySpread"].defaulting_type == "List"
    assert only(made, "DefaultPodTopologySpread").line == 7


def test_plugins_that_nobody_has_are_named_and_left_out() -> None:
    old = """\
apiVersion: kubescheduler.config.k8s.io/v1beta2
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    preFilter:
      enabled:
      - name: TaintToleration
    filter:
      enabled:
      - name: OurOwn
    score:
      enabled:
      - name: NodePreferAvoidPods
        weight: 10000
  unheardOf: true
"""
    made = converted(old)
    assert {(each.what, each.line) for each in made.dropped} == {
        ("OurOwn", 10),
        ("TaintToleration", 7),
        ("NodePreferAvoidPods", 13),
        ("unheardOf", 15),
    }


def test_labels_of_node_label_join_the_affinity_that_is_there() -> None:
    old = """\
apiVersion: kubescheduler.config.k8s.io/v1beta1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    filter:
      enabled:
      - name: NodeLabel
    score:
      enabled:
      - name: NodeLabel
        weight: 2
  pluginConfig:
  - name: NodeLabel
    args:
      presentLabels: [ssd]
      presentLabelsPreference: [fast]
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms:
          - matchExpressions: [{key: team, operator: In, values: [a]}]
"""
    made = converted(old)
    added = profile_of(made).args["NodeAffinity"].added_affinity
    [term] = added.required_during_scheduling_ignored_during_execution.node_selector_terms
    assert [each.key for each in term.match_expressions] == ["team", "ssd"]
    assert [each.outcome for each in found(made, "NodeLabel")] == ["changed", "dropped"]


def test_a_config_map_is_looked_into_and_lines_are_those_of_the_whole_text() -> None:
    inner = "".join(f"    {line}\n" for line in KUBEADM.splitlines())
    outer = f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata:\n  notes: hello\n  config.yaml: |\n{inner}"
    made = converted(outer)
    assert only(made, "healthzBindAddress").line == 7 + 4
    assert only(made, "healthzBindAddress").path == "data.config.yaml.healthzBindAddress"
    assert made.text == converted(KUBEADM).text


def test_a_policy_in_the_next_document_is_the_one_that_v1alpha1_names() -> None:
    old = """\
apiVersion: kubescheduler.config.k8s.io/v1alpha1
kind: KubeSchedulerConfiguration
schedulerName: my-scheduler
algorithmSource:
  policy:
    configMap:
      name: my-policy
"""
    alone = converted(old)
    assert "ConfigMap kube-system/my-policy" in str(only(alone, "algorithmSource").sentence)
    assert only(alone, "algorithmSource").outcome == "dropped"
    policy = "kind: Policy\npriorities:\n- name: ImageLocalityPriority\n  weight: 7\n"
    both = converted(f"{old}---\n{policy}")
    assert profile_of(both).scheduler_name == "my-scheduler"
    assert profile_of(both).weights["ImageLocality"] == 7
    assert only(both, "algorithmSource").outcome == "carried"
    assert only(both, "ImageLocalityPriority").line == 11


@pytest.mark.parametrize(
    ("text", "says", "line"),
    [
        ("", "empty", None),
        ("hello", "no Policy", 1),
        ("kind: Pod\napiVersion: v1\n", "Pod (v1) is no configuration", 1),
        ("kind: Policy\napiVersion: audit.k8s.io/v1\n", "is no configuration", 1),
        ("kind: ConfigMap\napiVersion: v1\ndata: {a: b}\n", "this ConfigMap holds no Policy", 1),
        ("kind: Policy\n---\nkind: Policy\n", "several configurations", 3),
        ("kind: Policy\n\tx: 1\n", "yaml", 2),
        ("kind: Policy\npredicates: [\n", "yaml", 3),
    ],
)
def test_what_is_something_else_is_refused_with_a_place(text: str, says: str, line: int | None) -> None:
    with pytest.raises(SourceError) as refused:
        convert(text, REGISTRY)
    assert says in str(refused.value)
    assert refused.value.line == line
    assert not is_older(text) or "several" in says


def test_v1_is_not_older_and_stays_as_it_is() -> None:
    text = "# as it is\napiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    assert not is_older(text)
    assert converted(text).text == text


def test_what_the_older_version_refused_is_told_as_the_error_it_is() -> None:
    old = "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\nparallelism: -1\n"
    made = convert(old, REGISTRY)
    assert [each.path for each in made.errors] == ["parallelism"]


def test_flags_that_are_configuration_do_not_fit_a_configuration() -> None:
    with pytest.raises(NotOlder):
        convert("--leader-elect", REGISTRY, "kind: Policy")


_SCORES = {
    "NodeResourcesBalancedAllocation": 1,
    "ImageLocality": 1,
    "InterPodAffinity": 1,
    "NodeResourcesFit": 1,
    "NodeAffinity": 1,
    "PodTopologySpread": 2,
    "TaintToleration": 1,
}
_RESOURCES = {"NodeResourcesLeastAllocated": "LeastAllocated", "NodeResourcesMostAllocated": "MostAllocated"}
_names = st.sampled_from([name for name in _SCORES if name != "NodeResourcesFit"])


@given(
    version=st.sampled_from(["v1alpha2", "v1beta1", "v1beta2"]),
    enabled=st.dictionaries(_names, st.integers(1, 100)),
    disabled=st.sets(_names | st.just("*")),
    resources=st.none() | st.sampled_from(list(_RESOURCES)),
)
@settings(max_examples=25, deadline=None)
def test_the_score_of_any_lists_is_what_the_older_version_made_of_them(
    version: str, enabled: dict[str, int], disabled: set[str], resources: str | None
) -> None:
    expected = dict(_SCORES)
    lists: dict[str, Any] = {"enabled": [{"name": name, "weight": weight} for name, weight in enabled.items()]}
    off = set(disabled)
    if version != "v1beta2" and resources is not None:
        off.add("NodeResourcesLeastAllocated")
        lists["enabled"].append({"name": resources, "weight": 9})
        expected["NodeResourcesFit"] = 9
    elif "*" in off:
        del expected["NodeResourcesFit"]
    for name in list(expected):
        if name != "NodeResourcesFit" and (name in off or "*" in off):
            del expected[name]
    if version == "v1alpha2" and "PodTopologySpread" in off and "*" not in off:
        expected["PodTopologySpread"] = 1  # SelectorSpread ran by default, and is written as its System constraints
    expected |= enabled
    lists["disabled"] = [{"name": name} for name in sorted(off)]
    old = {
        "apiVersion": f"kubescheduler.config.k8s.io/{version}",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"plugins": {"score": lists}}],
    }
    profile = profile_of(converted(to_yaml(json.dumps(old))))
    assert {k: v for k, v in profile.weights.items() if k not in ("DynamicResources", "VolumeBinding")} == expected
