"""What takes a few bytes in a text and hundreds in memory: no parser takes more than ten times its input for it."""

from __future__ import annotations

import gc
import json
import os
import re
import tracemalloc
from collections.abc import Callable
from functools import partial
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
    "import": [(bombs.JSON | bombs.OBJECTS, MIB)],
    "a command's manifest": [(bombs.JSON, MIB), (CROWDED, MIB)],
    "a change's manifest": [(bombs.JSON, MIB), (CROWDED, MIB)],
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
    "load": [(bombs.JSON | bombs.LOADS, MIB)],
    "trace": [(bombs.TRACES, MIB)],
}
"""By parser, with the size: no more than it is given, and enough that 40 times of it is found."""


def test_every_parser_is_here() -> None:
    assert {*BOMBS} == set(PARSERS)


def in_a_child(ask: Callable[[], bytes]) -> bytes:
    """What a copy of this process answers, which leaves nothing behind in this one."""
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        try:
            with open(writes, "wb") as answer:
                answer.write(ask())
        finally:
            os._exit(0)
    os.close(writes)
    with open(reads, "rb") as told:
        said = told.read()
    os.waitpid(child, 0)
    assert said, "it did not end as it should"
    return said


def peak_in_a_child(name: str, data: bytes) -> int:
    """Bytes by which a copy of this process grows at most; also what no allocator of Python knows."""

    def ask() -> bytes:
        before = resident("VmRSS")
        parse(name, data)
        return str(resident("VmHWM") - before).encode()

    return int(in_a_child(ask))


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
            # Made here it would leave room behind, which the next child had for nothing.
            data = in_a_child(partial(bomb, size))
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


def test_what_is_long_is_not_remembered() -> None:
    """A memory that has places for thousands would hold thousands of the longest."""
    parse("import", PARSERS["import"].seeds[0])
    gc.collect()
    tracemalloc.start()
    try:
        for number in range(5):
            for which in ("labels", "labels of a node", "labels that are none", "one long label"):
                parse("import", (bombs.JSON | bombs.OBJECTS)[which](MIB // 8).replace(b"aa", b"%02d" % number))
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] < SMALL
    finally:
        tracemalloc.stop()


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
