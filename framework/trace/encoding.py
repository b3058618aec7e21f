"""Attempts as bytes: a chunk of them, columnar and compressed, of which any one can be read back.

Within a chunk an attempt is written as what differs from an earlier one: the last attempt of a pod whose name begins
alike (replicas), else the attempt before. What follows from the rest (normalised scores from raw ones, totals, the
order of the feasible nodes, the tied ones) is left out when it follows, and written when it does not. An attempt that
repeats an earlier one of its pod is no more than a reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import numpy as np
import zstandard
from numpy.typing import NDArray

from framework.interface.status import Status
from framework.trace.arrays import Ints, Packed, pack, pack_against, unpack, unpack_onto
from framework.trace.attempt import FEASIBLE, NOT_EVALUATED, AttemptTrace, FilterTrace, PluginScores, ScoreTrace
from framework.trace.content import OWN, PLAIN, Plain, content_digest, own_numbers, plain_of

FORMAT: Final = 1
LEVEL: Final = 3
MAX_STEMS: Final = 64
"""Groups of pods whose last attempt is kept as a reference."""
MAX_LINE: Final = 64
"""Attempts that may have to be followed to read one; then one is written whole."""
TABLE_SPAN: Final = 1 << 12
"""A normalisation is written as a table from raw score to score when raw scores span less than this."""


class Frame(msgspec.Struct, array_like=True, omit_defaults=True):
    plain: msgspec.Raw
    reference: int
    """Index in the chunk of the attempt this one is written against; -1 for none."""
    nodes: int = -1
    """Which node list; -1 when the attempt has no filter part."""
    statuses: list[int] = []
    """The attempt's verdicts, by their places in the chunk's statuses."""
    verdict: list[Any] = []
    positions: Packed | None = None
    """None without scores; [] when they are the feasible nodes, beginning at ``first`` and going round."""
    first: int = 0
    plugins: list[tuple[str, int, list[Any], list[Any]]] = []
    """name, weight, raw scores (by position in the node list), how to normalise them"""
    total: Packed | None = None
    candidates: Packed | None = None
    like: int = -1
    """Index of an attempt of which this one differs only in ``OWN``, which is then all that ``plain`` holds."""


class Chunk(msgspec.Struct, array_like=True):
    format: int
    node_lists: list[tuple[str, ...]]
    statuses: list[Status]
    frames: list[Frame]


class UnreadableChunk(ValueError):
    """The bytes are no chunk of attempts, or one of a format this version does not know."""


class _Dense:
    """An attempt's arrays spread over the node list, so that attempts with other feasible nodes can be compared."""

    __slots__ = ("line", "nodes", "raw", "verdict")

    def __init__(self, nodes: int, verdict: Ints, line: int = 0) -> None:
        self.nodes = nodes
        self.verdict = verdict
        self.line = line
        """How many attempts have to be followed to read this one."""
        self.raw: dict[str, Ints] = {}


