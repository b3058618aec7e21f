"""Lists that are put together late are the same lists, in memory and as bytes."""

from __future__ import annotations

import pickle

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.trace.deferred import NodeList, NodeNames, array_header, encode_deferred

NAMES = tuple(f"node-{number:x}" * (1 + number % 5) for number in range(40))


@given(positions=st.lists(st.integers(0, len(NAMES) - 1), max_size=60))
def test_names_are_those_at_the_positions(positions: list[int]) -> None:
    names = NodeNames(NodeList(NAMES), np.array(positions, dtype=np.intp))
    listed = tuple(NAMES[position] for position in positions)
    encoded = names.encoded()
    assert encoded == msgspec.msgpack.encode(listed)
    assert len(names) == len(listed)
    assert names == listed
    assert tuple(reversed(names)) == listed[::-1]
    assert pickle.loads(pickle.dumps(names)) == listed


@pytest.mark.parametrize("length", [0, 15, 16, 65_535, 65_536])
def test_an_array_begins_as_msgpack_says(length: int) -> None:
    assert array_header(length) == msgspec.msgpack.encode([0] * length)[: -length or None]


def test_what_is_not_known_is_not_encoded() -> None:
    encoder = msgspec.msgpack.Encoder(enc_hook=encode_deferred)
    assert encoder.encode({"a": NodeNames(NodeList(NAMES), np.array([3], dtype=np.intp))}) == encoder.encode(
        {"a": [NAMES[3]]}
    )
    with pytest.raises(NotImplementedError, match="object in a trace"):
        encoder.encode([object()])
