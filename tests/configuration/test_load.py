"""Loading: every error has upstream's text, a path and a line; the stages come in kube-scheduler's order."""

from __future__ import annotations

import textwrap

import pytest

from framework.configuration import Loaded, load, load_value
from framework.plugins.registry import built_in_registry

REGISTRY = built_in_registry()
HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def loaded(body: str) -> Loaded:
    return load(HEAD + textwrap.dedent(body), REGISTRY)


def refused(body: str) -> Loaded:
    result = loaded(body)
    assert result.effective is None
    assert result.errors
    return result


def test_nothing_but_the_kind_is_the_default_profile() -> None:
    result = loaded("")
    assert result.config_error == ""
    assert result.effective is not None
    assert [profile.scheduler_name for profile in result.effective.profiles] == ["default-scheduler"]
    assert result.effective == load_value(None, REGISTRY).effective


def test_an_unknown_field_names_its_line_and_what_was_meant() -> None:
    [error] = refused("profile: []\n").errors
    assert (error.text, error.path, error.line, error.column, str(error.hint)) == (
        'strict decoding error: unknown field "profile"',
        "profile",
        3,
        1,
        "Did you mean profiles?",
    )


def test_all_unknown_fields_come_in_one_text_yaml_keys_sorted() -> None:
    body = """\
    zebra: 1
    profiles:
      - plugins:
          score:
            enabled:
              - name: NodeName
                wait: 3
    apple: 2
    """
    result = refused(body)
    assert result.config_error == (
        'strict decoding error: unknown field "apple", unknown field "profiles[0].plugins.score.enabled[0].wait", '
        'unknown field "zebra"'
    )
    assert [(error.path, error.line) for error in result.errors] == [
        ("apple", 10),
        ("profiles[0].plugins.score.enabled[0].wait", 9),
        ("zebra", 3),
    ]


def test_repeated_keys_are_refused_in_yaml_and_in_json() -> None:
    result = refused("parallelism: 1\nparallelism: 2\n")
    assert result.config_error == (
        'strict decoding error: yaml: unmarshal errors:\n  line 4: key "parallelism" already set in map'
    )
    assert [(error.line, error.message) for error in result.errors] == [(4, 'duplicate field "parallelism"')]
    json = (
        '{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration",'
        '"profiles":[{"schedulerName":"a","schedulerName":"b"}]}'
    )
    assert load(json, REGISTRY).config_error == ('strict decoding error: duplicate field "profiles[0].schedulerName"')


@pytest.mark.parametrize(
    ("body", "want", "line"),
    [
        (
            "parallelism: many\n",
            "json: cannot unmarshal string into Go struct field KubeSchedulerConfiguration.parallelism of type int32",
            3,
        ),
        (
            "profiles:\n  - plugins:\n      score:\n        enabled:\n          - name: X\n            weight: 1.5\n",
            "json: cannot unmarshal number 1.5 into Go struct field Plugin.profiles.plugins.score.enabled.weight "
            "of type int32",
            8,
        ),
        (
            "parallelism: 3000000000\n",
            "json: cannot unmarshal number 3000000000 into Go struct field KubeSchedulerConfiguration.parallelism "
            "of type int32",
            3,
        ),
        (
            "profiles: {}\n",
            "json: cannot unmarshal object into Go struct field KubeSchedulerConfiguration.profiles "
            "of type []v1.KubeSchedulerProfile",
            3,
        ),
        (
            "profiles: [default]\n",
            "json: cannot unmarshal string into Go struct field KubeSchedulerConfiguration.profiles "
            "of type v1.KubeSchedulerProfile",
            3,
        ),
        (
            "profiles:\n  - schedulerName: 5\n",
            "json: cannot unmarshal number into Go struct field KubeSchedulerProfile.profiles.schedulerName "
            "of type string",
            4,
        ),
        (
            "leaderElection:\n  leaseDuration: 15\n",
            "json: cannot unmarshal number into Go struct field "
            "LeaderElectionConfiguration.leaderElection.leaseDuration of type string",
            4,
        ),
        ("leaderElection:\n  leaseDuration: null\n", 'time: invalid duration ""', 4),
        (
            "enableProfiling: 1\n",
            "json: cannot unmarshal number into Go struct field "
            "KubeSchedulerConfiguration.DebuggingConfiguration.enableProfiling of type bool",
            3,
        ),
        ("leaderElection:\n  leaseDuration: 15\n  retryPeriod: x\n", None, 4),
        ('leaderElection:\n  leaseDuration: "15"\n', 'time: missing unit in duration "15"', 4),
    ],
)
def test_a_wrong_type_is_reported_alone_as_go_reports_it(body: str, want: str | None, line: int) -> None:
    result = refused(body + "unknown: 1\n")
    if want is not None:
        assert result.config_error == want
    assert min(error.line or 0 for error in result.errors) == line
    # For the form all of them are there, the unknown field too.
    assert any("unknown" in error.path for error in result.errors)


