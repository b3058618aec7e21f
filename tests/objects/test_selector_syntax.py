from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.objects.selector_syntax import parse_selector
from framework.objects.selectors import EVERYTHING, LabelMatcher, Requirement, SelectorError


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("app=web", "app=web"),
        ("app==web", "app=web"),
        (" app = web ", "app=web"),
        ("app!=web", "app!=web"),
        ("app", "app"),
        ("!app", "!app"),
        ("app in (b, a,a)", "app in (a,b)"),
        ("app notin (a)", "app!=a"),
        ("b=1,a=2", "a=2,b=1"),
        ("app=", "app="),
        ("app=,b", "app=,b"),
        ("app in ()", "app="),
        ("app in (,a)", "app in (,a)"),
        ("cpus>4,cpus<9", "cpus>4,cpus<9"),
        ("in=in", "in=in"),
        ("example.com/a=b", "example.com/a=b"),
    ],
)
def test_reads_what_kubectl_reads(text: str, want: str) -> None:
    assert sorted(str(parse_selector(text)).split(",")) == sorted(want.split(","))


def test_empty_text_selects_everything() -> None:
    assert parse_selector("") == EVERYTHING
    assert parse_selector(" \t") == EVERYTHING


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("=a", "found '=', expected: !, identifier, or 'end of string'"),
        ("a=b,", "found '', expected: identifier after ','"),
        ("a=b,,c", "found ',', expected: identifier after ','"),
        ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("a in b", "unable to parse requirement: found 'b' expected: '('"),
        ("a in (b", "unable to parse requirement: found '', expected: ',' or ')'"),
        ("a=b c", "found 'c', expected: ',' or 'end of string'"),
        ("!a=b", "found '=', expected: ',' or 'end of string'"),
        ("!", "unable to parse requirement: found '', expected: identifier"),
        (
            "a>x",
            'unable to parse requirement: values[0]: Invalid value: "x": '
            "for 'Gt', 'Lt' operators, the value must be an integer",
        ),
    ],
)
def test_refuses_with_kubectls_words(text: str, message: str) -> None:
    with pytest.raises(SelectorError) as refusal:
        parse_selector(text)
    assert str(refusal.value) == message


names = st.sampled_from(["a", "b", "example.com/c"])
values = st.sampled_from(["", "x", "y-1", "z.2"])
requirements = st.one_of(
    st.builds(
        lambda key, operator, found: Requirement(key, operator, tuple(sorted(found))),
        names,
        st.sampled_from(["In", "NotIn"]),
        st.sets(values, min_size=1),
    ),
    st.builds(lambda key, operator: Requirement(key, operator, ()), names, st.sampled_from(["Exists", "DoesNotExist"])),
)


@given(st.lists(requirements, max_size=4))
def test_what_is_shown_can_be_typed_again(given: list[Requirement]) -> None:
    matcher = LabelMatcher.from_requirements(given)
    assert parse_selector(str(matcher)) == matcher


@given(st.text(alphabet="ab=!(),<>in ot/.", max_size=20))
def test_any_text_is_a_selector_or_refused(text: str) -> None:
    try:
        matcher = parse_selector(text)
    except SelectorError:
        return
    assert parse_selector(str(matcher)) == matcher
