"""Loading: every error has upstream's text, a path and a line; the stages come in kube-scheduler's order."""

from __future__ import annotations

import pytest

from framework.configuration import load, load_value
from tests.configuration.loading import HEAD, REGISTRY, loaded, refused


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
        str(error.hint)
        == "v1beta3 was removed from Kubernetes; this file can be converted to kubescheduler.config.k8s.io/v1."
    )


def test_a_bomb_and_a_second_document_are_one_sentence() -> None:
    [error] = load(HEAD + "---\n" + HEAD, REGISTRY).errors
    assert error.stage == "syntax"
    assert error.line == 3
    assert error.text == "the text has more than one YAML document; a KubeSchedulerConfiguration is exactly one"


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
