"""Columns of cards: what is one card, what comes first, what is only counted; and the feed's lines."""

from __future__ import annotations

from msgspec import UNSET

from framework.sentences import ENGLISH, Sentence, in_parts, in_words, sentence
from schedweb.engine.board import CARDS, Board
from schedweb.engine.feed import MOST, Feed, node
from schedweb.engine.pod_view import PodView, Wait
from schedweb.engine.shapes import Card, Column, FeedLine, QueueName

SECOND = 1_000_000_000


def view(name: str, *, workload: str = "web", priority: int = 0, since: int = 0) -> PodView:
    made = PodView(f"uid-{name}", "shop", name, workload, name, priority, "", {"cpu": 500}, "")
    made.since = since
    return made


def board_of(column: QueueName, *views: PodView) -> Board:
    board = Board()
    for index, each in enumerate(views):
        each.entered = index
        board.enter(each, column)
    return board


def column(board: Board, name: QueueName) -> Column:
    return board.column(name, gang_of=lambda _: None)


def cards(board: Board, name: QueueName) -> list[Card]:
    return column(board, name).cards


def test_pods_of_one_owner_with_one_verdict_are_one_card() -> None:
    views = [view(f"w{index}") for index in range(3)]
    for each in views:
        each.rejectors = (("NodeResourcesFit", 4),)
    other = view("other")
    other.rejectors = (("TaintToleration", 4),)
    board = board_of("unschedulable", *views, other)
    assert [(card.kind, card.count) for card in cards(board, "unschedulable")] == [("group", 3), ("pod", 1)]
    assert cards(board, "unschedulable")[0].pods == ["w0", "w1", "w2"]
    views[1].rejectors = other.rejectors
    board.regroup(views[1])
    assert sorted(card.count for card in cards(board, "unschedulable")) == [2, 2]


def test_active_is_by_priority_and_then_by_age() -> None:
    views = [view("old", since=1), view("urgent", priority=9, since=3, workload="api"), view("new", since=2)]
    board = board_of("active", *views)
    assert [card.name for card in cards(board, "active")] == ["urgent", "old"]
    assert [card.position for card in cards(board, "active")] == [1, 2]


def test_bound_shows_the_newest_and_counts_the_rest() -> None:
    board = board_of("bound", *(view(f"w{index}") for index in range(CARDS + 7)))
    body = column(board, "bound")
    assert (body.count, body.more) == (CARDS + 7, 7)
    assert cards(board, "bound")[0].name == f"w{CARDS + 6}"


def test_backoff_shows_who_is_free_first_and_how_long_the_others_take() -> None:
    views = [view(f"w{index}") for index in range(CARDS + 3)]
    for index, each in enumerate(views):
        each.until = (100 - index) * SECOND
    body = column(board_of("backoff", *views), "backoff")
    assert (body.more, body.latest) == (3, "1970-01-01T00:01:40.000Z")


def test_a_group_that_waits_counts_down_to_the_first_deadline() -> None:
    views = [view("a"), view("b")]
    for each, deadline in zip(views, (9, 5), strict=True):
        each.waits = [Wait("ManualApproval", deadline * SECOND, 60 * SECOND, asks_person=True)]
    [card] = cards(board_of("waiting", *views), "waiting")
    assert card.waiting is not UNSET
    assert (card.kind, card.waiting[0].deadline) == ("group", "1970-01-01T00:00:05.000Z")


def test_a_pod_is_in_one_column_only() -> None:
    each = view("w")
    board = board_of("active", each)
    board.enter(each, "bound")
    assert board.counts() == {
        "gated": 0, "active": 0, "backoff": 0, "unschedulable": 0, "in_flight": 0, "waiting": 0, "bound": 1,
    }  # fmt: skip
    board.enter(each, "deleted")
    assert sum(board.counts().values()) == 0
    assert all(not groups for groups in board.groups.values())


def words(line: FeedLine) -> str:
    return in_words(line.item.parts, ENGLISH)


def bound_to(name: str, why: str) -> tuple[Sentence, Sentence]:
    return sentence("{pod} bound to {node}{why}", node=node(name), why=why), sentence("{pod} bound{why}", why=why)


def test_equal_happenings_are_told_together_and_single_ones_by_name() -> None:
    feed = Feed()
    for name in ("a", "b", "c"):
        feed.pod_line(5, "queue", view(name), sentence("{pod} left Unschedulable."))
    feed.pod_line(6, "bound", view("z", workload="api"), bound_to("n1", ".")[0], nodes=("n1",))
    together, single = feed.take(9)
    assert (words(together), together.item.count) == ("3 × web left Unschedulable.", 3)
    assert words(single) == "shop/z bound to n1."
    assert single.subjects == ["shop/z", "n1"]
    assert feed.take(10) == []


def test_several_pods_bound_at_once_name_no_node() -> None:
    feed = Feed()
    for name, where in (("a", "n1"), ("b", "n2")):
        alone, together = bound_to(where, ", score 7.")
        feed.pod_line(5, "bound", view(name), alone, together=together, nodes=(where,))
    [item] = feed.take(9)
    assert words(item) == "2 × web bound, score 7."
    assert in_parts(item.item.parts, ENGLISH)[:2] == [{"t": "num", "v": "2 × "}, {"t": "workload", "v": "web"}]
    assert item.subjects == ["shop/a", "shop/b", "n1", "n2"]


def test_what_nobody_could_read_is_counted_but_people_are_always_heard() -> None:
    feed = Feed()
    for index in range(MOST + 5):
        feed.pod_line(1, "bound", view("p", workload=f"w{index}"), sentence("{pod} bound."))
    feed.line(2, "command", sentence("mira cordoned node a."))
    items = feed.take(3)
    assert words(items[-1]) == "5 more happenings in this moment"
    assert words(items[-2]) == "mira cordoned node a."
