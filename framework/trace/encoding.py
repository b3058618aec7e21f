"""Attempts as bytes: a chunk of them, columnar and compressed, of which any one can be read back.

A chunk holds columns (``framework.trace.chunk_columns``), and an attempt says which of them it read, and when. What
follows from the rest (normalised scores from raw ones, totals, the order of the feasible nodes, the tied ones) is left
out when it follows, and written when it does not. An attempt that repeats an earlier one of its pod is no more than a
reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Generic, TypeVar

import msgspec
import numpy as np
import zstandard
from numpy.typing import NDArray

from framework.interface.status import Status
from framework.trace.arrays import Ints, Packed, pack, pack_list, unpack
from framework.trace.attempt import (
    FEASIBLE,
    NOT_EVALUATED,
    AttemptTrace,
    FilterTrace,
    PluginScores,
    Recorded,
    ScoreTrace,
    in_turn,
)
from framework.trace.chunk_columns import ColumnState, ColumnWriter, OpenColumn, StoredColumn
from framework.trace.digest import OWN, SHARED, Content, content_of, encoded_content, own_numbers
from framework.trace.older_chunks import OLDER

FORMAT: Final = 3
LEVEL: Final = 3
MAX_STEMS: Final = 64
"""Groups of pods whose last attempt is kept to be gone on from."""
TABLE_SPAN: Final = 1 << 12
"""A normalisation is written as a table from raw score to score when raw scores span less than this."""
BY_POSITION: Final = -1
GOES_ON: Final = ("waiting", "")
"""Results of attempts on Permit, in PreBind, or that an extender has yet to bind: nothing of them is final."""
R = TypeVar("R")
_NOTHING: Final = msgspec.Raw(msgspec.msgpack.encode(None))


class Frame(msgspec.Struct, array_like=True, omit_defaults=True):
    own: tuple[int, int, int, int]
    """``OWN``."""
    content: msgspec.Raw
    """Empty when the attempt is ``like`` another."""
    nodes: int = -1
    """Which node list; -1 when the attempt has no filter part."""
    order: int = BY_POSITION
    """By which order of rows the columns are read; BY_POSITION when they are in the node list's own."""
    statuses: list[int] = []
    """The attempt's verdicts, by their places in the chunk's statuses."""
    numbers: list[int] | None = None
    """Value in the column → index of the attempt's verdicts; None when the column holds places in the chunk's statuses,
    or -1 for a node that was not evaluated."""
    verdict: ColumnState = (-1, 0)
    positions: Packed | None = None
    """None without scores; [] when they are the feasible nodes, beginning at ``first`` and going round."""
    first: int = 0
    plugins: list[tuple[str, int, ColumnState, list[Any], list[Packed]]] = []
    """name, weight, raw scores, how they are normalised (see ``_normalizing``). With tables, raw scores per state and
    normalised ones if they are others, the column holds states."""
    total: Packed | None = None
    candidates: Packed | None = None
    like: int = -1
    """Index of an attempt of which this one differs only in ``OWN``."""


class Chunk(msgspec.Struct, array_like=True):
    format: int
    node_lists: list[tuple[str, ...]]
    orders: list[Packed]
    """Row of each position in a node list."""
    statuses: list[Status]
    keys: list[Packed]
    """What columns begin with."""
    columns: list[StoredColumn]
    frames: list[Frame]


class UnreadableChunk(ValueError):
    """The bytes are no chunk of attempts, or one of a format this version does not know."""


def _not_a_chunk(error: Exception) -> UnreadableChunk:
    return UnreadableChunk(f"not a chunk of attempts: {error}")


