"""The first sentence about a pod whose nodes extenders refused: which one, how many nodes, and with which words."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from framework.interface import Code, Status
from framework.trace.attempt import MOST_LEFT_OUT, ExtenderCall
from framework.trace.extended import LEFT_OUT
from schedweb.runs.filtering.filters import FilterView, NodeFacts, Wanted
from schedweb.runs.filtering.standing import read_node
from schedweb.runs.pending.answers import pending_answer
from tests.schedweb.runs.pending.test_answers import FIT, RESOURCES, Known

LICENSES, TOPOLOGY = "http://licenses:9876", "https://***:***@topology/api"
TAINT = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("node(s) had untolerated taint(s)",), "TaintToleration")


def said(words: str, code: Code = Code.UNSCHEDULABLE) -> Status:
    return Status(code, (words,), "Extender")


def call(extender: str, sent: int, *left_out: str, kept: int | None = None, **failed: str) -> ExtenderCall:
    left = sent - len({*left_out, *failed}) if kept is None else kept
    return ExtenderCall(extender, "filter", sent, left, "", False, (*left_out, *failed), tuple(failed.items()))


def answer(nodes: dict[str, Status], *calls: ExtenderCall, wanted: int = 1000) -> tuple[str, str]:
    """Nodes have 8 cpu, those that plugins refuse none."""
    view = FilterView.__new__(FilterView)
    view.trace = SimpleNamespace(pre_filter_status=None, extender_calls=calls)  # type: ignore[assignment]
    view.facts = {
        name: NodeFacts("z", "t", [0 if status is FIT else 8000, 1 << 35, 0], [0, 0, 0])
        for name, status in nodes.items()
    }
    view.wanted = Wanted(RESOURCES, [wanted, 0, 0])
    view.members, view.status, view.kept, view.filters = {}, {}, {}, ()
    view.out_of_reach = frozenset()
    for name, status in nodes.items():
        view.add(status, [name])
    standing = SimpleNamespace(nodes={name: read_node({"metadata": {"name": name}}) for name in nodes}, pods=[])
    return pending_answer(view, {}, Known(), standing)


@pytest.mark.parametrize(
    ("nodes", "calls", "headline"),
    [
        (
            {"a": said("no license."), "b": said("no license.")},
            [call(LICENSES, 2, a="no license.", b="no license.")],
            f"The extender at {LICENSES} refuses 2 nodes: no license.",
        ),
        (
            {"a": LEFT_OUT},
            [call(TOPOLOGY, 1, "a")],
            f"The extender at {TOPOLOGY} leaves 1 node out without a word.",
        ),
        (
            {
                "a": said("no license"),
                "b": said("too old", Code.UNSCHEDULABLE_AND_UNRESOLVABLE),
                "c": said("no license"),
                "d": LEFT_OUT,
                "e": said("is red"),
                "f": said("is blue"),
            },
            [call(LICENSES, 6, "d", a="no license", b="too old", c="no license", e="is red", f="is blue")],
            f"The extender at {LICENSES} refuses 6 nodes: "
            "no license (2), too old (1), is red (1), 1 for another reason and 1 without a word.",
        ),
        (
            {"a": said("no license"), "b": LEFT_OUT, "c": LEFT_OUT},
            [call(LICENSES, 3, a="no license"), call(TOPOLOGY, 2, "b", "c")],
            "None of the 3 nodes that it may use takes it: "
            f"2 are left out by the extender at {TOPOLOGY}, 1 is refused by the extender at {LICENSES} (no license).",
        ),
        (
            {"a": said("no license"), "b": said("no license"), "c": FIT},
            [call(LICENSES, 2, a="no license", b="no license")],
            "None of the 3 nodes that it may use takes it: "
            f"2 are refused by the extender at {LICENSES} (no license), 1 has no room.",
        ),
    ],
)
def test_the_extender_that_refused_is_named(nodes: dict[str, Status], calls: list[ExtenderCall], headline: str) -> None:
    found, detail = answer(nodes, *calls)
    assert found == headline
    assert "leave" not in detail, "nobody knows what an extender says when pods leave"


def test_nodes_that_it_may_not_use_are_told_beside() -> None:
    found = answer({"a": said("no license"), "b": TAINT}, call(LICENSES, 1, a="no license"))
    assert found == (
        f"The extender at {LICENSES} refuses 1 node: no license.",
        "1 of 2 nodes has a taint that it does not tolerate.",
    )


def test_of_very_many_nodes_the_calls_say_how_many_each_refused() -> None:
    """A call names the first hundred; the first extender refused all but 120, the second those."""
    names = [f"n{number:03}" for number in range(300)]
    first, second = dict.fromkeys(names[:180], "no license"), dict.fromkeys(names[180:], "too far")
    nodes = {name: said(words) for name, words in (first | second).items()}

    def shortened(extender: str, sent: int, failed: dict[str, str]) -> ExtenderCall:
        named = tuple(failed)[:MOST_LEFT_OUT]
        left = sent - len(failed)
        return ExtenderCall(extender, "filter", sent, left, "", False, named, tuple((n, failed[n]) for n in named))

    headline, _ = answer(nodes, shortened(LICENSES, 300, first), shortened(TOPOLOGY, 120, second))
    assert headline == (
        "None of the 300 nodes that it may use takes it: "
        f"180 are refused by the extender at {LICENSES} (no license), "
        f"120 are refused by the extender at {TOPOLOGY} (too far)."
    )


def test_an_error_and_what_was_passed_over_refuse_nothing() -> None:
    failed = ExtenderCall(TOPOLOGY, "filter", 2, 0, "connection refused", True)
    headline, _ = answer({"a": said("no license")}, failed, call(LICENSES, 1, a="no license"))
    assert headline == f"The extender at {LICENSES} refuses 1 node: no license."
