"""Syntax of Kubernetes names, label keys and label values, with the API server's texts.

Upstream: apimachinery/pkg/api/validate/content. Each check returns its complaints; none means valid.
"""

from __future__ import annotations

import re
from typing import Final

from framework.objects.remembering import remembered

_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = rf"{_LABEL}(\.{_LABEL})*"
_KEY: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE: Final = f"({_KEY})?"

_LABEL_EXPRESSION: Final = re.compile(_LABEL, re.ASCII)
_SUBDOMAIN_EXPRESSION: Final = re.compile(_SUBDOMAIN, re.ASCII)
_KEY_EXPRESSION: Final = re.compile(_KEY, re.ASCII)
_VALUE_EXPRESSION: Final = re.compile(_VALUE, re.ASCII)

_LABEL_TEXT: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    "and must start and end with an alphanumeric character"
)
_SUBDOMAIN_TEXT: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character"
)
_KEY_TEXT: Final = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
)
_VALUE_TEXT: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character"
)


def _regex_error(text: str, expression: str, *examples: str) -> str:
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{text} (e.g. {shown}regex used for validation is '{expression}')"


def _too_long(limit: int) -> str:
    return f"must be no more than {limit} bytes"


@remembered(1 << 14)
def dns1123_label_errors(value: str) -> tuple[str, ...]:
    errors = []
    if len(value.encode()) > 63:
        errors.append(_too_long(63))
    if not _LABEL_EXPRESSION.fullmatch(value):
        if _SUBDOMAIN_EXPRESSION.fullmatch(value):
            errors.append("must not contain dots")
        else:
            errors.append(_regex_error(_LABEL_TEXT, _LABEL, "my-name", "123-abc"))
    return tuple(errors)


def dns1123_subdomain_errors(value: str) -> tuple[str, ...]:
    if len(value) <= 253 and _SUBDOMAIN_EXPRESSION.fullmatch(value):  # ASCII only, so bytes are characters
        return ()
    errors = []
    if len(value.encode()) > 253:
        errors.append(_too_long(253))
    if not _SUBDOMAIN_EXPRESSION.fullmatch(value):
        errors.append(_regex_error(_SUBDOMAIN_TEXT, _SUBDOMAIN, "example.com"))
    return tuple(errors)


@remembered(1 << 14)
def qualified_name_errors(value: str) -> tuple[str, ...]:
    """A label key or resource name: an optional DNS subdomain and "/", then the name."""
    parts = value.split("/")
    wrong = _regex_error(_KEY_TEXT, _KEY, "MyName", "my.name", "123-abc")
    if len(parts) > 2:
        return (f"a valid label key {wrong} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",)
    errors: list[str] = []
    name = parts[-1]
    if len(parts) == 2:
        if not parts[0]:
            errors.append("prefix part must be non-empty")
        else:
            errors += [f"prefix part {error}" for error in dns1123_subdomain_errors(parts[0])]
    if not name:
        errors.append("name part must be non-empty")
    elif len(name.encode()) > 63:
        errors.append(f"name part {_too_long(63)}")
    if not _KEY_EXPRESSION.fullmatch(name):
        errors.append(f"name part {wrong}")
    return tuple(errors)


@remembered(1 << 14)
def label_value_errors(value: str) -> tuple[str, ...]:
    errors = []
    if len(value.encode()) > 63:
        errors.append(_too_long(63))
    if not _VALUE_EXPRESSION.fullmatch(value):
        errors.append(_regex_error(_VALUE_TEXT, _VALUE, "MyValue", "my_value", "12345"))
    return tuple(errors)