class AttemptWriter:
    """Writes a chunk attempt by attempt, so that whoever needs it need not wait until all of them are encoded."""

    def __init__(self) -> None:
        self._frames: list[Frame | AttemptTrace] = []
        """An attempt that goes on is encoded last, as it is then."""
        self._node_lists: list[tuple[str, ...]] = []
        self._list_ids: dict[int, int] = {}
        self._orders: list[NDArray[np.intp]] = []
        self._order_ids: dict[int, int] = {}
        self._statuses: list[Status] = []
        self._status_ids: dict[Status, int] = {}
        self._all_fit: list[int] | None = None
        """The statuses of attempts in which no node that was looked at had one of its own."""
        self._columns = ColumnWriter()
        self._numbers: dict[int, tuple[NDArray[np.int32], list[int]]] = {}
        self._places: dict[tuple[str, int], dict[str, ColumnState]] = {}
        """(what a group's names begin with, node list) → where the last attempt's arrays are."""
        self._contents: dict[int, int] = {}
        """Id of a content → the first attempt that has it."""
        self._failures: dict[tuple[Any, ...], int] = {}

    def __len__(self) -> int:
        return len(self._frames)

    def add(self, trace: AttemptTrace) -> None:
        """The next attempt of the chunk."""
        self._frames.append(trace if trace.result in GOES_ON else self._frame(len(self._frames), trace))

    def written(self) -> bytes:
        """The chunk of what was added; nothing is added to it any more."""
        frames = [
            self._frame(index, each) if isinstance(each, AttemptTrace) else each
            for index, each in enumerate(self._frames)
        ]
        orders = [pack(order) for order in self._orders]
        chunk = Chunk(FORMAT, self._node_lists, orders, self._statuses, *self._columns.packed(), frames)
        return zstandard.ZstdCompressor(level=LEVEL).compress(msgspec.msgpack.encode(chunk))

    def _nodes(self, names: tuple[str, ...]) -> int:
        known = self._list_ids.get(id(names))
        if known is None:
            known = self._node_lists.index(names) if names in self._node_lists else len(self._node_lists)
            if known == len(self._node_lists):
                self._node_lists.append(names)
            self._list_ids[id(names)] = known
        return known

    def _order(self, order: NDArray[np.intp]) -> int:
        known = self._order_ids.get(id(order))
        if known is None:
            known = self._order_ids[id(order)] = len(self._orders)
            self._orders.append(order)
        return known

    def _status(self, status: Status) -> int:
        known = self._status_ids.get(status)
        if known is None:
            known = self._status_ids[status] = len(self._statuses)
            self._statuses.append(status)
        return known

    def _numbers_of(self, recorded: Recorded) -> list[int]:
        known = self._numbers.get(id(recorded.numbers))
        if known is None:
            known = self._numbers[id(recorded.numbers)] = (recorded.numbers, recorded.numbers.tolist())
        return known[1]

    def _frame(self, index: int, trace: AttemptTrace) -> Frame:
        frame = Frame(own_numbers(trace), _NOTHING)
        if trace.result in GOES_ON:
            frame.content = msgspec.Raw(encoded_content(trace))
        else:
            content = content_of(trace)
            first = self._contents.setdefault(id(content), index)
            if first < index:
                frame.like = first
                return frame
            frame.content = msgspec.Raw(content.encoded)
        if trace.filter is not None:
            self._verdict(frame, trace, trace.filter)
            if trace.scores is not None:
                self._scores(frame, trace.scores, trace.filter, trace.pod)
        if trace.result == "failed":
            # Columns are shared, so equal places are equal arrays.
            read = (frame.nodes, frame.order, frame.verdict, tuple(frame.statuses), tuple(frame.numbers or ()))
            first = self._failures.setdefault((bytes(frame.content), read), index)
            if first < index:
                return Frame(frame.own, _NOTHING, like=first)
        return frame

    # --- arrays -----------------------------------------------------------------------------------------------------

    def _verdict(self, frame: Frame, trace: AttemptTrace, filter_: FilterTrace) -> None:
        frame.nodes = self._nodes(filter_.nodes)
        if len(filter_.verdicts) > 1:
            frame.statuses = [self._status(status) for status in filter_.verdicts]
        else:
            if self._all_fit is None:
                self._all_fit = [self._status(filter_.verdicts[0])]
            frame.statuses = self._all_fit
        recorded = filter_.recorded
        if recorded is not None:
            frame.order = self._order(recorded.order)
            frame.numbers = self._numbers_of(recorded)
            frame.verdict = self._columns.mark(recorded.verdicts)
            return
        places = self._places_of(trace.pod, frame.nodes)
        before = places.get("verdict")
        if filter_.few is not None:
            few = {position: frame.statuses[verdict] for position, verdict in filter_.few.items()}
            frame.verdict = places["verdict"] = self._columns.sparse(few, len(filter_.nodes), before)
            return
        verdict = np.array([*frame.statuses, -1], dtype=np.int64)[filter_.verdict]  # the last one is "not evaluated"
        frame.verdict = places["verdict"] = self._columns.array(verdict, before)

    def _scores(self, frame: Frame, scores: ScoreTrace, filter_: FilterTrace, pod: str) -> None:
        recorded = scores.recorded
        if recorded is not None:
            frame.positions, frame.first = [], recorded.first
            mark = self._columns.mark
            frame.plugins = [
                (
                    plugin,
                    weight,
                    mark(raw),
                    [] if normalized is None else list(mark(normalized)),
                    [] if tables is None else [pack_list(table.tolist()) for table in tables if table is not None],
                )
                for plugin, weight, raw, normalized, tables in scores.recorded_plugins
            ]
            return
        positions, plugins = scores.positions, scores.plugins
        first = int(positions[0]) if len(positions) else 0
        feasible = np.flatnonzero(filter_.verdict == FEASIBLE)
        if np.array_equal(in_turn(feasible, first), positions):
            frame.positions, frame.first = [], first
        else:
            frame.positions = pack(positions)
        places = self._places_of(pod, frame.nodes)
        for each in plugins:
            name = f"raw {each.plugin}"
            before = places.get(name)
            known = None if before is None else self._columns.state(before)
            values = np.zeros(len(filter_.nodes), dtype=np.int64) if known is None else known.copy()
            values[positions] = each.raw
            place = places[name] = self._columns.array(values, before)
            frame.plugins.append((each.plugin, each.weight, place, _normalizing(each.raw, each.normalized), []))
        total = _total(plugins, len(positions))
        if not np.array_equal(total, scores.total):
            frame.total = pack(scores.total)
        if not np.array_equal(_best(positions, scores.total), scores.candidates):
            frame.candidates = pack(scores.candidates)

    def _places_of(self, pod: str, nodes: int) -> dict[str, ColumnState]:
        """Of the last attempt of a pod whose name begins alike: replicas have like answers."""
        group = (pod.rpartition("-")[0], nodes)
        places = self._places.pop(group, None)
        if places is None:
            if len(self._places) >= MAX_STEMS:
                del self._places[next(iter(self._places))]
            places = {}
        self._places[group] = places
        return places


