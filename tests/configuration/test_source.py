"""Reading text: what YAML and JSON mean, where things stand, and what is refused before it unfolds."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.configuration.source import MAX_CHARACTERS, Node, SourceError, read_source

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def test_scalars_mean_what_kubernetes_reads() -> None:
    text = "a: yes\nb: 'yes'\nc: 010\nd: 0x1F\ne: 1e3\nf: ~\ng:\nh: 1_000\ni: -5\nj: 2024-01-01\nk: !!str 5\nl: off\n"
    assert read_source(text).root.to_value() == {
        "a": True,
        "b": "yes",
        "c": 8,
        "d": 31,
        "e": 1000.0,
        "f": None,
        "g": None,
        "h": 1000,
        "i": -5,
        "j": "2024-01-01",
        "k": "5",
        "l": False,
    }


def test_aliases_and_merges_unfold() -> None:
    text = "base: &b {x: 1, y: 2}\nown:\n  <<: *b\n  y: 3\nlist: [*b]\n"
    assert read_source(text).root.to_value() == {
        "base": {"x": 1, "y": 2},
        "own": {"y": 3, "x": 1},
        "list": [{"x": 1, "y": 2}],
    }


def node_at(node: Node, *path: str | int) -> Node:
    for part in path:
        node = node.items[part] if isinstance(part, int) else next(v for n, _, v in node.pairs() if n == part)
    return node


@pytest.mark.parametrize(
    "text",
    [
        "a:\n  - b: 1\n    cc: two\n",
        '{\n  "a": [\n    {"b": 1,\n    "cc": "two"}]\n}\n',
    ],
)
def test_nodes_know_their_place(text: str) -> None:
    root = read_source(text).root
    found = node_at(root, "a", 0, "cc")
    line = next(i for i, content in enumerate(text.split("\n"), start=1) if "two" in content)
    assert (found.line, text[found.start : found.end].strip('"')) == (line, "two")
    assert found.column == text.split("\n")[line - 1].index("two" if "{" not in text else '"two') + 1


def bomb() -> str:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    for i in range(8):
        name, below = chr(ord("b") + i), chr(ord("a") + i)
        lines.append(f"{name}: &{name} [{', '.join([f'*{below}'] * 10)}]")
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "want", "line"),
    [
        ("a: &a [*a]", "yaml: anchor 'a' value contains itself", 1),
        ("a: &a\n  b: *a\n", "yaml: anchor 'a' value contains itself", 2),
        ("a: *b", "yaml: unknown anchor 'b' referenced", 1),
        (bomb(), "more than 25,000 values once aliases are expanded; refused", 5),
        ("[" * 5000, "nested deeper than 64 levels", 1),
        ('{"a":' * 5000, "nested deeper than 64 levels", 1),
        ("a: 1\n---\nb: 2\n", "the text has more than one YAML document", 2),
        ("a: [1,\n", "yaml: line 2: a value is missing here", 2),
        ("a: b: c", "yaml: line 1: a key cannot be here", 1),
        ("\ta: 1", "yaml: line 1: tabs do not indent", 1),
        ("? [a]\n: 1\n", "yaml: a key must be a text or a number", 1),
        ('{"a": 1,}', "couldn't get version/kind; json parse error: a key in double quotes is missing", 1),
        ('{"a": 1}\nx', "couldn't get version/kind; json parse error: something follows the end", 2),
        ('{"a": tru}', "couldn't get version/kind; json parse error: a value is missing here", 1),
        ('{"a": "x', "couldn't get version/kind; json parse error: the text in quotes is not closed", 1),
        ("{a: 1}", "couldn't get version/kind; json parse error: a key in double quotes is missing", 1),
        ('a: 1\nb: "\\ud800"', "yaml: line 2: what follows the backslash is no escape sequence", 2),
        ('"\\udc00": 1', "yaml: line 1: what follows the backslash is no escape sequence", 1),
        ("a: " + "x" * MAX_CHARACTERS, "the text has 1,048,579 characters", None),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_cannot_be_read_is_refused_with_a_sentence_and_a_line(text: str, want: str, line: int | None) -> None:
    with pytest.raises(SourceError) as refused:
        read_source(text)
    assert str(refused.value).startswith(want)
    assert refused.value.line == line


def test_half_of_a_surrogate_pair_in_json_is_replaced() -> None:
    source = read_source('{"a\\ud800": "\\udc00b", "c": "\\ud83d\\ude00"}')
    assert source.root.to_value() == {"a\ufffd": "\ufffdb", "c": "😀"}


def test_one_document_with_its_marker_is_one_document() -> None:
    assert read_source("---\na: 1\n...\n").root.to_value() == {"a": 1}


def test_tags_construct_nothing() -> None:
    assert read_source("a: !!python/object/apply:os.system [x]").root.to_value() == {"a": ["x"]}


@given(st.dictionaries(st.text(max_size=5), VALUES, max_size=4), st.sampled_from([None, 2]))
def test_json_reads_as_json(value: dict[str, object], indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    source = read_source(text)
    assert source.format == "json"
    assert source.root.to_value() == value


@given(st.text(alphabet="abc:-[]{},&*#'\"\n \t|>!%?01~<", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(SourceError):  # anything else escapes
        read_source(text).root.to_value()
