"""Texts of rows in few bytes."""

from __future__ import annotations

import json

import zstandard

from schedweb.engine.packing import LEAST_TEXTS, MAGIC, PRIVATE, SIZE, Packer, Unpacked, dictionary_number, trained
from schedweb.runs.models.packed import text_of

TEXTS = [
    json.dumps(
        {"kind": "Pod", "name": f"web-{number}", "labels": {"app": f"app-{number % 7}"}, "spec": "x" * 60}
    ).encode()
    for number in range(LEAST_TEXTS)
]


def test_what_texts_have_in_common_is_in_their_dictionary_once() -> None:
    made = trained(TEXTS)
    assert made is not None
    assert len(made.data) <= SIZE
    packed = Packer(made).pack(TEXTS[-1])
    assert dictionary_number(packed) == made.number >= PRIVATE
    assert len(packed) < len(TEXTS[-1]) / 3
    known = zstandard.ZstdCompressionDict(made.data)
    assert known.dict_id() == made.number
    assert zstandard.ZstdDecompressor(dict_data=known).decompress(packed) == TEXTS[-1]


def test_equal_texts_make_one_dictionary_and_no_number_is_given_twice() -> None:
    first, again = trained(TEXTS), trained(TEXTS)
    assert first is not None
    assert first == again
    other = trained(TEXTS, taken={first.number})
    assert other is not None
    assert other.number == first.number + 1


def test_few_texts_stay_as_they_are() -> None:
    assert trained(TEXTS[: LEAST_TEXTS - 1]) is None
    assert Unpacked().pack(TEXTS[0]) == TEXTS[0]
    by_itself = Packer().pack(TEXTS[0])
    assert dictionary_number(TEXTS[0]) == dictionary_number(by_itself) == 0
    assert zstandard.ZstdDecompressor().decompress(by_itself) == TEXTS[0]


def test_whatever_a_version_stored_is_read() -> None:
    older = zstandard.ZstdCompressor(level=1).compress(TEXTS[0])
    assert older[:4] == MAGIC
    for stored in (older, TEXTS[0], memoryview(TEXTS[0]), TEXTS[0].decode()):
        assert text_of(stored) == TEXTS[0]
