"""Attempts that every node was looked at for, recorded as marks in histories, as the columns of a run make them."""

from __future__ import annotations

import random

import numpy as np

from framework.interface import SUCCESS
from framework.trace.attempt import AttemptTrace, FilterTrace, Recorded, RecordedScores, ScoreTrace, margin_of
from framework.trace.history import History
from tests.trace.attempts import FIT, TAINT, Attempts

WEIGHTS = {"NodeResourcesFit": 1, "TaintToleration": 3}
STATES = 90
"""More than are written one by one."""


class Histories:
    """``renew``: how likely a column is worked out anew instead of row by row."""

    def __init__(self, seed: int, nodes: int = 40, renew: float = 0.1) -> None:
        self.rng = random.Random(seed)
        self.attempts = Attempts(seed, nodes)
        self.renew = renew
        order = list(range(nodes))
        self.rng.shuffle(order)
        self.order = np.array(order, dtype=np.intp)
        # A column's number 1 is the attempt's verdict 2 and the other way round.
        self.numbers = np.array([0, 2, 1], dtype=np.int32)
        self.verdicts = History(np.zeros(nodes, dtype=np.int8))
        self.raw = {name: History(self._some(nodes)) for name in WEIGHTS}
        self.normalized = History(self._some(nodes))
        self.states = History(np.zeros(nodes, dtype=np.int16))

    def _some(self, count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.array([self.rng.randrange(100) for _ in range(count)], dtype=np.int64)

    def _change(self, history: History, most: int) -> None:
        rng, count = self.rng, len(history.values)
        draw = rng.random()
        if draw < self.renew:
            history.replace(np.array([rng.randrange(most) for _ in range(count)], dtype=history.values.dtype))
        elif draw < 2 * self.renew:
            rows = np.array(sorted(rng.sample(range(count), 5)), dtype=np.intp)
            history.write(rows, np.array([rng.randrange(most) for _ in rows], dtype=history.values.dtype), len(rows))
        elif draw < 0.7:
            history.write(rng.randrange(count), rng.randrange(most), 1)

    def bound(self) -> AttemptTrace:
        self._change(self.verdicts, 3)
        for history in (*self.raw.values(), self.normalized):
            self._change(history, 100)
        states = STATES if self.rng.random() < self.renew else 3
        self._change(self.states, states)
        tables = (self._some(STATES), self._some(STATES) if self.rng.random() < 0.5 else None)
        if states < STATES and not (self.states.values >= states).any():
            tables = (tables[0][:states], None if tables[1] is None else tables[1][:states])
        trace = self.attempts.plain("bound")
        nodes = self.attempts.nodes
        recorded = Recorded(self.order, self.rng.randrange(len(nodes)), self.verdicts.mark(), self.numbers)
        feasible = self.verdicts.values == 0
        trace.filter = FilterTrace(nodes, None, [SUCCESS, FIT, TAINT])
        trace.filter.record([SUCCESS, FIT, TAINT], int(np.count_nonzero(~feasible)), recorded)
        fit, taint = self.raw["NodeResourcesFit"], self.raw["TaintToleration"]
        spread = tables[0 if tables[1] is None else 1]
        assert spread is not None
        total = (fit.values + 3 * self.normalized.values + 2 * spread[self.states.values])[feasible]
        plugins = [
            RecordedScores("NodeResourcesFit", 1, fit.mark(), None),
            RecordedScores("TaintToleration", 3, taint.mark(), self.normalized.mark()),
            RecordedScores("PodTopologySpread", 2, self.states.mark(), None, tables),
        ]
        best = int(total.max())
        ties = int(np.count_nonzero(total == best))
        trace.scores = ScoreTrace.from_recording(recorded, plugins, len(total), best, ties, margin_of(total, best))
        return trace
