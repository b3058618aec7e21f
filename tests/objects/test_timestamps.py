from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.objects.timestamps import TimestampError, format_timestamp, parse_timestamp


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:01.5Z", 1_500_000_000),
        ("1970-01-01T02:00:00+02:00", 0),
        ("1969-12-31T22:30:00-01:30", 0),
        ("1970-01-01T00:00:00.0000000019Z", 1),
        ("2026-01-01T00:00:00Z", 1_767_225_600_000_000_000),
        ("1969-12-31T23:59:59Z", -1_000_000_000),
    ],
)
def test_parses(text: str, want: int) -> None:
    assert parse_timestamp(text) == want


@pytest.mark.parametrize(
    "text", ["", "now", "2026-01-01", "2026-01-01T00:00:00", "2026-02-30T00:00:00Z", "2026-01-01T25:00:00Z"]
)
def test_refuses(text: str) -> None:
    with pytest.raises(TimestampError):
        parse_timestamp(text)


@given(st.integers(0, 4 * 10**18))
def test_what_is_formatted_parses_to_the_same(moment: int) -> None:
    assert parse_timestamp(format_timestamp(moment)) == moment


def test_formats_like_go() -> None:
    assert format_timestamp(parse_timestamp("2026-01-01T01:02:03.25Z")) == "2026-01-01T01:02:03.25Z"
    whole = datetime(2031, 7, 9, 11, 5, tzinfo=UTC)
    assert format_timestamp(int(whole.timestamp()) * 10**9) == "2031-07-09T11:05:00Z"
