"""Manifest files: JSON or YAML, one object, lists, several documents."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from framework.cli.errors import InputError
from framework.objects import KubeObject
from framework.objects.decode import decode_manifests, iter_json
from framework.objects.errors import ObjectError
from framework.parser_words import yaml_complaint

STANDARD_INPUT = "-"


def read_text(path: str) -> str:
    """``-`` is standard input. Raises InputError."""
    try:
        return sys.stdin.read() if path == STANDARD_INPUT else Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(path, error.strerror or str(error) if isinstance(error, OSError) else str(error)) from error


def read_objects(path: str) -> list[KubeObject]:
    """Every object of the file. Raises InputError, naming file, object and field."""
    text = read_text(path)
    try:
        objects = list(iter_json(text) if text.lstrip()[:1] == "{" else decode_manifests(_documents(path, text)))
    except ObjectError as error:
        raise InputError(path, str(error)) from error
    if not objects:
        raise InputError(path, "holds no Kubernetes object")
    return objects


def _documents(path: str, text: str) -> Iterator[object]:
    try:
        yield from YAML(typ="safe", pure=True).load_all(text)
    except (YAMLError, ValueError) as error:
        why, line, column = yaml_complaint(error)
        raise InputError(path if line is None else f"{path}:{line}:{column}", f"not YAML: {why}") from error
    except RecursionError as error:
        raise InputError(path, "not YAML: nested too deeply, or an alias contains itself") from error
