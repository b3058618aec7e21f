"""Arguments of plugins: decoded strictly, checked by upstream's rules with its texts."""

from __future__ import annotations

import pytest

from tests.configuration.loading import loaded, refused


def test_arguments_are_decoded_strictly_with_upstreams_nested_text() -> None:
    result = refused("""\
    profiles:
      - pluginConfig:
          - name: NodeResourcesFit
            args:
              scoringStrategy:
                requestedToCapacityRatio:
                  shape:
                    - Score: 2
                      Utilization: 1
    """)
    assert result.config_error == (
        "strict decoding error: decoding .profiles[0].pluginConfig[0]: strict decoding error: decoding args for plugin "
        "NodeResourcesFit: strict decoding error: "
        'unknown field "scoringStrategy.requestedToCapacityRatio.shape[0].Score", '
        'unknown field "scoringStrategy.requestedToCapacityRatio.shape[0].Utilization"'
    )
    at = "profiles[0].pluginConfig[0].args.scoringStrategy.requestedToCapacityRatio.shape[0]"
    assert [(error.path, error.line, str(error.hint)) for error in result.errors] == [
        (f"{at}.Score", 10, "Did you mean score?"),
        (f"{at}.Utilization", 11, "Did you mean utilization?"),
    ]


def test_a_wrong_type_in_arguments_stops_upstream() -> None:
    result = refused("""\
    profiles:
      - pluginConfig:
          - name: InterPodAffinity
            args:
              hardPodAffinityWeight: heavy
    """)
    assert result.config_error == (
        "decoding .profiles[0].pluginConfig[0]: decoding args for plugin InterPodAffinity: json: cannot unmarshal "
        "string into Go struct field InterPodAffinityArgs.hardPodAffinityWeight of type int32"
    )
    assert str(result.errors[0].message) == "must be a whole number (32 bits), not a text"


@pytest.mark.parametrize(
    ("kind", "want"),
    [
        (
            "kind: InterPodAffinityArgs",
            "decoding .profiles[0].pluginConfig[0]: args for plugin DefaultPreemption were not of type "
            "DefaultPreemptionArgs.kubescheduler.config.k8s.io, got InterPodAffinityArgs.kubescheduler.config.k8s.io",
        ),
        (
            "apiVersion: kubescheduler.config.k8s.io/v1beta2",
            "decoding .profiles[0].pluginConfig[0]: decoding args for plugin DefaultPreemption: no kind "
            '"DefaultPreemptionArgs" is registered for version "kubescheduler.config.k8s.io/v1beta2" in scheme '
            '"pkg/scheduler/apis/config/scheme/scheme.go:29"',
        ),
    ],
)
def test_arguments_of_another_kind_are_refused(kind: str, want: str) -> None:
    body = f"profiles:\n  - pluginConfig:\n      - name: DefaultPreemption\n        args:\n          {kind}\n"
    assert refused(body).config_error == want


def test_arguments_may_be_empty_and_those_of_strangers_stay_as_written() -> None:
    result = loaded("""\
    profiles:
      - pluginConfig:
          - name: DefaultPreemption
            args:
          - name: PodTopologySpread
          - name: OutOfTreePlugin
            args: {foo: bar}
    """)
    assert result.config_error == ""
    assert result.configuration is not None
    assert result.configuration.profiles[0].plugin_config[2].args == {"foo": "bar"}
    assert [(warning.line, str(warning.message)) for warning in result.warnings] == [
        (8, "OutOfTreePlugin is not enabled in this profile: its arguments are not used")
    ]


