"""What takes a few bytes in a text and hundreds in memory: no parser takes more than ten times its input for it."""

from __future__ import annotations

import gc
import json
import os
import re
import tracemalloc
from pathlib import Path
from typing import Final

import pytest

from framework.reading.density import density_complaint
from schedweb.configurations.examination import MAX_CHARACTERS
from schedweb.runs.live.consumers import LARGEST
from tests.fuzzing import bombs
from tests.fuzzing.bombs import Bomb
from tests.fuzzing.parsers import MIB, PARSERS, parse
from tests.schedweb.engine.worlds import node, pod

TIMES: Final = 10
BASE: Final = 24 * MIB
KIB: Final = 1024
CROWDED: Final = {name: bombs.YAML[name] for name in ("merges", "pairs", "objects")}
BOMBS: Final[dict[str, list[tuple[dict[str, Bomb], int]]]] = {
    "documents": [(bombs.JSON, MIB), (bombs.YAML, MIB // 8), (CROWDED, MIB)],
    "import": [({name: bomb for name, bomb in bombs.JSON.items() if name != "labels"}, MIB)],
    "a command's manifest": [(bombs.JSON, MIB), (CROWDED, MIB)],
    "configuration": [(bombs.CONFIGURATIONS, 100 * KIB), ({"keys": bombs.JSON["keys"]}, MAX_CHARACTERS)],
    "older file": [(bombs.OLDER, 100 * KIB)],
    "edits of a configuration": [(bombs.JSON | bombs.EDITS, 64 * KIB)],
    "socket": [(bombs.JSON, LARGEST)],
    "command": [(bombs.JSON, MIB)],
    "question": [(bombs.JSON, MIB)],
    "label selector": [(bombs.TEXTS, 64 * KIB)],
    "search for pods": [(bombs.TEXTS, 64 * KIB)],
    "quantity": [(bombs.TEXTS, 4 * KIB)],
    "time": [(bombs.TEXTS, 4 * KIB)],
    "trace context": [(bombs.TEXTS, 4 * KIB)],
}
"""By parser, with the size: no more than it is given, and enough that 40 times of it is found."""


def test_every_parser_is_here() -> None:
    """A trace's rows have a test of their own below."""
    assert {*BOMBS, "trace"} == set(PARSERS)


def peak_in_a_child(name: str, data: bytes) -> int:
    """Bytes by which a copy of this process grows at most; also what no allocator of Python knows."""
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        try:
            before = resident("VmRSS")
            parse(name, data)
            os.write(writes, str(resident("VmHWM") - before).encode())
        finally:
            os._exit(0)
    os.close(writes)
    with open(reads, "rb") as answer:
        said = answer.read()
    os.waitpid(child, 0)
    assert said, "it did not end as it should"
    return int(said)


def resident(which: str) -> int:
    """Bytes of this process in memory, now or at most."""
    found = re.search(rf"{which}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) * KIB


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="it asks Linux how large a process became")
@pytest.mark.parametrize("name", BOMBS)
def test_nothing_takes_more_than_ten_times_its_size(name: str) -> None:
    parse(name, PARSERS[name].seeds[0])  # what is loaded for the first time stays
    too_much = {}
    for table, size in BOMBS[name]:
        for which, bomb in table.items():
            data = bomb(size)
            peak = peak_in_a_child(name, data)
            if peak > TIMES * len(data) + BASE:
                too_much[which] = f"{peak / MIB:.0f} MiB for {len(data) / MIB:.1f} MiB"
    assert not too_much


def peak_of(name: str, data: bytes) -> int:
    """Bytes that Python held at most beyond what it held before."""
    gc.collect()
    tracemalloc.start()
    try:
        parse(name, data)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


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
