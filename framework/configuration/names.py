"""Kubernetes' rules for names: label keys (= qualified names), label values, extended resources; with their texts."""

from __future__ import annotations

import re

from framework.configuration.errors import FieldError, FieldPath, invalid

_LABEL_KEY_FORMAT = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_KEY_MESSAGE = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
)
_LABEL_KEY_REGEX_ERROR = (
    f"{_LABEL_KEY_MESSAGE} (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    f"'{_LABEL_KEY_FORMAT}')"
)
_LABEL_VALUE_REGEX_ERROR = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    f"'({_LABEL_KEY_FORMAT})?')"
)
_LABEL_FORMAT = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN_FORMAT = rf"{_LABEL_FORMAT}(\.{_LABEL_FORMAT})*"
_SUBDOMAIN_REGEX_ERROR = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    f"end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN_FORMAT}')"
)
_LABEL_KEY = re.compile(_LABEL_KEY_FORMAT)
_SUBDOMAIN = re.compile(_SUBDOMAIN_FORMAT)

LABEL_MAX_LENGTH = 63
SUBDOMAIN_MAX_LENGTH = 253


def _too_long(limit: int) -> str:
    return f"must be no more than {limit} characters"


def dns1123_subdomain_errors(value: str) -> list[str]:
    errors = []
    if len(value.encode()) > SUBDOMAIN_MAX_LENGTH:
        errors.append(_too_long(SUBDOMAIN_MAX_LENGTH))
    if not _SUBDOMAIN.fullmatch(value):
        errors.append(_SUBDOMAIN_REGEX_ERROR)
    return errors


def label_key_errors(value: str) -> list[str]:
    """Upstream ``IsQualifiedName``: an optional DNS prefix and a name, separated by ``/``."""
    errors: list[str] = []
    parts = value.split("/")
    if len(parts) > 2:
        return [
            f"a valid label key {_LABEL_KEY_REGEX_ERROR} with an optional DNS subdomain prefix and '/' "
            "(e.g. 'example.com/MyName')"
        ]
    name = parts[-1]
    if len(parts) == 2:
        prefix = parts[0]
        if not prefix:
            errors.append("prefix part must be non-empty")
        else:
            errors += [f"prefix part {error}" for error in dns1123_subdomain_errors(prefix)]
    if not name:
        errors.append("name part must be non-empty")
    elif len(name.encode()) > LABEL_MAX_LENGTH:
        errors.append(f"name part {_too_long(LABEL_MAX_LENGTH)}")
    if not _LABEL_KEY.fullmatch(name):
        errors.append(f"name part {_LABEL_KEY_REGEX_ERROR}")
    return errors


def label_value_errors(value: str) -> list[str]:
    errors = []
    if len(value.encode()) > LABEL_MAX_LENGTH:
        errors.append(_too_long(LABEL_MAX_LENGTH))
    if value and not _LABEL_KEY.fullmatch(value):
        errors.append(_LABEL_VALUE_REGEX_ERROR)
    return errors


def validate_label_name(value: str, path: FieldPath) -> list[FieldError]:
    return [invalid(path, value, text) for text in label_key_errors(value)]


def is_extended_resource_name(name: str) -> bool:
    """Has a prefix outside ``kubernetes.io/`` and is still a qualified name as a quota's ``requests.<name>``."""
    if "/" not in name or "kubernetes.io/" in name or name.startswith("requests."):
        return False
    return not label_key_errors(f"requests.{name}")
