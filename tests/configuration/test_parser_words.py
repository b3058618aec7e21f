"""The usual mistakes in YAML and JSON have a sentence, whichever parser finds them."""

from __future__ import annotations

import json
from collections.abc import Callable

import msgspec
import pytest
import yaml
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from framework.parser_words import json_words, yaml_complaint


def ruamel(text: str) -> str:
    try:
        list(YAML(typ="safe", pure=True).load_all(text))
    except YAMLError as error:
        return str(yaml_complaint(error).words)
    return ""


def libyaml(text: str) -> str:
    try:
        list(yaml.load_all(text, Loader=yaml.CSafeLoader))
    except yaml.YAMLError as error:
        return str(yaml_complaint(error).words)
    return ""


def python_json(text: str) -> str:
    try:
        json.loads(text)
    except ValueError as error:
        return str(json_words(str(error)))
    return ""


def msgspec_json(text: str) -> str:
    try:
        msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        return str(json_words(str(error)))
    return ""


@pytest.mark.parametrize("parser", [ruamel, libyaml])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: b: c", "a key cannot be here"),
        ("a: 1\n  b: 2", "a key cannot be here"),
        ("a: - b", "a list item cannot be here"),
        ("a: ? b", "a key with “?” cannot be here"),
        ("a: 1\nb\nc: 2", "a colon is missing behind the key"),
        ("a:\n\t- b", "tabs"),
        ("a: @x", "quote the text"),
        ("a: 'x", "the text in quotes is not closed"),
        ('a: "b\n---\n', "the text in quotes is not closed"),
        ('a: "\\q"', "no escape sequence"),
        ('a: "\\u12"', "no escape sequence"),
        ("- a\nb: 1", "a list item is missing here"),
        ("a:\n  - x\n - y", "a key is missing here"),
        ("a: [1, 2", "a comma or “]” is missing"),
        ("a: {x: 1", "a comma or “}” is missing"),
        ("a: ]", "a value is missing here"),
        ("- *b", "there is no anchor of th"),
        ("a: *", "a name is missing behind “*”"),
        ("a: & b", "a name is missing behind “&”"),
        ("a: \x07", "there is a control character"),
        ("a: !foo x", "the tag !foo is unknown"),
        ("{a: 1}: 2", "a key must be a text or a number"),
        ("a: |x\n b", "nothing may follow"),
        ("<<: 3", "only a mapping can be merged"),
        ("%YAML 9.9\n---\na", "the parser says “found incompatible YAML document"),
    ],
)
def test_yaml(parser: Callable[[str], str], text: str, words: str) -> None:
    assert words in parser(text)


def test_the_place_is_counted_from_one_by_either_parser() -> None:
    text = "a: 1\nb: ]"
    with pytest.raises(YAMLError) as of_ruamel:
        list(YAML(typ="safe", pure=True).load_all(text))
    with pytest.raises(yaml.YAMLError) as of_libyaml:
        yaml.load(text, Loader=yaml.CSafeLoader)
    for error in (of_ruamel.value, of_libyaml.value):
        assert yaml_complaint(error)[1:] == (2, 4)
    unplaced = yaml_complaint(ValueError("no date\nat all"))
    assert (str(unplaced.words), unplaced.line) == ("the parser says “no date”", None)


def test_a_key_that_is_there_twice() -> None:
    assert ruamel("a: 1\na: 2") == 'key "a" already set in map'


@pytest.mark.parametrize(
    ("text", "with_python", "with_msgspec"),
    [
        ('{"a" 1}', "line 1, column 6: a colon is missing behind the key", "byte 5: a colon is missing behind the key"),
        ('{"a": 1 "b": 2}', "line 1, column 9: a comma is missing", "byte 8: a comma or “}” is missing"),
        ('{"a":\n}', "line 2, column 1: a value is missing here", "byte 6: there is a character where it cannot be"),
        ("{a: 1}", "line 1, column 2: a key in double quotes is missing", "byte 1: a key in double quotes is missing"),
        ('{"a": 1} x', "line 1, column 10: something follows the end", "byte 10: something follows the end"),
        ('{"a": "x', "line 1, column 7: the text in quotes is not closed", "it ends in the middle"),
        ('{"a": "\\q"}', "line 1, column 8: what follows the backslash", "byte 9: what follows the backslash"),
        ('{"a": "\\u12"}', "line 1, column 9: what follows the backslash", "byte 12: what follows the backslash"),
        ('{"a": "\x01"}', "line 1, column 8: there is a control character", "byte 7: there is a character where"),
    ],
)
def test_json(text: str, with_python: str, with_msgspec: str) -> None:
    assert python_json(text).startswith(with_python)
    assert msgspec_json(text).startswith(with_msgspec)


def test_a_text_that_is_not_known_stays_as_it_is() -> None:
    assert str(json_words("Something new")) == "the parser says “Something new”"
