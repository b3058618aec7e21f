"""Whatever is shown as YAML is read as what it was, by readers of YAML 1.1 and 1.2."""

from __future__ import annotations

from typing import Final

import pytest
import yaml
from ruamel.yaml import YAML

from framework.reading.yaml_documents import read_yaml
from framework.reading.yaml_text import yaml_text

TEXTS: Final = [
    *("yes", "No", "on", "OFF", "y", "N", "true", "null", "~", ""),
    *("1", "-1", "0x1f", "010", "0o10", "1_000", "1e3", "1E-3", ".5e1", "1.5", "1.e+3", ".inf", "12:30:45"),
    *(
        "2026-11-30",
        "2026-11-30T08:00:00Z",
        "=",
        "<<",
        "a: b",
        "- a",
        "# a",
        "a #b",
        "two\nlines\n",
        "\u0456",
        "%a",
        "@a",
    ),
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_stays_a_text(text: str) -> None:
    content = {"value": text, "list": [text], text or "empty": 1}
    written = yaml_text(content)
    assert yaml.safe_load(written) == content
    assert YAML(typ="safe", pure=True).load(written) == content
    [found] = read_yaml(written.encode())
    assert found == content


@pytest.mark.parametrize("text", ["yes", "y", "1e3", "1E-3", "0o10", "010"])
def test_what_only_some_readers_take_for_something_else_is_quoted(text: str) -> None:
    assert yaml_text({"value": text}) == f"value: '{text}'\n"


def test_what_is_none_of_them_is_not() -> None:
    plain = {"name": "web-1", "image": "nginx:1.25", "amount": "100Mi", "number": 3, "flag": True, "none": None}
    assert yaml_text(plain) == ("name: web-1\nimage: nginx:1.25\namount: 100Mi\nnumber: 3\nflag: true\nnone: null\n")
