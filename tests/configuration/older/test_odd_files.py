"""Files as strangers have them: what has the wrong kind is refused with its place, what does not count is named."""

from __future__ import annotations

import json
from typing import Any

import pytest

from framework.configuration.older import NotOlder, convert
from tests.configuration.older.converting import REGISTRY, converted, found, only, profile_of


def policy(**fields: Any) -> str:
    return json.dumps({"kind": "Policy", "apiVersion": "v1", "predicates": [], "priorities": [], **fields})


def version(name: str, fields: str) -> str:
    return f"apiVersion: kubescheduler.config.k8s.io/{name}\nkind: KubeSchedulerConfiguration\n{fields}"


def argument(name: str, value: Any, **fields: Any) -> dict[str, Any]:
    return {"name": "Own", "argument": {name: value}, **fields}


RATIO = "requestedToCapacityRatioArguments"
NODE_LABEL = "profiles:\n- plugins: {filter: {enabled: [{name: NodeLabel}]}}\n  pluginConfig: "


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (policy(predicates="all"), "predicates must be a list, not a text"),
        (policy(priorities={"a": 1}), "priorities must be a list, not a mapping"),
        (policy(extenders={"urlPrefix": "http://a"}), "extenders must be a list, not a mapping"),
        (policy(extenders=[{"urlPrefix": "http://a"}, "http://b"]), "extenders[1] must be a mapping, not a text"),
        (policy(predicates=["HostName"]), "predicates[0] must be a mapping, not a text"),
        (
            policy(predicates=[argument("labelsPresence", {"labels": 5})]),
            "predicates[0].argument.labelsPresence.labels must be a list, not a number",
        ),
        (
            policy(predicates=[argument("labelsPresence", {"labels": ["a"], "presence": "yes"})]),
            "predicates[0].argument.labelsPresence.presence must be true or false, not a text",
        ),
        (
            policy(priorities=[argument(RATIO, {"shape": "steep"}, weight=1)]),
            f"priorities[0].argument.{RATIO}.shape must be a list, not a text",
        ),
        (policy(alwaysCheckAllPredicates="true"), "alwaysCheckAllPredicates must be true or false, not a text"),
        (version("v1beta2", "profiles: {a: 1}\n"), "profiles must be a list, not a mapping"),
        (version("v1beta2", "profiles:\n- pluginConfig: 5\n"), "profiles[0].pluginConfig must be a list, not a number"),
        (version("v1beta3", "extenders: [x]\n"), "extenders[0] must be a mapping, not a text"),
        (
            version("v1beta1", NODE_LABEL + "[{name: NodeLabel, args: {presentLabels: 5}}]\n"),
            "profiles[0].pluginConfig[0].args.presentLabels must be a list, not a number",
        ),
        (version("v1alpha1", "algorithmSource: DefaultProvider\n"), "algorithmSource must be a mapping, not a text"),
    ],
)
def test_what_has_the_wrong_kind_is_refused_with_its_place(text: str, says: str) -> None:
    with pytest.raises(NotOlder) as refused:
        convert(text, REGISTRY)
    assert str(refused.value.words) == says
    assert refused.value.line == len(text.splitlines())


def test_the_place_in_a_config_map_and_in_a_second_document() -> None:
    text = "# first\n---\nkind: ConfigMap\ndata:\n  policy.cfg: |\n    kind: Policy\n    predicates: 5\n"
    with pytest.raises(NotOlder) as refused:
        convert(text, REGISTRY)
    assert "policy.cfg" in str(refused.value.words)
    assert str(refused.value.words).endswith("predicates must be a list, not a number")
    assert refused.value.line == 7


@pytest.mark.parametrize(
    ("entries", "args"),
    [
        ("[null, {name: NodeLabel, args: {presentLabels: [disk]}}]\n", "NodeLabel"),
        (
            "[null, {name: PodTopologySpread, args: {defaultConstraints: "
            "[{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]}}]\n",
            "PodTopologySpread",
        ),
    ],
)
def test_null_among_the_arguments_is_nothing(entries: str, args: str) -> None:
    made = convert(version("v1beta1", NODE_LABEL + entries), REGISTRY)
    assert found(made, args)[-1].path.startswith("profiles[0].pluginConfig[1]")


def test_fields_that_nobody_reads_are_named_with_their_place() -> None:
    made = converted(
        policy(
            predicates=[{"name": "HostName", "why": 1, "argument": {"labelsPresence": {"labels": ["a"]}}}],
            priorities=[
                {"name": "ImageLocalityPriority", "weight": 1, "Weight": 5},
                argument(RATIO, {"shape": [{"utilization": 0, "score": 1}], "Resources": []}, weight=2),
            ],
        )
    )
    assert {each.path for each in made.dropped} == {
        "predicates[0].why",
        "predicates[0].argument.labelsPresence",
        "priorities[0].Weight",
        f"priorities[1].argument.{RATIO}.Resources",
    }
    old = converted(
        version(
            "v1beta1",
            "profiles:\n- plugins: {score: {disabled: [{name: '*'}], enabled: [{name: NodeResourcesMostAllocated}]}}\n"
            "  pluginConfig: [{name: NodeResourcesMostAllocated, args: {resources: [{name: cpu}], mode: x}}]\n",
        )
    )
    assert [each.path for each in old.dropped] == ["profiles[0].pluginConfig[0].args.mode"]


