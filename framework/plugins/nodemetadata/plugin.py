"""NodeMetadata's score (docs/semantics/catalogue.md#nodemetadata)."""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from framework.interface import Codes, ColumnScorePlugin, CycleState, NormalizeScore, Plan, PodInfo, Status, View
from framework.interface.scores import MAX_NODE_SCORE, quotient
from framework.objects import Pod
from framework.objects.go_numbers import parse_float, to_int64
from framework.objects.go_time import GoTimeError, parse_time
from framework.objects.timestamps import SECOND
from framework.plugins.nodemetadata.args import LABEL, LOWEST, NEWEST, NUMBER, NodeMetadataArgs
from framework.sentences import noted

NO_VALUE: Final = int(np.iinfo(np.int64).min)
"""Stands for a node without a readable value; a number that becomes this is such a node, too."""


LONGEST: Final = (1 << 63) - 1
"""What a ``time.Duration`` holds at most, in nanoseconds: some 292 years."""


def _seconds(nanoseconds: int) -> int:
    """By way of floating point, as ``Duration.Seconds`` is."""
    seconds, rest = divmod(abs(nanoseconds), SECOND)
    whole = int(float(seconds) + float(rest) / 1e9)
    return whole if nanoseconds >= 0 else -whole


class NodeMetadata(ColumnScorePlugin, NormalizeScore):
    name: ClassVar[str] = "NodeMetadata"
    origin = "scheduler-plugins"
    args_type: ClassVar[type[NodeMetadataArgs]] = NodeMetadataArgs
    description: ClassVar[str] = noted("Prefers nodes by a number or a time in one of their labels or annotations.")

    args: NodeMetadataArgs

    def score_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan:
        args = self.args
        values = view.label(args.metadata_key) if args.metadata_source == LABEL else view.annotation(args.metadata_key)
        now = 0 if args.metadata_type == NUMBER else self.handle.now()

        def kernel(codes: Codes) -> NDArray[np.int64]:
            table = [
                self._number(text) if args.metadata_type == NUMBER else self._age(text, now) for text in codes.values
            ]
            return np.array([*table, NO_VALUE], dtype=np.int64)[codes.codes]

        return Plan(kernel, (values,), now)

    def fragment(self, pod: PodInfo) -> Hashable | None:
        return () if self.args.metadata_type == NUMBER else None

    def _number(self, text: str) -> int:
        number = parse_float(text)
        if number is None:
            return NO_VALUE
        value = to_int64(number)
        return -value if self.args.scoring_strategy == LOWEST and value != NO_VALUE else value

    def _age(self, text: str, now: int) -> int:
        """In whole seconds, cut toward zero; a time to come has a negative one."""
        try:
            written = parse_time(self.args.timestamp_format, text)
        except GoTimeError:
            return NO_VALUE
        age = _seconds(max(-LONGEST, min(LONGEST, now - written)))
        return -age if self.args.scoring_strategy == NEWEST else age

    def normalize_score(
        self, state: CycleState, pod: Pod, scores: NDArray[np.int64], rows: NDArray[np.intp]
    ) -> tuple[NDArray[np.int64], Status | None]:
        """1 to 100 for nodes with a value, 0 for the others. It wraps as Go's int64 does where values lie far apart."""
        valid = scores != NO_VALUE
        result = np.zeros(len(scores), dtype=np.int64)
        if not valid.any():
            return result, None
        lowest, highest = scores[valid].min(), scores[valid].max()
        if lowest == highest:
            result[valid] = 1
            return result, None
        with np.errstate(over="ignore"):
            spread = highest - lowest
            result[valid] = quotient((scores[valid] - lowest) * np.int64(MAX_NODE_SCORE - 1), spread) + 1
        return result, None
