"""YAML from events: what PyYAML's own loader would have made of it, where that lives to tell."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.reading.documents import FileRefused, read_documents
from framework.reading.yaml_documents import read_yaml
from tests.schedweb.snapshots.files import EXPORT_YAML

TEXTS = st.sampled_from(
    ["a", "b", "<<", "=", "yes", "no", "~", "", "1", "0x1f", "1.5", ".nan", "2026-01-01", "x: y", "- a", "#", "'", '"',
     "1_000", "0o7", "null", "\u00e4", "a\nb", " a ", "&a", "*a", "!x", "{", "]", "12:30:00", "1e3", "+1", "."]
)  # fmt: skip
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), TEXTS)
TREES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=12
)
PIECES = st.sampled_from(
    ["a: ", "- ", "\n", "  ", "&a ", "*a", "<<: ", "? ", ": ", "[", "]", "{", "}", ", ", "1", "x", "|\n", "!!str ",
     "!!binary ", "! ", "!!set ", "---\n", "...\n", "'", '"', "# c\n", "=", "<<", "b: {c: d}\n", "!!int ", "!x "]
)  # fmt: skip


#: Upstream's parser refuses a key that is there twice; sets and ordered maps are no JSON.
REFUSED_NOW = ("already set", "yaml.org,2002:set", "yaml.org,2002:omap", "yaml.org,2002:pairs")


class AsBefore(yaml.CSafeLoader):
    """Composes and constructs, timestamps left alone."""


AsBefore.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def same(text: str) -> None:
    try:
        want = list(yaml.load_all(text, Loader=AsBefore))
    except (yaml.YAMLError, ValueError, RecursionError, LookupError, AttributeError):
        return
    try:
        got = repr(list(read_yaml(text.encode())))
    except yaml.YAMLError as error:
        got = str(error)
    assert got == repr(want) or any(reason in got for reason in REFUSED_NOW)


@given(st.lists(TREES, min_size=1, max_size=3), st.booleans())
def test_what_was_written_is_read(documents: list[Any], flow: bool) -> None:
    same(yaml.safe_dump_all(documents, default_flow_style=flow, allow_unicode=True))


@settings(max_examples=400)
@given(st.lists(PIECES, max_size=14).map("".join))
def test_scraps_are_read_as_they_were_or_refused(text: str) -> None:
    same(text)


def test_a_whole_export_is_read_as_it_was() -> None:
    text = gzip.decompress(EXPORT_YAML.read_bytes())
    assert list(read_yaml(text)) == list(yaml.load_all(text, Loader=AsBefore))


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}", {"a": {"b": 1, "c": 2}, "d": {"b": 1, "c": 3}}),
        ("a: &x {b: 1}\ne: &y {b: 2, c: 2}\nd: {c: 3, <<: [*x, *y]}", {"b": 1, "c": 3}),
        ("d: {'<<': 1}", {"<<": 1}),
        ("d: [<<, =]", ["<<", "="]),
        ("d: 2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
    ],
)
def test_merges_and_words_that_look_like_something(text: str, want: Any) -> None:
    [found] = read_yaml(text.encode())
    assert want in (found, found["d"])


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? "])
def test_no_depth_ends_the_process(opening: str) -> None:
    """PyYAML's way called itself for each level, until the stack ended: SIGSEGV, in the web process, too."""
    with pytest.raises(FileRefused, match=r"nested too deeply|many small values"):
        list(read_documents(b"a:\n  " + opening.encode() * 200_000))


def test_a_key_that_is_there_twice_and_tags_nobody_knows_are_refused_where_they_stand() -> None:
    for text, line, why in (
        ("a: 1\nb: 2\na: 3", 3, "already set"),
        ("a: 1\nb: !!set {x}", 2, "tag"),
        ('a: 1\nb: !!int ""', 2, "no int"),
        ("a: 1\nb: !!bool x", 2, "no bool"),
        ("a: 1\nb: !!timestamp x", 2, "no timestamp"),
        ("a: 1\n? [b]\n: c", 2, "a key must be"),
        ("a: 1\n<<: 3", 2, "only a mapping can be merged"),
        ("a: *b", 1, "no anchor"),
    ):
        with pytest.raises(FileRefused, match=why) as refused:
            list(read_documents(text.encode()))
        assert refused.value.line == line
