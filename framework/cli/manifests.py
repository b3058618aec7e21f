"""Manifest files: JSON or YAML, one object, lists, several documents."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from framework.cli.errors import InputError
from framework.objects import KubeObject
from framework.objects.decode import decode_manifests, iter_json
from framework.objects.errors import ObjectError
from framework.parser_words import yaml_words

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
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else path
        raise InputError(place, f"not YAML: {yaml_words(error.problem, error.context)}") from error
    except (YAMLError, ValueError) as error:
        raise InputError(path, f"not YAML: {yaml_words(str(error).splitlines()[0])}") from error
    except RecursionError as error:
        raise InputError(path, "not YAML: nested too deeply, or an alias contains itself") from error