def _total(plugins: Sequence[PluginScores], count: int) -> Ints:
    total = np.zeros(count, dtype=np.int64)
    for plugin in plugins:
        total += plugin.normalized * plugin.weight
    return total


def _best(positions: NDArray[np.intp], total: Ints) -> NDArray[np.intp]:
    return positions[total == total.max()] if len(total) else positions


def _normalizing(raw: Ints, normalized: Ints) -> list[Any]:
    """[] for "as they are", [lowest, table] where equal raw scores became equal scores, else [the scores].

    A column of normalised scores is [number, steps].
    """
    if np.array_equal(raw, normalized):
        return []
    low, high = int(raw.min()), int(raw.max())
    if high - low < TABLE_SPAN:
        table = np.zeros(high - low + 1, dtype=np.int64)
        table[raw - low] = normalized
        if np.array_equal(table[raw - low], normalized):
            return [low, pack(table)]
    return [pack(normalized)]


def encode_attempts(traces: Sequence[AttemptTrace]) -> bytes:
    """One chunk. Attempts of the same run give the same bytes, as long as it keeps its columns."""
    writer = AttemptWriter()
    for trace in traces:
        writer.add(trace)
    return writer.written()


class _Rows(Generic[R]):
    """A list of the chunk whose members are decoded when they are asked for: one attempt reads few of them."""

    __slots__ = ("_decoder", "_raw", "decoded")

    def __init__(self, raw: msgspec.Raw, kind: type[R]) -> None:
        self._raw = msgspec.msgpack.decode(raw, type=list[msgspec.Raw])
        self._decoder = msgspec.msgpack.Decoder(kind)
        self.decoded: dict[int, R] = {}

    def __len__(self) -> int:
        return len(self._raw)

    def __getitem__(self, index: int) -> R:
        """Raises UnreadableChunk."""
        known = self.decoded.get(index)
        if known is None:
            try:
                known = self.decoded[index] = self._decoder.decode(self._raw[index])
            except msgspec.MsgspecError as error:
                raise _not_a_chunk(error) from error
        return known