class _Writer:
    def __init__(self) -> None:
        self._node_lists: list[tuple[str, ...]] = []
        self._list_ids: dict[int, int] = {}
        self._statuses: list[Status] = []
        self._status_ids: dict[Status, int] = {}
        self._frames: list[Frame] = []
        self._dense: dict[int, _Dense] = {}
        self._stems: dict[str, int] = {}
        self._failures: dict[tuple[bytes, int], int] = {}
        """Content and node list → the first attempt that failed like this."""
        self._last = -1
        self._encoder = msgspec.msgpack.Encoder()

    def chunk(self, traces: Sequence[AttemptTrace]) -> Chunk:
        for index, trace in enumerate(traces):
            self._frames.append(self._frame(index, trace))
        return Chunk(FORMAT, self._node_lists, self._statuses, self._frames)

    def _nodes(self, names: tuple[str, ...]) -> int:
        known = self._list_ids.get(id(names))
        if known is None:
            known = self._node_lists.index(names) if names in self._node_lists else len(self._node_lists)
            if known == len(self._node_lists):
                self._node_lists.append(names)
            self._list_ids[id(names)] = known
        return known

    def _status(self, status: Status) -> int:
        known = self._status_ids.get(status)
        if known is None:
            known = self._status_ids[status] = len(self._statuses)
            self._statuses.append(status)
        return known

    def _reference(self, pod: str, nodes: int) -> int:
        for candidate in (self._stems.get(_stem(pod), -1), self._last):
            if candidate >= 0:
                earlier = self._dense[candidate]
                if earlier.nodes == nodes and earlier.line < MAX_LINE:
                    return candidate
        return -1

    def _like(self, index: int, trace: AttemptTrace) -> int:
        """An earlier attempt that this one repeats; only failures are ever repeated."""
        if trace.result != "failed":
            return -1
        nodes = -1 if trace.filter is None else self._nodes(trace.filter.nodes)
        first = self._failures.setdefault((content_digest(trace), nodes), index)
        return first if first < index else -1

    def _frame(self, index: int, trace: AttemptTrace) -> Frame:
        like = self._like(index, trace)
        if like >= 0:
            own = dict(zip(OWN, own_numbers(trace), strict=True))
            return Frame(msgspec.Raw(self._encoder.encode(own)), -1, like=like)
        plain = msgspec.Raw(self._encoder.encode(plain_of(trace)))
        if trace.filter is None:
            return Frame(plain, -1)
        nodes = self._nodes(trace.filter.nodes)
        reference = self._reference(trace.pod, nodes)
        earlier = self._dense[reference] if reference >= 0 else None
        statuses = [self._status(status) for status in trace.filter.verdicts]
        verdict = np.array([*statuses, -1], dtype=np.int64)[trace.filter.verdict]  # the last one is "not evaluated"
        dense = _Dense(nodes, verdict, earlier.line + 1 if earlier else 0)
        before = earlier.verdict if earlier else None
        frame = Frame(plain, reference, nodes, statuses, pack_against(before, verdict))
        if trace.scores is not None:
            self._scores(frame, trace.scores, trace.filter, dense, earlier)
        self._remember(index, _stem(trace.pod), dense)
        return frame

    def _scores(
        self, frame: Frame, scores: ScoreTrace, filter_: FilterTrace, dense: _Dense, earlier: _Dense | None
    ) -> None:
        positions = scores.positions
        first = int(positions[0]) if len(positions) else 0
        if np.array_equal(_in_turn(filter_.verdict, first), positions):
            frame.positions, frame.first = [], first
        else:
            frame.positions = pack(positions)
        for plugin in scores.plugins:
            before = earlier.raw.get(plugin.plugin) if earlier else None
            values = np.zeros(len(filter_.nodes), dtype=np.int64) if before is None else before.copy()
            values[positions] = plugin.raw
            dense.raw[plugin.plugin] = values
            frame.plugins.append(
                (
                    plugin.plugin,
                    plugin.weight,
                    pack_against(before, values),
                    _normalizing(plugin.raw, plugin.normalized),
                )
            )
        total = _total(scores.plugins, len(positions))
        if not np.array_equal(total, scores.total):
            frame.total = pack(scores.total)
        if not np.array_equal(_best(positions, scores.total), scores.candidates):
            frame.candidates = pack(scores.candidates)

    def _remember(self, index: int, stem: str, dense: _Dense) -> None:
        self._dense[index] = dense
        self._stems.pop(stem, None)
        if len(self._stems) >= MAX_STEMS:
            del self._stems[next(iter(self._stems))]
        self._stems[stem] = self._last = index
        kept = {self._last, *self._stems.values()}
        if len(self._dense) > 2 * MAX_STEMS:
            self._dense = {i: d for i, d in self._dense.items() if i in kept}


def _stem(pod: str) -> str:
    """What replicas' names have in common: all but the part after the last dash."""
    return pod.rpartition("-")[0]


def _in_turn(verdict: NDArray[Any], first: int) -> NDArray[np.intp]:
    """The feasible positions from ``first`` on, then those before it."""
    feasible = np.flatnonzero(verdict == FEASIBLE)
    cut = int(np.searchsorted(feasible, first))
    return np.concatenate((feasible[cut:], feasible[:cut]))


def _total(plugins: Sequence[PluginScores], count: int) -> Ints:
    total = np.zeros(count, dtype=np.int64)
    for plugin in plugins:
        total += plugin.normalized * plugin.weight
    return total


def _best(positions: NDArray[np.intp], total: Ints) -> NDArray[np.intp]:
    return positions[total == total.max()] if len(total) else positions


def _normalizing(raw: Ints, normalized: Ints) -> list[Any]:
    """[] for "as they are", [lowest, table] where equal raw scores became equal scores, else [the scores]."""
    if np.array_equal(raw, normalized):
        return []
    low, high = int(raw.min()), int(raw.max())
    if high - low < TABLE_SPAN:
        table = np.zeros(high - low + 1, dtype=np.int64)
        table[raw - low] = normalized
        if np.array_equal(table[raw - low], normalized):
            return [low, pack(table)]
    return [pack(normalized)]


