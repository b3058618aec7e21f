"""Asking extenders in the middle of a command: over the pipe, for a bounded time; nothing else of the pipe is lost."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import BinaryIO

import pytest

from framework.extenders import Answer, Request
from framework.scheduler import Scheduler
from schedweb.engine import beside, frames
from schedweb.engine.asked import AnswersBeside, AsksBeside
from schedweb.engine.beside import AskingPipe, NotAsked
from tests.schedweb.engine.worlds import DEFAULT, player

EXTENDER = "extenders: [{urlPrefix: 'http://127.0.0.1:1', filterVerb: filter, httpTimeout: 3600s}]\n"


class Worker:
    """The other end of the pipe, in a thread."""

    def __init__(self) -> None:
        inward, self._to_engine = os.pipe()
        self._from_engine, outward = os.pipe()
        self.to_engine: BinaryIO = os.fdopen(self._to_engine, "wb")
        self.from_engine = frames.Exactly(os.fdopen(self._from_engine, "rb", buffering=0))
        self.pipe = AskingPipe(os.fdopen(inward, "rb", buffering=0), os.fdopen(outward, "wb"))
        self.asked: list[AsksBeside] = []

    def does(self, *acts: Callable[[AsksBeside], list[frames.ToChild]]) -> None:
        def serve() -> None:
            for act in acts:
                asks = frames.read_from_child(self.from_engine)
                assert isinstance(asks, AsksBeside)
                self.asked.append(asks)
                for message in act(asks):
                    frames.write(self.to_engine, message)

        threading.Thread(target=serve, daemon=True).start()


@pytest.fixture
def worker() -> Worker:
    return Worker()


@pytest.fixture
def scheduler() -> Scheduler:
    return player([], configuration=DEFAULT + EXTENDER).scheduler


def request(body: bytes = b"{}") -> Request:
    return Request(0, "http://127.0.0.1:1", "filter", "http://127.0.0.1:1/filter", "shop/web", body, 3600 * 10**9)


def said(asks: AsksBeside, text: bytes) -> AnswersBeside:
    return AnswersBeside(asks.number, [Answer(200, text)], [7])


def test_what_came_meanwhile_is_read_afterwards_and_an_answer_too_late_is_no_answer_to_the_next(
    worker: Worker, scheduler: Scheduler
) -> None:
    worker.does(
        lambda asks: [frames.Ack(5), frames.Deciding(True), said(asks, b"first")],
        lambda asks: [AnswersBeside(asks.number - 1, [Answer(200, b"late")], [1]), said(asks, b"second")],
    )
    worker.pipe.begin(1)
    assert [each.body for each in worker.pipe.ask(scheduler, [request()])] == [b"first"]
    assert [each.body for each in worker.pipe.ask(scheduler, [request()])] == [b"second"]
    assert [(each.microseconds, each.answer.body) for each in worker.pipe.said] == [(7, b"first"), (7, b"second")]
    assert len({each.together for each in worker.pipe.said}) == 2
    frames.write(worker.to_engine, frames.Go())
    assert [frames.read_to_child(worker.pipe) for _ in range(3)] == [
        frames.Ack(5),
        frames.Deciding(True),
        frames.Go(),
    ]


def test_those_of_one_command_share_a_time_and_the_next_has_its_own(
    worker: Worker, scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beside, "SECONDS", 0.2)
    monkeypatch.setattr(beside, "GRACE", 0.2)
    worker.does(lambda asks: [], lambda asks: [said(asks, b"in time")])
    worker.pipe.begin(1)
    with pytest.raises(NotAsked, match="did not say"):
        worker.pipe.ask(scheduler, [request()])
    assert worker.asked[0].requests[0].request.timeout <= 0.2 * 1e9, "no more than is left"
    worker.pipe.begin(1)
    with pytest.raises(NotAsked, match="Extenders had taken"):
        worker.pipe.ask(scheduler, [request()])
    worker.pipe.begin(2)
    assert [each.body for each in worker.pipe.ask(scheduler, [request()])] == [b"in time"]
    assert len(worker.asked) == 2, "nobody was asked when the time was over"


def test_an_engine_that_is_to_end_asks_no_more(worker: Worker, scheduler: Scheduler) -> None:
    worker.does(lambda asks: [frames.End()])
    worker.pipe.begin(1)
    for _ in range(2):
        with pytest.raises(NotAsked, match="engine ended"):
            worker.pipe.ask(scheduler, [request()])
    assert len(worker.asked) == 1
    assert frames.read_to_child(worker.pipe) == frames.End()


def test_a_pipe_that_is_closed_ends_the_wait(worker: Worker, scheduler: Scheduler) -> None:
    worker.does(lambda asks: [])
    threading.Timer(0.1, worker.to_engine.close).start()
    worker.pipe.begin(1)
    with pytest.raises(frames.Gone):
        worker.pipe.ask(scheduler, [request()])
