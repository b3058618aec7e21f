"""Objects as YAML: what is shown, exported, and sent back after it was edited."""

from __future__ import annotations

import re
from typing import Any, Final

import yaml

_LIKE_NUMBERS: Final = re.compile(r"(?:[-+]?(?:\.?[0-9][0-9_]*|[0-9][0-9_]*\.[0-9_]*)[eE][-+]?[0-9]+|[-+]?0o[0-7_]+)$")
"""Of YAML 1.2, and of the reader that Kubernetes uses; PyYAML's own rules are those of 1.1."""
_LIKE_BOOLEANS: Final = re.compile("[yYnN]$")


class _Dumper(yaml.CSafeDumper):
    """Quotes every text that one reader or another takes for something else."""


_Dumper.add_implicit_resolver("tag:yaml.org,2002:float", _LIKE_NUMBERS, list("-+.0123456789"))
_Dumper.add_implicit_resolver("tag:yaml.org,2002:bool", _LIKE_BOOLEANS, list("yYnN"))


def yaml_text(content: Any) -> str:
    """``content``: mappings, lists, texts, numbers, booleans and None; keys stay in their order, lines are not wrapped.

    Texts that YAML 1.1 or 1.2 would read as booleans, numbers, times or null are quoted, as kubectl does it.
    """
    text: str = yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1 << 30)
    return text