def test_arguments_of_priorities_that_take_none_do_not_count() -> None:
    ratio = {"shape": [{"utilization": 0, "score": 1}], "resources": [{"name": "memory", "weight": 9}]}
    entry = {"name": "LeastRequestedPriority", "weight": 1, "argument": {RATIO: ratio}}
    made = converted(policy(priorities=[entry]))
    assert "memory" not in made.text
    assert only(made, RATIO).outcome == "dropped"
    local = converted(policy(priorities=[{**entry, "name": "ImageLocalityPriority"}]))
    assert profile_of(local).weights["ImageLocality"] == 1
    assert only(local, RATIO).outcome == "dropped"


def test_of_two_entries_for_one_priority_the_last_counts() -> None:
    made = converted(
        policy(
            priorities=[
                {"name": "LeastRequestedPriority", "weight": 5},
                {"name": "SelectorSpreadPriority", "weight": 7},
                {"name": "LeastRequestedPriority", "weight": 2},
                {"name": "ServiceSpreadingPriority", "weight": 3},
            ]
        )
    )
    assert (profile_of(made).weights["NodeResourcesFit"], profile_of(made).weights["PodTopologySpread"]) == (2, 3)
    assert [each.path for each in made.dropped] == ["priorities[0]", "priorities[1]"]


def test_entries_without_a_name_and_labels_that_are_none() -> None:
    made = converted(
        policy(
            predicates=[{}, argument("labelsPresence", {"labels": None})], priorities=[{"weight": 2}, {"name": None}]
        )
    )
    assert {each.path for each in made.dropped} == {"predicates[0]", "priorities[0]", "priorities[1]"}
    assert all("without a name" in str(each.sentence) for each in made.dropped)
    assert only(made, "Own").outcome == "carried"
    assert "addedAffinity" not in made.text


def test_a_curve_that_is_missing_and_a_weight_of_0_are_told() -> None:
    made = converted(
        policy(
            priorities=[argument(RATIO, {}, weight=1), {"name": "InterPodAffinityPriority", "weight": 1}],
            hardPodAffinitySymmetricWeight=0,
        )
    )
    assert "has no shape" in str(found(made, "Own")[0].sentence)
    assert only(made, "hardPodAffinitySymmetricWeight").outcome == "carried"


def test_parts_of_v1alpha1_that_did_not_count_are_named() -> None:
    made = converted(
        version(
            "v1alpha1",
            "algorithmSource: {policy: {file: {path: /p}}, provider: DefaultProvider, other: 1}\n"
            "profiles: [{schedulerName: lost}]\nleaderElection: {lockObjectName: a, resourceName: b}\n",
        )
    )
    assert {
        "algorithmSource.provider",
        "algorithmSource.other",
        "profiles",
        "leaderElection.lockObjectName",
    } <= {each.path for each in made.dropped}
    assert "resourceName: b" in made.text


def test_what_was_disabled_at_unreserve_is_named() -> None:
    made = converted(version("v1alpha2", "profiles:\n- plugins: {unreserve: {disabled: [{name: VolumeBinding}]}}\n"))
    assert "profiles[0].plugins.unreserve.disabled[0]" in {each.path for each in made.dropped}


def test_a_strategy_beside_node_resources_fit_gives_way_to_it() -> None:
    made = converted(
        version("v1beta2", "profiles:\n- plugins: {score: {enabled: [{name: NodeResourcesMostAllocated}]}}\n")
    )
    assert str(only(made, "NodeResourcesMostAllocated").sentence).startswith("NodeResourcesFit scores itself")


@pytest.mark.parametrize(
    ("text", "told", "kept"),
    [
        (
            "kind: Policy\npredicates:\n- name: HostName\n  name: PodFitsPorts\npriorities: []\npredicates:\n"
            "- name: HostName\n- name: MatchNodeSelector\n  name: PodFitsPorts\n",
            [("predicates", 2, 6), ("predicates[1].name", 8, 9)],
            "NodePorts",
        ),
        (
            '{"kind": "Policy", "priorities": [],\n"predicates": [],\n"predicates": [{"name": "PodFitsPorts"}]}',
            [("predicates", 2, 3)],
            "NodePorts",
        ),
        (
            version("v1beta2", "# on purpose\nparallelism: 3\nprofiles:\n- schedulerName: a\n  schedulerName: b\n")
            + "parallelism: 5 # more\n",
            [("parallelism", 4, 8), ("profiles[0].schedulerName", 6, 7)],
            "# on purpose\n",
        ),
        (
            "# first\n---\nkind: ConfigMap\ndata:\n  policy.cfg: |\n    kind: Policy\n    priorities: []\n"
            "    predicates: []\n    predicates: [{name: PodFitsPorts}]\n",
            [("data.policy.cfg.predicates", 8, 9)],
            "NodePorts",
        ),
    ],
)
def test_keys_that_stand_twice_are_told_with_their_lines(
    text: str, told: list[tuple[str, int, int]], kept: str
) -> None:
    made = converted(text)
    twice = [each for each in made.findings if "stands once more" in str(each.sentence)]
    assert [(each.path, each.line) for each in twice] == [(path, line) for path, line, _ in told]
    assert [f"in line {line}:" in str(each.sentence) for each, (_, _, line) in zip(twice, told, strict=True)] == [
        True
    ] * len(told)
    assert kept in made.text
    assert "schedulerName: a" not in made.text


def test_a_key_that_stands_twice_in_a_text_without_lines_is_told_without() -> None:
    made = converted('kind: ConfigMap\ndata:\n  p: "kind: Policy\\npredicates: []\\npredicates: []\\n"\n')
    [twice] = [each for each in made.findings if "stands once more" in str(each.sentence)]
    assert (twice.line, str(twice.sentence)) == (
        None,
        "predicates stands once more, further on: the last one counts.",
    )
