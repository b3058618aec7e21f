"""Bytes that somebody might send: what a parser takes, cut up, grown and mixed with what such formats are made of."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

TOKENS = (
    b"{", b"}", b"[", b"]", b",", b":", b'"', b"'", b"\\", b"\\u0000", b"\\ud800", b"null", b"true", b"NaN", b"1e999",
    b"-", b"- ", b": ", b"? ", b"---\n", b"...\n", b"&a ", b"*a", b"<<: ", b"!!int ", b"!!binary ", b"!x ", b"|\n",
    b"#", b"%", b"\n", b"\r\n", b"\t", b" ", b"\0", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\xed\xa0\x80", b"0x1F",
    b"99999999999999999999", b"-1", b"1.5", b"2026-01-01", b"apiVersion: v1\n", b"kind: Pod\n", b'"kind":"List"',
    b'"items":[', b"spec: ", b"metadata: ", b"=", b"!=", b" in (", b")", b"Gi", b"e3", b"\xc2\x85", b"\xe2\x80\xa8",
)  # fmt: skip


@st.composite
def near(draw: st.DrawFn, seeds: Sequence[bytes]) -> bytes:
    """One of the seeds after a few edits."""
    data = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(0, 6))):
        at = draw(st.integers(0, len(data)))
        to = min(len(data), at + draw(st.sampled_from((0, 0, 1, 2, 8, 64))))
        new = draw(st.one_of(st.sampled_from(TOKENS), st.binary(max_size=4), st.just(data[at:to])))
        data = data[:at] + new * draw(st.sampled_from((1, 1, 1, 2, 50))) + data[to:]
    return data


def inputs(seeds: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    return st.one_of(near(seeds), st.lists(st.sampled_from(TOKENS), max_size=20).map(b"".join), st.binary(max_size=200))
