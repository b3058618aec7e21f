"""Durations, names and field errors: the texts are Go's and Kubernetes'."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.configuration import load_value
from framework.configuration.durations import InvalidDuration, format_duration, parse_duration
from framework.configuration.errors import ROOT, aggregate, duplicate, go_quote, invalid, not_supported, required
from framework.configuration.names import is_extended_resource_name, label_key_errors, label_value_errors
from framework.plugins.registry import built_in_registry


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("0", 0),
        ("15s", 15_000_000_000),
        ("10m0s", 600_000_000_000),
        ("1h2m3.5s", 3_723_500_000_000),
        ("-1.5s", -1_500_000_000),
        ("1us", 1_000),
        (".5ms", 500_000),
    ],
)
def test_durations_are_read_as_go_reads_them(text: str, want: int) -> None:
    assert parse_duration(text) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("", 'time: invalid duration ""'),
        ("15", 'time: missing unit in duration "15"'),
        ("15 s", 'time: unknown unit " s" in duration "15 s"'),
        ("1d", 'time: unknown unit "d" in duration "1d"'),
        ("s", 'time: invalid duration "s"'),
        ("-", 'time: invalid duration "-"'),
        ("9999999999h", 'time: invalid duration "9999999999h"'),
    ],
)
def test_what_is_no_duration_is_refused_in_gos_words(text: str, want: str) -> None:
    with pytest.raises(InvalidDuration) as refused:
        parse_duration(text)
    assert str(refused.value) == want


@pytest.mark.parametrize(
    ("nanoseconds", "want"),
    [
        (0, "0s"),
        (1, "1ns"),
        (1_500, "1.5µs"),
        (100_000_000, "100ms"),
        (15_000_000_000, "15s"),
        (600_000_000_000, "10m0s"),
        (3_600_000_000_000, "1h0m0s"),
        (-1_500_000_000, "-1.5s"),
    ],
)
def test_durations_are_printed_as_go_prints_them(nanoseconds: int, want: str) -> None:
    assert format_duration(nanoseconds) == want


@given(st.integers(-(2**62), 2**62))
def test_a_printed_duration_reads_back(nanoseconds: int) -> None:
    assert parse_duration(format_duration(nanoseconds)) == nanoseconds


def test_paths_and_errors_read_like_upstreams() -> None:
    path = ROOT.child("profiles").index(0).child("plugins", "score", "enabled").index(1).child("weight")
    assert str(path) == "profiles[0].plugins.score.enabled[1].weight"
    assert (
        str(invalid(path, 101, "not in valid range [0, 100]"))
        == f"{path}: Invalid value: 101: not in valid range [0, 100]"
    )
    assert str(invalid(ROOT.child("a"), "x\n", "no")) == 'a: Invalid value: "x\\n": no'
    assert str(required(ROOT.child("a"))) == "a: Required value"
    assert str(required(ROOT.child("a"), "say why")) == "a: Required value: say why"
    assert str(duplicate(ROOT.child("a").index(0), "x")) == 'a[0]: Duplicate value: "x"'
    assert str(duplicate(ROOT.child("a"), {})) == "a: Duplicate value: {}"
    assert str(invalid(ROOT.child("values"), (), "none")) == "values: Invalid value: null: none"
    assert str(invalid(ROOT.child("values"), ["a"], "one")) == 'values: Invalid value: ["a"]: one'
    assert str(not_supported(ROOT.child("a"), "x", ["b", "c"])) == (
        'a: Unsupported value: "x": supported values: "b", "c"'
    )
    assert str(ROOT.child("values").index(0).key("zone")) == "values[0][zone]"


def test_an_aggregate_names_equal_errors_once() -> None:
    assert aggregate(["a"]) == "a"
    assert aggregate(["a", "b", "a"]) == "[a, b]"
    assert aggregate(["a", "a"]) == "a"


def test_quoting_is_gos() -> None:
    assert go_quote('a"b\\\t\x00é\u200b') == '"a\\"b\\\\\\t\\x00é\\u200b"'


@pytest.mark.parametrize(
    ("name", "want"),
    [
        ("cpu", []),
        ("example.com/fpga", []),
        ("", ["name part must be non-empty", "name part must consist of"]),
        ("/x", ["prefix part must be non-empty"]),
        ("A.com/x", ["prefix part a lowercase RFC 1123 subdomain"]),
        ("a/b/c", ["a valid label key must consist of"]),
        ("a" * 64, ["name part must be no more than 63 characters"]),
        ("-a", ["name part must consist of"]),
    ],
)
def test_label_keys(name: str, want: list[str]) -> None:
    got = label_key_errors(name)
    assert [text[: len(start)] for text, start in zip(got, want, strict=True)] == want


def test_the_text_for_a_bad_label_key_is_complete() -> None:
    assert label_key_errors("-a") == [
        "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
    ]


def test_label_values() -> None:
    assert label_value_errors("") == []
    assert label_value_errors("a-1") == []
    assert len(label_value_errors("a b")) == 1
    assert len(label_value_errors(" " * 64)) == 2


@pytest.mark.parametrize(
    ("name", "want"),
    [
        ("example.com/gpu", True),
        ("cpu", False),
        ("kubernetes.io/x", False),
        ("my.kubernetes.io/x", False),
        ("requests.example.com/x", False),
        ("example.com/" + "x" * 64, False),
    ],
)
def test_extended_resources(name: str, want: bool) -> None:
    assert is_extended_resource_name(name) is want


@pytest.mark.parametrize(("written", "printed"), [({"values": []}, "[]"), ({}, "null")])
def test_an_empty_list_that_was_written_prints_otherwise_than_one_left_out(
    written: dict[str, Any], printed: str
) -> None:
    """Decided by kube-scheduler's own validation."""
    expression = {"key": "zone", "operator": "In", **written}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    args = {"addedAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"pluginConfig": [{"name": "NodeAffinity", "args": args}]}],
    }
    error = load_value(configuration, built_in_registry()).config_error
    assert f".values: Invalid value: {printed}: for 'in', 'notin' operators, values set can't be empty" in error