@pytest.mark.parametrize(
    ("args", "want"),
    [
        (
            "DefaultPreemption: {minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0}",
            "[A.minCandidateNodesPercentage: Invalid value: 0: cannot be zero at the same time as "
            "minCandidateNodesAbsolute, A.minCandidateNodesAbsolute: Invalid value: 0: cannot be zero at the same time "
            "as minCandidateNodesPercentage]",
        ),
        (
            "NodeResourcesBalancedAllocation: {resources: [{name: cpu, weight: 2}, {name: cpu}]}",
            '[A.resources[0].weight: Invalid value: 2: must be 1, A.resources[1].name: Duplicate value: "cpu"]',
        ),
        (
            "PodTopologySpread: {defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: z, "
            "whenUnsatisfiable: DoNotSchedule, labelSelector: {}}, {maxSkew: 1, topologyKey: z, "
            "whenUnsatisfiable: DoNotSchedule}]}",
            "[A.defaultConstraints[0].labelSelector: Forbidden: constraint must not define a selector, as they deduced "
            'for each pod, A.defaultConstraints[1]: Duplicate value: "{z, DoNotSchedule}"]',
        ),
        (
            "PodTopologySpread: {defaultingType: Mine}",
            'A.defaultingType: Unsupported value: "Mine": supported values: "System", "List"',
        ),
        (
            "NodeAffinity: {addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
            "[{matchExpressions: [{key: a, operator: In}, {key: a, operator: Gt, values: [x]}], "
            "matchFields: [{key: metadata.name, operator: In, values: [a, b]}]}]}}}",
            "[A.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0]."
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty, "
            "A.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[1]."
            "values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer, "
            "A.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0]."
            'values: Invalid value: ["a","b"]: must have one element]',
        ),
        (
            "DynamicResources: {filterTimeout: -1s, bindingTimeout: 500ms}",
            '[A.filterTimeout: Invalid value: "-1s": must be zero or positive, '
            'A.bindingTimeout: Invalid value: "500ms": must be at least 1 second]',
        ),
        (
            "VolumeBinding: {shape: [{utilization: 0, score: 1}]}",
            'A.shape: Invalid value: [{"Utilization":0,"Score":1}]: unexpected field `shape`, remove it or turn on the '
            "feature gate StorageCapacityScoring",
        ),
    ],
)
def test_argument_rules(args: str, want: str) -> None:
    name, body = args.split(": ", 1)
    result = refused(f"profiles:\n  - pluginConfig:\n      - name: {name}\n        args: {body}\n")
    assert result.config_error == want.replace("A.", "profiles[0].pluginConfig[0].args.")


@pytest.mark.parametrize(
    ("args", "want"),
    [
        (
            "{ignoredResources: [a/b/c], ignoredResourceGroups: [a/b]}",
            "ignoredResourceGroups[0]: Invalid value: \"a/b\": resource group name can't contain '/'",
        ),
        (
            "{scoringStrategy: {type: LeastAllocated, requestedToCapacityRatio: {shape: []}}}",
            "scoringStrategy.requestedToCapacityRatio: Forbidden: must be nil when type is not "
            "RequestedToCapacityRatio",
        ),
        (
            "{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: "
            "[{utilization: 50, score: 11}, {utilization: 50, score: 1}, {utilization: 101, score: 1}]}}}",
            "[scoringStrategy.requestedToCapacityRatio.shape[1].utilization: Invalid value: 50: values must be sorted "
            "in increasing order, scoringStrategy.requestedToCapacityRatio.shape[0].score: Invalid value: 11: not in "
            "valid range [0, 10], scoringStrategy.requestedToCapacityRatio.shape[2].utilization: Invalid value: 101: "
            "not in valid range [0, 100]]",
        ),
        (
            "{scoringStrategy: {resources: [{name: cpu}]}}",
            'scoringStrategy.type: Unsupported value: "": supported values: "LeastAllocated", "MostAllocated", '
            '"RequestedToCapacityRatio"',
        ),
    ],
)
def test_node_resources_fit_is_only_checked_by_its_constructor(args: str, want: str) -> None:
    result = refused(f"profiles:\n  - pluginConfig:\n      - name: NodeResourcesFit\n        args: {args}\n")
    prefix = (
        "initializing profiles: creating profile for scheduler name default-scheduler: "
        'initializing plugin "NodeResourcesFit": '
    )
    assert result.config_error.startswith(prefix)
    assert want in result.config_error
    assert {error.stage for error in result.errors} == {"construction"}
    # The error still lands on the field.
    assert all(error.path.startswith("profiles[0].pluginConfig[0].args.") for error in result.errors)
    assert {error.line for error in result.errors} == {6}
