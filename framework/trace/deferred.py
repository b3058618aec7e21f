"""Long lists in a trace that few read: put together when somebody does, and encoded without being put together."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, Generic, TypeVar, overload

import msgspec
import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")

_FIX, _FIX_LIMIT = 0x90, 1 << 4
_SHORT, _SHORT_LIMIT = b"\xdc", 1 << 16
_LONG = b"\xdd"


def array_header(length: int) -> bytes:
    """What a MessagePack array begins with."""
    if length < _FIX_LIMIT:
        return bytes((_FIX | length,))
    return _SHORT + length.to_bytes(2) if length < _SHORT_LIMIT else _LONG + length.to_bytes(4)


class Deferred(Sequence[T], Generic[T]):
    """Reads, compares and pickles as the tuple that it stands for."""

    __slots__ = ("_made",)

    def __init__(self) -> None:
        self._made: tuple[T, ...] | None = None

    @abc.abstractmethod
    def _make(self) -> tuple[T, ...]: ...

    @abc.abstractmethod
    def encoded(self) -> bytes:
        """The tuple as MessagePack."""

    @property
    def made(self) -> tuple[T, ...]:
        if self._made is None:
            self._made = self._make()
        return self._made

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        return self.made[index]

    def __eq__(self, other: object) -> bool:
        return self.made == (other.made if isinstance(other, Deferred) else other)

    def __hash__(self) -> int:
        return hash(self.made)

    def __repr__(self) -> str:
        return repr(self.made)

    def __reduce__(self) -> Any:
        return tuple, (self.made,)


def encode_deferred(value: Any) -> msgspec.Raw:
    """For encoders of traces (``enc_hook``)."""
    if isinstance(value, Deferred):
        return msgspec.Raw(value.encoded())
    # What msgspec expects of a hook that does not know the type.
    raise NotImplementedError(f"{type(value).__name__} in a trace")


class NodeList:
    """The names of all nodes by position, in a form from which pieces can be cut."""

    __slots__ = ("_ends", "_text", "names")

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self._text = b""
        self._ends: NDArray[np.int64] | None = None

    def encoded(self, positions: NDArray[np.intp]) -> bytes:
        """An array of names."""
        if self._ends is None:
            pieces = [msgspec.msgpack.encode(name) for name in self.names]
            self._text = b"".join(pieces)
            self._ends = np.cumsum([0, *map(len, pieces)])
        last = np.flatnonzero(np.diff(positions, append=-1) != 1)
        first = np.concatenate(([0], last[:-1] + 1)) if len(last) else last
        begins, ends = self._ends[positions[first]].tolist(), self._ends[positions[last] + 1].tolist()
        text = self._text
        return b"".join([array_header(len(positions)), *[text[a:b] for a, b in zip(begins, ends, strict=True)]])


class NodeNames(Deferred[str]):
    """The names of the nodes at some positions."""

    __slots__ = ("_list", "_positions")

    def __init__(self, node_list: NodeList, positions: NDArray[np.intp]) -> None:
        super().__init__()
        self._list = node_list
        self._positions = positions

    def _make(self) -> tuple[str, ...]:
        names = self._list.names
        return tuple(names[position] for position in self._positions.tolist())

    def __len__(self) -> int:
        return len(self._positions)

    def encoded(self) -> bytes:
        return self._list.encoded(self._positions)
