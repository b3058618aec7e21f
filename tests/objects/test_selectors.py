from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.objects import (
    Affinity,
    LabelSelector,
    LabelSelectorRequirement,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PreferredSchedulingTerm,
)
from framework.objects.selectors import (
    EVERYTHING,
    NOTHING,
    SelectorError,
    compile_label_selector,
    compile_node_selector,
    compile_node_term,
    compile_preferred_terms,
    field_node_names,
    matcher_from_labels,
    parse_int64,
    required_node_affinity,
)
from tests.objects.builders import pod

KEYS = ("app", "tier", "zone")
VALUES = ("", "1", "2", "web", "-3")


def expression(key: str, operator: str, *values: str) -> LabelSelectorRequirement:
    return LabelSelectorRequirement(key=key, operator=operator, values=values)


def need(key: str, operator: str, *values: str) -> NodeSelectorRequirement:
    return NodeSelectorRequirement(key=key, operator=operator, values=values)


def selector(*expressions: LabelSelectorRequirement, **labels: str) -> LabelSelector:
    return LabelSelector(match_labels=labels, match_expressions=expressions)


@pytest.mark.parametrize(
    ("given", "labels", "want"),
    [
        (None, {"app": "web"}, False),
        (selector(), {}, True),
        (selector(app="web"), {"app": "web", "x": "y"}, True),
        (selector(app="web"), {"app": "api"}, False),
        (selector(app=""), {}, False),
        (selector(expression("app", "In", "a", "web")), {"app": "web"}, True),
        (selector(expression("app", "In", "a")), {}, False),
        (selector(expression("app", "NotIn", "web")), {}, True),
        (selector(expression("app", "NotIn", "web")), {"app": "web"}, False),
        (selector(expression("app", "Exists")), {"app": ""}, True),
        (selector(expression("app", "Exists")), {}, False),
        (selector(expression("app", "DoesNotExist")), {}, True),
        (selector(expression("app", "DoesNotExist")), {"app": ""}, False),
        (selector(expression("tier", "Exists"), app="web"), {"app": "web"}, False),
    ],
)
def test_label_selectors(given: LabelSelector | None, labels: dict[str, str], want: bool) -> None:
    assert compile_label_selector(given).matches(labels) is want


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (selector(expression("a", "Gt", "1")), '"Gt" is not a valid label selector operator'),
        (
            selector(expression("a", "In")),
            "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",
        ),
        (
            selector(expression("a", "Exists", "x")),
            'values: Invalid value: ["x"]: values set must be empty for exists and does not exist',
        ),
    ],
)
def test_refused_label_selectors(given: LabelSelector, message: str) -> None:
    with pytest.raises(SelectorError) as refusal:
        compile_label_selector(given)
    assert str(refusal.value) == message


def test_nil_and_empty_are_told_apart() -> None:
    assert compile_label_selector(None) == NOTHING
    assert compile_label_selector(LabelSelector()) == EVERYTHING
    assert EVERYTHING.is_empty
    assert not NOTHING.is_empty
    assert NOTHING.and_also([]) is NOTHING


def test_equal_selectors_are_one_key() -> None:
    one = selector(expression("tier", "In", "b", "a", "a"), app="web")
    other = selector(expression("app", "In", "web"), expression("tier", "In", "a", "b"))
    assert compile_label_selector(one) == compile_label_selector(other)
    assert hash(compile_label_selector(one)) == hash(compile_label_selector(other))
    assert compile_label_selector(one) != compile_label_selector(selector(app="web"))


def test_is_shown_as_kubectl_shows_it() -> None:
    shown = compile_label_selector(
        selector(
            expression("tier", "In", "b", "a"),
            expression("old", "DoesNotExist"),
            expression("zone", "Exists"),
            expression("x", "NotIn", "y", "z"),
            app="web",
        )
    )
    assert str(shown) == "app=web,!old,tier in (a,b),x notin (y,z),zone"


labels_strategy = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES), max_size=3)
expressions = st.one_of(
    st.builds(
        LabelSelectorRequirement,
        key=st.sampled_from(KEYS),
        operator=st.sampled_from(["In", "NotIn"]),
        values=st.lists(st.sampled_from(VALUES[:4]), min_size=1, max_size=3).map(tuple),
    ),
    st.builds(
        LabelSelectorRequirement, key=st.sampled_from(KEYS), operator=st.sampled_from(["Exists", "DoesNotExist"])
    ),
)


def naively(one: LabelSelectorRequirement, labels: dict[str, str]) -> bool:
    present = one.key in labels
    listed = present and labels[one.key] in one.values
    return {"In": listed, "NotIn": not listed, "Exists": present, "DoesNotExist": not present}[one.operator]


@given(
    st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES[:4]), max_size=2),
    st.lists(expressions, max_size=3),
    labels_strategy,
    st.randoms(),
)
def test_compiled_selectors_agree_with_reading_them_out(
    wanted: dict[str, str], given: list[LabelSelectorRequirement], labels: dict[str, str], random: object
) -> None:
    want = all(labels.get(k) == v for k, v in wanted.items()) and all(naively(one, labels) for one in given)
    compiled = compile_label_selector(LabelSelector(match_labels=wanted, match_expressions=tuple(given)))
    assert compiled.matches(labels) is want
    turned = compile_label_selector(LabelSelector(match_labels=wanted, match_expressions=tuple(reversed(given))))
    assert turned == compiled
    assert hash(turned) == hash(compiled)


