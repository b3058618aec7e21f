"""Policies become profiles that enable the mapped plugins, in the old order, with the mapped weights."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.configuration.older.converting import converted, found, only, profile_of

EXAMPLE = """{
"kind" : "Policy",
"apiVersion" : "v1",
"predicates" : [
\t{"name" : "PodFitsHostPorts"},
\t{"name" : "PodFitsResources"},
\t{"name" : "NoDiskConflict"},
\t{"name" : "NoVolumeZoneConflict"},
\t{"name" : "MatchNodeSelector"},
\t{"name" : "HostName"}
\t],
"priorities" : [
\t{"name" : "LeastRequestedPriority", "weight" : 1},
\t{"name" : "BalancedResourceAllocation", "weight" : 1},
\t{"name" : "ServiceSpreadingPriority", "weight" : 1},
\t{"name" : "EqualPriority", "weight" : 1}
\t],
"extenders" : [
\t{"urlPrefix": "http://127.0.0.1:12346/scheduler", "apiVersion": "v1beta1", "filterVerb": "filter",
\t "BindVerb": "bind", "prioritizeVerb": "prioritize", "weight": 5, "enableHttps": false,
\t "httpTimeout": 30000000000, "nodeCacheCapable": false,
\t "managedResources": [{"name": "example.com/gpu", "ignoredByScheduler": true}]}
\t],
"hardPodAffinitySymmetricWeight" : 10,
"alwaysCheckAllPredicates" : true
}
"""

# The tests' own copy of the mapping, in the order in which predicates were asked.
FILTERS = {
    "CheckNodeUnschedulable": ["NodeUnschedulable"],
    "GeneralPredicates": ["NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity"],
    "HostName": ["NodeName"],
    "PodFitsHostPorts": ["NodePorts"],
    "PodFitsPorts": ["NodePorts"],
    "MatchNodeSelector": ["NodeAffinity"],
    "PodFitsResources": ["NodeResourcesFit"],
    "NoDiskConflict": ["VolumeRestrictions"],
    "PodToleratesNodeTaints": ["TaintToleration"],
    "MaxEBSVolumeCount": ["NodeVolumeLimits"],
    "MaxGCEPDVolumeCount": ["NodeVolumeLimits"],
    "MaxCSIVolumeCountPred": ["NodeVolumeLimits"],
    "MaxAzureDiskVolumeCount": ["NodeVolumeLimits"],
    "MaxCinderVolumeCount": ["NodeVolumeLimits"],
    "CheckVolumeBinding": ["VolumeBinding"],
    "NoVolumeZoneConflict": ["VolumeZone"],
    "EvenPodsSpread": ["PodTopologySpread"],
    "MatchInterPodAffinity": ["InterPodAffinity"],
}
SCORES = {
    "InterPodAffinityPriority": "InterPodAffinity",
    "BalancedResourceAllocation": "NodeResourcesBalancedAllocation",
    "NodeAffinityPriority": "NodeAffinity",
    "TaintTolerationPriority": "TaintToleration",
    "ImageLocalityPriority": "ImageLocality",
    "EvenPodsSpreadPriority": "PodTopologySpread",
}
STRATEGIES = {
    "RequestedToCapacityRatioPriority": "RequestedToCapacityRatio",
    "MostRequestedPriority": "MostAllocated",
    "LeastRequestedPriority": "LeastAllocated",
}
ELSEWHERE = ["SelectorSpreadPriority", "EqualPriority", "NodePreferAvoidPodsPriority", "ResourceLimitsPriority"]
NEWER = {"DynamicResources", "NodeDeclaredFeatures"}


@given(
    predicates=st.lists(st.sampled_from(list(FILTERS)), unique=True),
    weights=st.dictionaries(st.sampled_from([*SCORES, *STRATEGIES, *ELSEWHERE]), st.integers(1, 1000)),
)
@settings(max_examples=30, deadline=None)
def test_exactly_the_mapped_plugins_run_with_the_mapped_weights(predicates: list[str], weights: dict[str, int]) -> None:
    policy = {
        "predicates": [{"name": name} for name in predicates],
        "priorities": [{"name": name, "weight": weight} for name, weight in weights.items()],
    }
    made = converted(json.dumps(policy))
    profile = profile_of(made)
    asked = {*predicates, "CheckNodeUnschedulable", "PodToleratesNodeTaints"}
    order = list(dict.fromkeys(plugin for name, plugins in FILTERS.items() if name in asked for plugin in plugins))
    assert [name for name in profile.point("filter").names if name not in NEWER] == order

    expected = {SCORES[name]: weight for name, weight in weights.items() if name in SCORES}
    if "SelectorSpreadPriority" in weights:
        expected.setdefault("PodTopologySpread", weights["SelectorSpreadPriority"])
    strategies = [name for name in STRATEGIES if name in weights]
    if strategies:
        best = max(strategies, key=lambda name: weights[name])
        expected["NodeResourcesFit"] = weights[best]
        assert profile.args["NodeResourcesFit"].scoring_strategy.type == STRATEGIES[best]
    assert {name: weight for name, weight in profile.weights.items() if name not in NEWER} == expected

    # Nothing goes without a word.
    named = {each.what for each in made.findings}
    assert {*predicates, *weights} <= named
    assert profile.point("queueSort").names == ("PrioritySort",)
    assert profile.point("bind").names == ("DefaultBinder",)
    assert "DefaultPreemption" in profile.point("postFilter").names


def test_the_example_of_the_documentation() -> None:
    made = converted(EXAMPLE)
    assert made.forms == ("Policy",)
    profile = profile_of(made)
    assert profile.weights == {
        "NodeResourcesFit": 1,
        "NodeResourcesBalancedAllocation": 1,
        "PodTopologySpread": 1,
        "DynamicResources": 2,
    }
    assert only(made, "PodFitsResources").line == 6
    assert only(made, "PodFitsResources").path == "predicates[1]"
    assert only(made, "EqualPriority").outcome == "carried"
    assert only(made, "alwaysCheckAllPredicates").outcome == "dropped"
    # InterPodAffinityPriority is not among the priorities.
    assert only(made, "hardPodAffinitySymmetricWeight").outcome == "dropped"


def test_extenders_keep_their_meaning_under_the_names_of_v1() -> None:
    made = converted(EXAMPLE)
    for line in (
        "bindVerb: bind",
        "enableHTTPS: false",
        "httpTimeout: 30s",
        "urlPrefix: http://127.0.0.1:12346/scheduler",
    ):
        assert line in made.text
    assert only(made, "BindVerb").outcome == "changed"
    assert only(made, "httpTimeout").outcome == "changed"
    assert str(only(made, "apiVersion").sentence) == "An extender of v1 has no field apiVersion."
    # What it manages is not the filter's business.
    assert profile_of(made).args["NodeResourcesFit"].ignored_resources == ("example.com/gpu",)


def test_lists_that_are_absent_are_the_default_ones_and_empty_ones_are_empty() -> None:
    absent = profile_of(converted('{"kind": "Policy", "apiVersion": "v1"}'))
    assert absent.weights == {
        "NodeResourcesFit": 1,
        "NodeAffinity": 1,
        "TaintToleration": 1,
        "InterPodAffinity": 1,
        "PodTopologySpread": 2,
        "NodeResourcesBalancedAllocation": 1,
        "ImageLocality": 1,
        "DynamicResources": 2,
    }
    assert "VolumeBinding" in absent.point("reserve").names
    empty = profile_of(converted('{"kind": "Policy", "predicates": [], "priorities": []}'))
    assert set(empty.point("filter").names) - NEWER == {"NodeUnschedulable", "TaintToleration"}
    assert set(empty.weights) == {"DynamicResources"}
    # Volumes were bound by a predicate's plugin: without the predicate nobody binds them.
    assert "VolumeBinding" not in empty.point("reserve").names


def test_labels_that_nodes_must_have_are_asked_for_by_node_affinity() -> None:
    policy = {
        "predicates": [
            {"name": "MatchNodeSelector"},
            {"name": "InZone", "argument": {"labelsPresence": {"labels": ["zone", "rack"], "presence": True}}},
            {"name": "NotRetiring", "argument": {"labelsPresence": {"labels": ["retiring"], "presence": False}}},
        ],
        "priorities": [],
    }
    made = converted(json.dumps(policy))
    added = profile_of(made).args["NodeAffinity"].added_affinity
    [term] = added.required_during_scheduling_ignored_during_execution.node_selector_terms
    assert [(each.key, each.operator) for each in term.match_expressions] == [
        ("zone", "Exists"),
        ("rack", "Exists"),
        ("retiring", "DoesNotExist"),
    ]
    assert only(made, "InZone").outcome == "changed"
    # Without MatchNodeSelector NodeAffinity would newly mind the selectors of pods, which is said.
    del policy["predicates"][0]
    assert only(converted(json.dumps(policy)), "NodeAffinity").outcome == "changed"
    assert found(made, "NodeAffinity") == []


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"name": "P", "weight": 2, "argument": {"serviceAntiAffinity": {"label": "zone"}}}, "defaultConstraints"),
        (
            {"name": "P", "weight": 2, "argument": {"labelPreference": {"label": "ssd", "presence": True}}},
            "addedAffinity",
        ),
        ({"name": "P", "weight": 0}, "no positive weight"),
        ({"name": "P", "weight": 1}, "No version of kube-scheduler has a priority P."),
        ({"name": "NodePreferAvoidPodsPriority", "weight": 10000}, "PreferNoSchedule"),
    ],
)
def test_what_has_no_successor_is_named(entry: dict[str, Any], says: str) -> None:
    made = converted(json.dumps({"priorities": [entry]}))
    finding = only(made, entry["name"])
    assert finding.outcome == "dropped"
    assert says in str(finding.sentence)
    assert finding.path == "priorities[0]"


def test_a_curve_and_its_resources_go_into_the_scoring_strategy() -> None:
    ratio = {
        "shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}],
        "resources": [{"name": "nvidia.com/gpu", "weight": 5}],
    }
    entry = {"name": "Pack", "weight": 3, "argument": {"requestedToCapacityRatioArguments": ratio}}
    made = converted(json.dumps({"priorities": [entry, {"name": "LeastRequestedPriority", "weight": 1}]}))
    profile = profile_of(made)
    strategy = profile.args["NodeResourcesFit"].scoring_strategy
    assert strategy.type == "RequestedToCapacityRatio"
    assert [(point.utilization, point.score) for point in strategy.requested_to_capacity_ratio.shape] == [
        (0, 0),
        (100, 10),
    ]
    assert [(each.name, each.weight) for each in strategy.resources] == [("nvidia.com/gpu", 5)]
    assert profile.weights["NodeResourcesFit"] == 3
    assert only(made, "LeastRequestedPriority").outcome == "dropped"


def test_the_weight_of_hard_affinity_and_the_spreading_of_selectors_are_arguments() -> None:
    policy = {
        "priorities": [
            {"name": "InterPodAffinityPriority", "weight": 1},
            {"name": "EvenPodsSpreadPriority", "weight": 4},
        ],
        "hardPodAffinitySymmetricWeight": 42,
    }
    made = converted(json.dumps(policy))
    assert profile_of(made).args["InterPodAffinity"].hard_pod_affinity_weight == 42
    assert profile_of(made).args["PodTopologySpread"].defaulting_type == "List"
    policy["priorities"].append({"name": "SelectorSpreadPriority", "weight": 9})  # type: ignore[attr-defined]
    both = profile_of(converted(json.dumps(policy)))
    assert both.args["PodTopologySpread"].defaulting_type == "System"
    assert both.weights["PodTopologySpread"] == 4