def _normalized(raw: Ints, how: list[Any]) -> Ints:
    if not how:
        return raw.copy()
    if len(how) == 1:
        return unpack(how[0])
    result: Ints = unpack(how[1])[raw - how[0]]
    return result


def encode_attempts(traces: Sequence[AttemptTrace]) -> bytes:
    """One chunk. The same attempts give the same bytes."""
    document = msgspec.msgpack.encode(_Writer().chunk(traces))
    return zstandard.ZstdCompressor(level=LEVEL).compress(document)


class AttemptChunk:
    """A chunk opened for reading."""

    def __init__(self, blob: bytes) -> None:
        try:
            document = zstandard.ZstdDecompressor().decompress(blob)
            self._chunk = msgspec.msgpack.decode(document, type=Chunk)
        except (zstandard.ZstdError, msgspec.MsgspecError) as error:
            raise UnreadableChunk(f"not a chunk of attempts: {error}") from error
        if self._chunk.format != FORMAT:
            raise UnreadableChunk(f"a chunk of format {self._chunk.format}; this version reads {FORMAT}")
        self._plain = msgspec.msgpack.Decoder(Plain)

    def __len__(self) -> int:
        return len(self._chunk.frames)

    def __getitem__(self, index: int) -> AttemptTrace:
        frames = self._chunk.frames
        if not 0 <= index < len(frames):
            raise IndexError(index)
        frame = frames[index]
        if frame.like >= 0:
            trace, own = self[frame.like], self._plain.decode(frame.plain)
            for name in OWN:
                setattr(trace, name, getattr(own, name))
            return trace
        plain = self._plain.decode(frame.plain)
        trace = AttemptTrace(**{name: value for name in PLAIN if (value := getattr(plain, name)) is not None})
        if frame.nodes < 0:
            return trace
        dense = self._dense(index)
        nodes = self._chunk.node_lists[frame.nodes]
        trace.filter = self._filter(nodes, frame.statuses, dense.verdict)
        if frame.positions is not None:
            trace.scores = self._scores(frame, frame.positions, trace.filter, dense)
        return trace

    def _dense(self, index: int) -> _Dense:
        """Follows the references to the first attempt of the line and comes back with everything applied."""
        line = [index]
        while (reference := self._chunk.frames[line[-1]].reference) >= 0:
            line.append(reference)
        dense = _Dense(self._chunk.frames[index].nodes, unpack(["b", b""]))
        for i in reversed(line):
            frame = self._chunk.frames[i]
            dense.verdict = unpack_onto(dense.verdict, frame.verdict)
            dense.raw = {name: unpack_onto(dense.raw.get(name), raw) for name, _, raw, _ in frame.plugins}
        return dense

    def _filter(self, nodes: tuple[str, ...], statuses: list[int], verdict: Ints) -> FilterTrace:
        own = np.full(len(self._chunk.statuses) + 1, NOT_EVALUATED, dtype=np.int32)  # the last one is for -1
        own[statuses] = np.arange(len(statuses), dtype=np.int32)
        return FilterTrace(nodes, own[verdict], [self._chunk.statuses[each] for each in statuses])

    def _scores(self, frame: Frame, packed: Packed, filter_: FilterTrace, dense: _Dense) -> ScoreTrace:
        positions = unpack(packed).astype(np.intp) if packed else _in_turn(filter_.verdict, frame.first)
        plugins = []
        for name, weight, _, how in frame.plugins:
            raw = dense.raw[name][positions]
            plugins.append(PluginScores(name, weight, raw, _normalized(raw, how)))
        total = _total(plugins, len(positions)) if frame.total is None else unpack(frame.total)
        best = _best(positions, total) if frame.candidates is None else unpack(frame.candidates).astype(np.intp)
        return ScoreTrace(positions, plugins, total, best)


def decode_attempt(blob: bytes, index: int) -> AttemptTrace:
    """Raises UnreadableChunk and IndexError."""
    return AttemptChunk(blob)[index]


def decode_attempts(blob: bytes) -> list[AttemptTrace]:
    chunk = AttemptChunk(blob)
    return [chunk[i] for i in range(len(chunk))]
