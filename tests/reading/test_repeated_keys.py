"""A key that stands twice is told with its line, in JSON as in YAML."""

from __future__ import annotations

import json

import pytest

from framework.reading.documents import FileRefused, read_documents, read_items
from framework.reading.repeated_keys import repeated_key

POD = """{
  "apiVersion": "v1",
  "kind": "Pod",
  "metadata": {
    "name": "p",
    "labels": {"app": "a", "tier": "b"}
  },
  "spec": {"containers": [
    {"name": "c", "image": "i"},
    {"name": "d", "image": "i"}
  ]}
}
"""


def refusal(text: str) -> FileRefused:
    with pytest.raises(FileRefused) as refused:
        list(read_documents(text.encode()))
    return refused.value


@pytest.mark.parametrize(
    ("text", "line", "column", "key", "first", "field"),
    [
        (POD.replace('"tier"', '"app"'), 6, 28, "app", 6, "metadata.labels.app"),
        (POD.replace('"tier"', '"\\u0061pp"'), 6, 28, "app", 6, "metadata.labels.app"),
        (
            POD.replace('"name": "d", "image"', '"image": "e",\n     "image"'),
            11,
            6,
            "image",
            10,
            "spec.containers[1].image",
        ),
        (POD.replace('  "spec"', '  "kind": "Node",\n  "spec"'), 8, 3, "kind", 3, "kind"),
    ],
    ids=["label", "escaped", "in a list", "at the top"],
)
def test_json(text: str, line: int, column: int, key: str, first: int, field: str) -> None:
    found = refusal(text)
    assert (found.line, found.column) == (line, column)
    assert str(found.words) == (
        f'This JSON is not read: line {line}, column {column}: key "{key}" is already set in map, in line {first} '
        f'(strict decoding error: duplicate field "{field}").'
    )


def test_yaml() -> None:
    found = refusal("apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  labels: {app: a}\n  name: q\n")
    assert (found.line, found.column) == (6, 3)
    assert str(found.words) == 'This is not YAML: line 6, column 3: key "name" already set in map.'


def test_of_several_documents_each_is_looked_at() -> None:
    twice = POD.replace('"tier"', '"app"')
    assert refusal(f"[\n{POD}, {twice}]").line == 19
    assert 'duplicate field "[1].metadata.labels.app"' in str(refusal(f"[\n{POD}, {twice}]").words)
    assert refusal(f"{POD}\n---\n{twice}").line == 20
    whole = f'{{"apiVersion": "v1", "kind": "List", "items": [{POD}, {twice}]}}'
    with pytest.raises(FileRefused) as refused:
        read_items(whole.encode())
    assert 'duplicate field "items[1].metadata.labels.app"' in str(refused.value.words)


def test_the_same_key_of_other_objects_is_none_twice() -> None:
    [manifest] = read_documents(POD.encode())
    assert manifest == json.loads(POD)


def test_large_files_are_looked_through_as_well() -> None:
    """Their lines and fields are those of the file."""
    pods = [POD] * 40_000
    pods[-2] = POD.replace('"tier"', '"app"')
    text = '{"apiVersion": "v1", "kind": "List", "items": [\n' + ",".join(pods) + "]}"
    assert len(text) > 8 * 1024 * 1024
    found = repeated_key(text)
    assert found is not None
    assert (found.field, found.line) == ("items[39998].metadata.labels.app", 1 + 39_998 * (POD.count("\n")) + 6)
    with pytest.raises(FileRefused) as refused:
        read_items(text.encode())
    assert refused.value.line == found.line


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ('{"a": {"b": 1}, "a": 2}', "a"),
        ('{"a": {"b": 1, "b": 2}, "a": 2}', "a.b"),
        ('{ "a" : 1 , "b" : [ 1 , [ { "c" : "}\\"" , "c" : [] } ] ] }', "b[1][0].c"),
        ('[[[[[[{"a": {"b": {"c": {"d": 1, "d": 2}}}}]]]]]]', "[0][0][0][0][0][0].a.b.c.d"),
        ('{"\\u0456": 1, "\u0456": 2}', "\u0456"),
        ('{"": 1, "": 2}', ""),
    ],
)
def test_the_place_is_found_however_it_is_written(text: str, field: str) -> None:
    found = repeated_key(text)
    assert found is not None
    assert found.field == field


@pytest.mark.parametrize(
    "text", ['{"a": 1, "a": 2', '{"a": 1, "a": x}', "[1, 2", '{"a"', "", '{"a": 1}, {"a": 1, "a": 2}']
)
def test_what_is_no_json_has_none(text: str) -> None:
    assert repeated_key(text) is None