@pytest.mark.parametrize(
    ("term", "labels", "name", "want"),
    [
        (NodeSelectorTerm(match_expressions=(need("cpus", "Gt", "4"),)), {"cpus": "8"}, "n", True),
        (NodeSelectorTerm(match_expressions=(need("cpus", "Gt", "8"),)), {"cpus": "8"}, "n", False),
        (NodeSelectorTerm(match_expressions=(need("cpus", "Lt", "9"),)), {"cpus": "-8"}, "n", True),
        (NodeSelectorTerm(match_expressions=(need("cpus", "Lt", "9"),)), {"cpus": "many"}, "n", False),
        (NodeSelectorTerm(match_expressions=(need("cpus", "Gt", "9"),)), {}, "n", False),
        (NodeSelectorTerm(match_expressions=(need("cpus", "Gt", "x"),)), {"cpus": "8"}, "n", False),
        (NodeSelectorTerm(match_expressions=(need("cpus", "Gt", "1", "2"),)), {"cpus": "8"}, "n", False),
        (NodeSelectorTerm(match_expressions=(need("cpus", "Near", "1"),)), {"cpus": "1"}, "n", False),
        (NodeSelectorTerm(match_fields=(need("metadata.name", "In", "n"),)), {}, "n", True),
        (NodeSelectorTerm(match_fields=(need("metadata.name", "In", "n"),)), {}, "m", False),
        (NodeSelectorTerm(match_fields=(need("metadata.name", "NotIn", "n"),)), {}, "n", False),
        (NodeSelectorTerm(match_fields=(need("metadata.name", "In", "n", "m"),)), {}, "n", False),
        (NodeSelectorTerm(match_fields=(need("metadata.name", "Exists"),)), {}, "n", False),
        (
            NodeSelectorTerm(
                match_expressions=(need("zone", "In", "a"),), match_fields=(need("metadata.name", "In", "n"),)
            ),
            {"zone": "b"},
            "n",
            False,
        ),
    ],
)
def test_node_selector_terms(term: NodeSelectorTerm, labels: dict[str, str], name: str, want: bool) -> None:
    assert compile_node_term(term).matches(labels, name) is want


def test_terms_are_ored_and_empty_ones_match_nothing() -> None:
    matching = NodeSelectorTerm(match_expressions=(need("zone", "Exists"),))
    broken = NodeSelectorTerm(match_expressions=(need("zone", "Near"),))
    assert compile_node_selector(NodeSelector(node_selector_terms=(broken, matching))).matches({"zone": "a"}, "n")
    assert not compile_node_selector(NodeSelector(node_selector_terms=(NodeSelectorTerm(),))).matches({}, "n")
    assert not compile_node_selector(NodeSelector()).matches({}, "n")
    assert compile_node_selector(None).matches({}, "n")
    errors = compile_node_selector(NodeSelector(node_selector_terms=(matching, broken)), path="required").errors
    assert [error.text for error in errors] == [
        'required.nodeSelectorTerms[1].matchExpressions[0].operator: Unsupported value: "Near": '
        'supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"'
    ]


def test_node_selector_and_affinity_must_both_match() -> None:
    affinity = Affinity(
        node_affinity=NodeAffinity(
            required_during_scheduling_ignored_during_execution=NodeSelector(
                node_selector_terms=(NodeSelectorTerm(match_expressions=(need("zone", "In", "a"),)),)
            )
        )
    )
    required = required_node_affinity(pod(node_selector={"disk": "ssd"}, affinity=affinity))
    assert required.matches({"disk": "ssd", "zone": "a"}, "n")
    assert not required.matches({"disk": "ssd", "zone": "b"}, "n")
    assert not required.matches({"zone": "a"}, "n")
    assert str(required) == "disk=ssd and (zone=a)"
    assert required_node_affinity(pod()).is_empty
    assert hash(required) == hash(required_node_affinity(pod(node_selector={"disk": "ssd"}, affinity=affinity)))


def test_preferred_terms_without_weight_or_content_are_not_even_read() -> None:
    broken = NodeSelectorTerm(match_expressions=(need("zone", "Near"),))
    fine = NodeSelectorTerm(match_expressions=(need("zone", "Exists"),))
    terms = [
        PreferredSchedulingTerm(weight=0, preference=broken),
        PreferredSchedulingTerm(weight=5, preference=NodeSelectorTerm()),
        PreferredSchedulingTerm(weight=7, preference=fine),
    ]
    compiled, errors = compile_preferred_terms(terms)
    assert [term.weight for term in compiled] == [7]
    assert errors == ()
    assert compile_preferred_terms([PreferredSchedulingTerm(weight=1, preference=broken)])[1]


@pytest.mark.parametrize(
    ("fields", "want"),
    [
        ((), None),
        ((need("metadata.name", "NotIn", "a"),), None),
        ((need("metadata.name", "In", "a"),), ["a"]),
        ((need("metadata.name", "In", "a"), need("metadata.name", "In", "b")), []),
    ],
)
def test_names_that_fields_allow(fields: tuple[NodeSelectorRequirement, ...], want: list[str] | None) -> None:
    assert field_node_names(NodeSelectorTerm(match_fields=fields)) == want


def test_labels_as_a_selector_are_taken_unchecked() -> None:
    assert matcher_from_labels({"not a key": "x y"}).matches({"not a key": "x y"})
    assert matcher_from_labels(None) == EVERYTHING


@pytest.mark.parametrize(
    ("text", "want"),
    [("7", 7), ("-7", -7), ("+7", 7), ("", None), ("7.0", None), (" 7", None), ("1_0", None), ("٣", None)],
)
def test_integers_as_go_reads_them(text: str, want: int | None) -> None:
    assert parse_int64(text) == want


def test_integers_beyond_int64_are_none() -> None:
    assert parse_int64(str((1 << 63) - 1)) == (1 << 63) - 1
    assert parse_int64(str(1 << 63)) is None
    assert parse_int64(str(-(1 << 63))) == -(1 << 63)