@pytest.mark.parametrize(
    ("text", "want", "path"),
    [
        ("", "Object 'Kind' is missing in 'null'", ""),
        ("a: 1\n", "Object 'Kind' is missing in '{\"a\":1}'", ""),
        ("kind: KubeSchedulerConfiguration\n", "Object 'apiVersion' is missing in", ""),
        (
            "apiVersion: v1\nkind: 1\n",
            "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind",
            "kind",
        ),
        (
            "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n",
            'no kind "KubeSchedulerConfiguration" is registered for version "kubescheduler.config.k8s.io/v1beta3" '
            'in scheme "pkg/scheduler/apis/config/scheme/scheme.go:29"',
            "apiVersion",
        ),
        (
            "apiVersion: v1\nkind: Pod\n",
            'no kind "Pod" is registered for version "v1" in scheme "pkg/scheduler/apis/config/scheme/scheme.go:29"',
            "kind",
        ),
        (
            "apiVersion: kubescheduler.config.k8s.io/v1\nkind: DefaultPreemptionArgs\n",
            "couldn't decode as KubeSchedulerConfiguration, got kubescheduler.config.k8s.io/v1, "
            "Kind=DefaultPreemptionArgs: ",
            "kind",
        ),
        ("- a\n", "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value", ""),
    ],
)
def test_other_kinds_are_refused(text: str, want: str, path: str) -> None:
    result = load(text, REGISTRY)
    assert result.config_error.startswith(want)
    assert [error.path for error in result.errors] == [path]


def test_a_removed_version_says_what_to_write() -> None:
    [error] = load(
        "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n", REGISTRY
    ).errors
    assert (error.line, error.column) == (1, 13)
    assert (
        str(error.hint) == "v1beta3 was removed from Kubernetes; change apiVersion to kubescheduler.config.k8s.io/v1."
    )


def test_a_bomb_and_a_second_document_are_one_sentence() -> None:
    [error] = load(HEAD + "---\n" + HEAD, REGISTRY).errors
    assert error.stage == "syntax"
    assert error.line == 3
    assert error.text == "the text has more than one YAML document; a KubeSchedulerConfiguration is exactly one"


# Plugin arguments ----------------------------------------------------------------------------------------------------


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