class AttemptChunk:
    """A chunk opened for reading."""

    def __init__(self, blob: bytes) -> None:
        try:
            document = zstandard.ZstdDecompressor().decompress(blob)
            version, *parts = msgspec.msgpack.decode(document, type=list[msgspec.Raw]) or [_NOTHING]
            found = msgspec.msgpack.decode(version)
            if (older := OLDER.get(found)) is not None:
                parts = older(parts)
            elif found != FORMAT:
                raise UnreadableChunk(f"a chunk of format {found}; this version reads 1 to {FORMAT}")
            node_lists, orders, statuses, keys, columns, frames = parts
            self._node_lists = _Rows(node_lists, tuple[str, ...])
            self._packed_orders: _Rows[Packed] = _Rows(orders, list)
            self._statuses = _Rows(statuses, Status)
            self._keys: _Rows[Packed] = _Rows(keys, list)
            self.columns = _Rows(columns, StoredColumn)
            self.frames = _Rows(frames, Frame)
        except (zstandard.ZstdError, msgspec.MsgspecError, ValueError, IndexError) as error:
            # ValueError: another number of parts.
            raise error if isinstance(error, UnreadableChunk) else _not_a_chunk(error) from error
        self._content = msgspec.msgpack.Decoder(Content)
        self._open: dict[int, OpenColumn] = {}
        self._orders: dict[int, Ints] = {}

    def __len__(self) -> int:
        return len(self.frames)

    def __getitem__(self, index: int) -> AttemptTrace:
        """Raises UnreadableChunk and IndexError."""
        if not 0 <= index < len(self.frames):
            raise IndexError(index)
        frame = self.frames[index]
        if frame.like >= 0:
            trace = self[frame.like]
            for name, value in zip(OWN, frame.own, strict=True):
                setattr(trace, name, value)
            return trace
        content = self._content.decode(frame.content)
        own: dict[str, Any] = dict(zip(OWN, frame.own, strict=True))
        trace = AttemptTrace(**own, **{name: getattr(content, name) for name in SHARED})
        if frame.nodes < 0:
            return trace
        trace.filter = self._filter(frame)
        if frame.positions is not None:
            trace.scores = self._scores(frame, frame.positions, trace.filter)
        return trace

    def _column(self, place: Sequence[int], order: int) -> Ints:
        """In the node list's order; not to be changed, and only until the next column is asked for."""
        number, steps = place
        column = self._open.get(number)
        if column is None:
            stored = self.columns[number]
            column = self._open[number] = OpenColumn(stored, self._keys[stored.key])
        values = column.at(steps)
        if order == BY_POSITION:
            return values
        known = self._orders.get(order)
        if known is None:
            known = self._orders[order] = unpack(self._packed_orders[order])
        return values[known]

    def _filter(self, frame: Frame) -> FilterTrace:
        column = self._column(frame.verdict, frame.order)
        if frame.numbers is not None:
            verdict = np.array(frame.numbers, dtype=np.int32)[column]
        else:
            own = np.full(len(self._statuses) + 1, NOT_EVALUATED, dtype=np.int32)  # the last one is for -1
            own[frame.statuses] = np.arange(len(frame.statuses), dtype=np.int32)
            verdict = own[column]
        nodes = self._node_lists[frame.nodes]
        return FilterTrace(nodes, verdict, [self._statuses[each] for each in frame.statuses])

    def _scores(self, frame: Frame, packed: Packed, filter_: FilterTrace) -> ScoreTrace:
        if packed:
            positions = unpack(packed).astype(np.intp)
        else:
            positions = in_turn(np.flatnonzero(filter_.verdict == FEASIBLE), frame.first)
        plugins = []
        for name, weight, place, how, tables in frame.plugins:
            raw = self._column(place, frame.order)[positions]
            if tables:
                # The last one is the raw one when nothing was normalised.
                normalized = unpack(tables[-1])[raw]
                raw = unpack(tables[0])[raw]
            else:
                normalized = self._normalized(raw, how, frame.order, positions)
            plugins.append(PluginScores(name, weight, raw, normalized))
        total = _total(plugins, len(positions)) if frame.total is None else unpack(frame.total)
        best = _best(positions, total) if frame.candidates is None else unpack(frame.candidates).astype(np.intp)
        return ScoreTrace(positions, plugins, total, best)

    def _normalized(self, raw: Ints, how: list[Any], order: int, positions: NDArray[np.intp]) -> Ints:
        match how:
            case []:
                return raw.copy()
            case [int() as low, list() as table]:
                from_table: Ints = unpack(table)[raw - low]
                return from_table
            case [int() as number, int() as steps]:
                return self._column((number, steps), order)[positions]
            case _:
                return unpack(how[0])


def decode_attempt(blob: bytes, index: int) -> AttemptTrace:
    """Raises UnreadableChunk and IndexError."""
    return AttemptChunk(blob)[index]


def decode_attempts(blob: bytes) -> list[AttemptTrace]:
    chunk = AttemptChunk(blob)
    return [chunk[i] for i in range(len(chunk))]
