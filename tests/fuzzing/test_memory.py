"""What takes a few bytes in a text and hundreds in memory: no parser takes more than ten times its input for it."""

from __future__ import annotations

import gc
import json
import tracemalloc
from typing import Final

import pytest

from framework.reading.density import density_complaint
from tests.fuzzing.parsers import MIB, PARSERS, parse
from tests.schedweb.engine.worlds import node, pod

TIMES: Final = 10
BASE: Final = 24 * MIB
SIZE: Final = 2 * MIB
"""Enough that a parser that takes 24 times of it is above, as each did of empty objects."""
CROWDED: Final = (b"{}", b'{"a":1}')
WITHIN: Final = {
    "tolerations": b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"tolerations":[%s]}}',
    "volumes": b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"volumes":[%s]}}',
    "items": b'{"apiVersion":"v1","kind":"List","items":[%s]}',
    "export": b'{"pods":[%s],"nodes":[],"pvs":[],"pvcs":[],"storageClasses":[],"priorityClasses":[],"namespaces":[]}',
}


def bombs() -> dict[str, bytes]:
    found = {
        f"{name} of {each.decode()}": around % b",".join([each] * (SIZE // (len(each) + 1)))
        for name, around in WITHIN.items()
        for each in CROWDED
    }
    block = b"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  volumes:\n"
    return found | {"a block": block + b"  - {}\n" * (SIZE // 7)}


def peak_of(name: str, data: bytes) -> int:
    """Bytes that Python held at most beyond what it held before."""
    gc.collect()
    tracemalloc.start()
    try:
        parse(name, data)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["documents", "import", "command"])
def test_nothing_takes_more_than_ten_times_its_size(name: str) -> None:
    parse(name, PARSERS[name].seeds[0])  # what is loaded for the first time stays
    too_much = {}
    for which, bomb in bombs().items():
        peak = peak_of(name, bomb)
        if peak > TIMES * len(bomb) + BASE:
            too_much[which] = f"{peak / MIB:.0f} MiB for {len(bomb) / MIB:.1f} MiB"
    assert not too_much


SMALL: Final = 4 * MIB
#: What a row of a trace becomes: a pod that comes and one that goes. Traces come from the command line only.
ROW: Final = 3 * 1024


@pytest.mark.parametrize("row", [b"a,1,1,1,1,,0,0\n", b"a,1,1,1,1,LS,0,\n"])
def test_a_row_of_a_trace_takes_a_known_amount(row: bytes) -> None:
    parse("trace", PARSERS["trace"].seeds[0])
    rows = 4000
    nodes_and_header = PARSERS["trace"].seeds[0].rpartition(b"p1,")[0]
    data = nodes_and_header + row * rows
    assert peak_of("trace", data) < ROW * rows + SMALL
    assert parse("trace", data) is None


@pytest.mark.parametrize("rest", [b"aa," * MIB, b'"a\n' * MIB, b'"aa","a\n",' * (MIB // 4), b"," * (3 * MIB)])
@pytest.mark.parametrize("among", ["header", "rows"])
def test_a_trace_that_is_none_takes_no_more_than_its_text(rest: bytes, among: str) -> None:
    parse("trace", PARSERS["trace"].seeds[0])
    head = PARSERS["trace"].seeds[0].rpartition(b"p1,")[0]
    data = head + rest if among == "rows" else rest
    assert peak_of("trace", data) < len(data) + SMALL


def test_it_says_what_and_where() -> None:
    crowded = b'{"kind": "List", "items": [\n' + b"{},\n" * 600_000 + b"{}]}"
    text = str(density_complaint(b"\n" * MIB + crowded))
    assert int(text.split()[2].replace(",", "")) > MIB, text
    assert "more than 10 times its size" in text


@pytest.mark.parametrize("separators", [None, (",", ":")])
def test_the_shortest_objects_that_are_any_use_are_read(separators: tuple[str, str] | None) -> None:
    items = [*(node(f"n{number}") for number in range(5000)), *(pod(f"p{number}") for number in range(30_000))]
    data = json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, separators=separators).encode()
    assert density_complaint(data) == ""