def test_several_invalid_fields_are_one_list_in_upstreams_order() -> None:
    result = refused("""\
    parallelism: -1
    clientConnection:
      burst: -2
    leaderElection:
      leaseDuration: 5s
      resourceLock: endpoints
    percentageOfNodesToScore: 101
    podInitialBackoffSeconds: 0
    podMaxBackoffSeconds: -1
    profiles:
      - percentageOfNodesToScore: -5
      - schedulerName: b
    extenders:
      - urlPrefix: http://a
        prioritizeVerb: p
        bindVerb: b
        managedResources:
          - name: cpu
          - name: -bad/x/y
          - name: example.com/a
      - urlPrefix: http://b
        bindVerb: b
        managedResources:
          - name: example.com/a
    """)
    bad_name = (
        "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' "
        "(e.g. 'example.com/MyName')"
    )
    want = [
        "clientConnection.burst: Invalid value: -2: must be non-negative",
        'leaderElection.leaseDuration: Invalid value: "10s": must be greater than `RenewDeadline`',
        'leaderElection.resourceLock: Invalid value: "endpoints": resourceLock value must be "leases"',
        "parallelism: Invalid value: -1: should be an integer value greater than zero",
        "profiles[0].schedulerName: Required value",
        "profiles[0].percentageOfNodesToScore: Invalid value: -5: not in valid range [0-100]",
        "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]",
        "podInitialBackoffSeconds: Invalid value: 0: must be greater than 0",
        "podMaxBackoffSeconds: Invalid value: -1: must be greater than or equal to PodInitialBackoffSeconds",
        "extenders[0].weight: Invalid value: 0: must have a positive weight applied to it",
        'extenders[0].managedResources[0].name: Invalid value: "cpu": is an invalid extended resource name',
        f'extenders[0].managedResources[1].name: Invalid value: "-bad/x/y": {bad_name}',
        'extenders[1].managedResources[0].name: Invalid value: "example.com/a": '
        "duplicate extender managed resource name",
        'extenders: Invalid value: "found 2 extenders implementing bind": only one extender can implement bind',
    ]
    assert [error.text for error in result.errors] == want
    assert result.config_error == f"[{', '.join(want)}]"
    lines = {error.path: error.line for error in result.errors}
    assert lines["extenders[0].managedResources[1].name"] == 21
    assert lines["profiles[0].schedulerName"] == 13  # not written: the profile's line


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


def test_profiles_share_one_queue_sort() -> None:
    result = refused("""\
    profiles:
      - schedulerName: a
      - schedulerName: b
        plugins:
          queueSort:
            disabled: [{name: "*"}]
            enabled: [{name: Coscheduling}]
    """)
    assert result.config_error == (
        'profiles[1].plugins.queueSort: Invalid value: {"Enabled":[{"Name":"Coscheduling","Weight":0}],'
        '"Disabled":[{"Name":"*","Weight":0}]}: must be the same for all profiles'
    )


def test_removed_plugins_are_named() -> None:
    was = 'was invalid in version "v1" (KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/v1")'
    result = refused("""\
    profiles:
      - plugins:
          filter:
            enabled: [{name: NodeName}, {name: EBSLimits}]
        pluginConfig:
          - name: CinderLimits
          - name: CinderLimits
    """)
    assert [error.text for error in result.errors] == [
        f'profiles[0].plugins.filter.enabled[1]: Invalid value: "EBSLimits": {was}',
        f'profiles[0].pluginConfig[0]: Invalid value: "CinderLimits": {was}',
        'profiles[0].pluginConfig[1]: Duplicate value: "CinderLimits"',
        f'profiles[0].pluginConfig[1]: Invalid value: "CinderLimits": {was}',
    ]


def test_extenders_resources_replace_those_that_fit_ignores() -> None:
    result = loaded("""\
    extenders:
      - urlPrefix: http://lenient
        ignorable: true
        managedResources: [{name: example.com/a, ignoredByScheduler: true}]
      - urlPrefix: http://strict
        managedResources: [{name: example.com/b, ignoredByScheduler: true}, {name: example.com/c}]
    profiles:
      - pluginConfig:
          - name: NodeResourcesFit
            args: {ignoredResources: [example.com/own]}
    """)
    assert result.effective is not None
    assert result.effective.profiles[0].args["NodeResourcesFit"].ignored_resources == (
        "example.com/a",
        "example.com/b",
    )
    assert [extender.url_prefix for extender in result.effective.extenders] == ["http://strict", "http://lenient"]


def test_a_value_and_its_texts_load_alike() -> None:
    value = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "percentageOfNodesToScore": 50,
        "profiles": [{"plugins": {"score": {"enabled": [{"name": "NodeResourcesFit", "weight": 7}]}}}],
    }
    body = """\
    percentageOfNodesToScore: 50
    profiles:
      - plugins: {score: {enabled: [{name: NodeResourcesFit, weight: 7}]}}
    """
    assert load_value(value, REGISTRY).effective == loaded(body).effective
