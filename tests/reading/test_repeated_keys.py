"""A key that stands twice is told with its line, in JSON as in YAML."""

from __future__ import annotations

import json

import pytest

from framework.reading.documents import FileRefused, read_documents, read_items
from framework.reading.repeated_keys import MOST_LOOKED_AT

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


def test_what_is_larger_than_anybody_writes_is_read_without_a_look() -> None:
    filled = POD.replace('"tier": "b"', f'"app": "b", "long": "{"x" * MOST_LOOKED_AT}"')
    [manifest] = read_documents(filled.encode())
    assert manifest["metadata"]["labels"]["app"] == "b"
