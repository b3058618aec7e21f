"""Differences line by line, merges, and changes in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedweb.configurations.builtins import BUILTINS
from schedweb.configurations.changes import changes_between, leaf_changes
from schedweb.configurations.comparison import compare
from schedweb.configurations.examination import examine
from schedweb.configurations.lines import MAX_COMPARED, MAX_SHOWN, diff_lines, differences, merge
from tests.schedweb.configurations.requests import HEAD, TEXT

texts = st.lists(st.sampled_from("abc"), max_size=12)


@given(texts, texts)
def test_differences_turn_one_text_into_the_other(old: list[str], new: list[str]) -> None:
    result: list[str] = []
    at = 0
    for i1, i2, j1, j2 in differences(old, new):
        result += [*old[at:i1], *new[j1:j2]]
        at = i2
    assert [*result, *old[at:]] == new


@given(texts, texts)
def test_a_diff_lists_every_line_with_its_numbers(old: list[str], new: list[str]) -> None:
    diff = diff_lines("\n".join(old), "\n".join(new))
    if old == new:
        assert diff.lines == []
        return
    old_lines, new_lines = "\n".join(old).splitlines(), "\n".join(new).splitlines()
    seen_old: list[int] = []
    seen_new: list[int] = []
    for line in diff.lines:
        if line.old is not None:
            assert line.kind == "folded" or old_lines[line.old - 1] == line.text
            seen_old += range(line.old, line.old + line.count)
        if line.new is not None:
            assert line.kind == "folded" or new_lines[line.new - 1] == line.text
            seen_new += range(line.new, line.new + line.count)
    assert seen_old == list(range(1, len(old_lines) + 1))
    assert seen_new == list(range(1, len(new_lines) + 1))
    assert diff.added - diff.removed == len(new_lines) - len(old_lines)


def test_equal_lines_are_folded() -> None:
    old = "\n".join(f"line {i}" for i in range(30))
    diff = diff_lines(old, old.replace("line 15\n", "LINE 15\n"))
    assert [(line.kind, line.count) for line in diff.lines] == [
        ("folded", 12),
        *[("equal", 1)] * 3,
        ("removed", 1),
        ("added", 1),
        *[("equal", 1)] * 3,
        ("folded", 11),
    ]


def test_long_differences_are_cut_and_counted() -> None:
    diff = diff_lines("a\n" * (MAX_COMPARED + 1), "b\n" * (MAX_COMPARED + 5))
    assert (diff.removed, diff.added, diff.cut, len(diff.lines)) == (
        MAX_COMPARED + 1,
        MAX_COMPARED + 5,
        True,
        MAX_SHOWN,
    )


@given(texts, texts)
def test_a_merge_with_nobody_is_what_was_written(base: list[str], mine: list[str]) -> None:
    before, after = "\n".join(base), "\n".join(mine)
    assert merge(before, after, before) == after
    assert merge(before, before, after) == after
    assert merge(before, after, after) == after


@given(texts, texts, texts)
def test_a_merge_does_not_depend_on_who_was_first(base: list[str], mine: list[str], theirs: list[str]) -> None:
    before, one, other = ("\n".join(each) for each in (base, mine, theirs))
    assert merge(before, one, other) == merge(before, other, one)


@pytest.mark.parametrize(
    ("mine", "theirs", "merged"),
    [
        ("A\nb\nc\nd\n", "a\nb\nc\nD\n", "A\nb\nc\nD\n"),
        ("A\nb\nc\nd\n", "A\nb\nc\nD\n", "A\nb\nc\nD\n"),
        ("a\nc\nd\n", "a\nb\nc\nd\ne\n", "a\nc\nd\ne\n"),
        ("A\nb\nc\nd\n", "X\nb\nc\nd\n", None),
        ("A\nb\nc\nd\n", "a\nB\nc\nd\n", None),
        ("a\nx\nb\nc\nd\n", "a\ny\nb\nc\nd\n", None),
    ],
)
def test_merges(mine: str, theirs: str, merged: str | None) -> None:
    assert merge("a\nb\nc\nd\n", mine, theirs) == merged


def words(old: str, new: str) -> list[tuple[str | None, list[str]]]:
    return [(change.plugin, change.what) for change in compare(old, new).changes]


def test_a_switched_gate_is_a_change() -> None:
    line = "# kube-scheduler --feature-gates=SchedulerPopFromBackoffQ={}\n{}"
    on, off = line.format("true", TEXT), line.format("false", TEXT)
    assert words(TEXT, off) == [(None, ["SchedulerPopFromBackoffQ off"])]
    assert words(off, TEXT) == [(None, ["SchedulerPopFromBackoffQ on"])]
    assert words(TEXT, on) == []


def test_changes_in_words() -> None:
    approvals = BUILTINS[4].text
    assert words(BUILTINS[6].text, approvals) == [
        ("PrioritySort", ["no longer runs"]),
        ("Coscheduling", ["added at QueueSort, PreFilter, PostFilter, Reserve, Permit"]),
        ("ManualApproval", ["added at PreEnqueue, Permit"]),
    ]
    edited = approvals.replace("timeoutSeconds: 600", "timeoutSeconds: 900").replace(
        "    pluginConfig:",
        "      score: {disabled: [{name: ImageLocality}, {name: TaintToleration}]}\n    pluginConfig:",
    )
    assert words(approvals, edited) == [
        ("TaintToleration", ["no longer scores"]),
        ("ImageLocality", ["no longer runs"]),
        ("ManualApproval", ["timeoutSeconds 600 → 900"]),
    ]


def test_comments_and_layout_change_nothing() -> None:
    assert words(TEXT, TEXT.replace("# Ours.\n", "").replace("   # packing", "")) == []


def test_profiles_come_and_go() -> None:
    two = (
        f"{HEAD}profiles:\n- schedulerName: default-scheduler\n- schedulerName: batch\n  percentageOfNodesToScore: 5\n"
    )
    one = f"{HEAD}profiles:\n- schedulerName: batch\n  percentageOfNodesToScore: 50\n"
    found = [(each.profile, each.what) for each in compare(two, one).changes]
    assert found == [("batch", ["percentageOfNodesToScore 5 → 50"]), ("default-scheduler", ["profile removed"])]


def test_of_moved_plugins_only_the_one_that_moved_is_named() -> None:
    moved = f"{HEAD}profiles:\n- plugins: {{filter: {{enabled: [{{name: NodeResourcesFit}}]}}}}\n"
    assert words(HEAD, moved) == [("NodeResourcesFit", ["moved at Filter"])]


def test_leaves_of_arguments() -> None:
    old = {"a": {"type": "x", "list": [1, 2]}, "gone": True}
    new = {"a": {"type": "y", "list": [1, 3]}, "message": ""}
    assert leaf_changes(old, new) == [
        "a.type x → y",
        "a.list[1] 2 → 3",
        "gone true → not given",
        'message not given → ""',
    ]
    assert leaf_changes({"list": [1]}, {"list": [1, 2]}) == ["list [1] → [1, 2]"]
    assert leaf_changes({"text": "y" * 200}, {"text": "x"})[0] == f"text {'y' * 79}… → x"


def test_unreadable_texts_have_no_changes_in_words() -> None:
    assert changes_between(examine("a: [").effective, examine(TEXT).effective) == []
