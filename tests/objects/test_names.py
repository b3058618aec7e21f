from __future__ import annotations

import pytest

from framework.objects.names import (
    dns1123_label_errors,
    dns1123_subdomain_errors,
    label_value_errors,
    qualified_name_errors,
)


@pytest.mark.parametrize("name", ["web", "web-1", "1", "a" * 63])
def test_dns_labels(name: str) -> None:
    assert dns1123_label_errors(name) == ()


@pytest.mark.parametrize("name", ["", "Web", "web-", "-web", "a_b", "a" * 64, "web\n"])
def test_no_dns_labels(name: str) -> None:
    assert dns1123_label_errors(name)


def test_a_dotted_name_is_told_so() -> None:
    assert dns1123_label_errors("a.b") == ("must not contain dots",)
    assert dns1123_subdomain_errors("a.b") == ()
    assert dns1123_subdomain_errors("a..b")


@pytest.mark.parametrize("name", ["app", "app.kubernetes.io/name", "a/B_c.d", "x" * 63])
def test_qualified_names(name: str) -> None:
    assert qualified_name_errors(name) == ()


KEY_TEXT = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)


@pytest.mark.parametrize(
    ("name", "want"),
    [
        ("", ("name part must be non-empty", f"name part {KEY_TEXT}")),
        ("/a", ("prefix part must be non-empty",)),
        ("a b", (f"name part {KEY_TEXT}",)),
        ("x" * 64, ("name part must be no more than 63 bytes",)),
        (
            "a/b/c",
            (
                f"a valid label key {KEY_TEXT} with an optional DNS subdomain prefix and '/' "
                "(e.g. 'example.com/MyName')",
            ),
        ),
    ],
)
def test_no_qualified_names(name: str, want: tuple[str, ...]) -> None:
    assert qualified_name_errors(name) == want


def test_label_values() -> None:
    assert label_value_errors("") == ()
    assert label_value_errors("a.B_c-1") == ()
    assert label_value_errors("-a")
    assert label_value_errors("a" * 64) == ("must be no more than 63 bytes",)
