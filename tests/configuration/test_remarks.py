"""What is said beyond kube-scheduler's errors: what was probably meant, and what has no effect."""

from __future__ import annotations

import pytest

from tests.configuration.loading import loaded, refused


@pytest.mark.parametrize(
    ("plugins", "line", "hint"),
    [
        ("score: {enabled: [{name: NodeResourceFit}]}", 5, "Did you mean NodeResourcesFit?"),
        ("multiPoint: {enabled: [{name: TaintTolerations}]}", 5, "Did you mean TaintToleration?"),
        ("bind: {enabled: [{name: NodeName}]}", 5, "It extends filter."),
        ("queueSort: {enabled: [{name: Coscheduling}]}", 5, "Disable the others at queueSort."),
        ("queueSort: {disabled: [{name: '*'}]}", 5, "Enable one, usually PrioritySort."),
    ],
)
def test_a_refused_set_says_what_was_probably_meant(plugins: str, line: int, hint: str) -> None:
    [error] = refused(f"profiles:\n  - schedulerName: a\n    plugins: {{{plugins}}}\n").errors
    assert (error.line, str(error.hint)) == (line, hint)


def test_two_profiles_of_one_name_are_told_apart_by_a_hint() -> None:
    [error] = refused("profiles:\n  - schedulerName: a\n  - schedulerName: a\n").errors
    assert (error.line, error.message, str(error.hint)) == (
        5,
        "Duplicate value: {}",
        "An earlier profile has this name; pods choose a profile by it.",
    )


@pytest.mark.parametrize(
    ("plugins", "path", "message", "hint"),
    [
        (
            "score: {disabled: [{name: ImageLocalty}]}",
            "score.disabled[0].name",
            "no plugin is called ImageLocalty: nothing is disabled by it",
            "Did you mean ImageLocality?",
        ),
        (
            "multiPoint: {enabled: [{name: TaintToleration, weight: 0}]}",
            "multiPoint.enabled[0].weight",
            "a weight of 0 is as good as none: it is 1",
            "Disable TaintToleration at score instead.",
        ),
        (
            "score: {disabled: [{name: '*'}], enabled: [{name: NodeAffinity}, {name: ImageLocality, weight: -1}]}",
            "score.enabled[1].weight",
            "with a negative weight, nodes that ImageLocality likes best come last",
            "",
        ),
    ],
)
def test_what_kube_scheduler_takes_without_a_word_is_a_warning(
    plugins: str, path: str, message: str, hint: str
) -> None:
    result = loaded(f"profiles:\n  - schedulerName: a\n    plugins: {{{plugins}}}\n")
    assert result.config_error == ""
    assert [(one.path, str(one.message), str(one.hint), one.line) for one in result.warnings] == [
        (f"profiles[0].plugins.{path}", message, hint, 5)
    ]


def test_usual_sets_are_not_warned_of() -> None:
    body = "score: {disabled: [{name: '*'}], enabled: [{name: ImageLocality, weight: 101}, {name: NodeAffinity}]}"
    assert loaded(f"profiles:\n  - schedulerName: a\n    plugins: {{{body}}}\n").warnings == ()
