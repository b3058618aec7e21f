from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.objects.quantity import (
    FORMAT_WRONG,
    MAX_INT64,
    NANOS,
    NUMERIC_WRONG,
    SUFFIX_WRONG,
    Format,
    Quantity,
    QuantityError,
    format_milli,
    format_value,
    is_quantity,
    parse_quantity,
)

VALUES = {
    # text: (value, milli value, canonical form)
    "0": (0, 0, "0"),
    "100m": (1, 100, "100m"),
    "1500m": (2, 1500, "1500m"),
    "2000m": (2, 2000, "2"),
    "0.5": (1, 500, "500m"),
    ".5": (1, 500, "500m"),
    "1.": (1, 1000, "1"),
    "+3": (3, 3000, "3"),
    "1k": (1000, 1_000_000, "1k"),
    "1500k": (1_500_000, 1_500_000_000, "1500k"),
    "1Ki": (1024, 1_024_000, "1Ki"),
    "1023Ki": (1_047_552, 1_047_552_000, "1023Ki"),
    "2048Ki": (2 << 20, 2_097_152_000, "2Mi"),
    "0.5Gi": (512 << 20, 536_870_912_000, "512Mi"),
    "1.5Ki": (1536, 1_536_000, "1536"),
    "500Ki": (512_000, 512_000_000, "500Ki"),
    "1e3": (1000, 1_000_000, "1e3"),
    "1E3": (1000, 1_000_000, "1e3"),
    "1e+3": (1000, 1_000_000, "1e3"),
    "12e-1": (2, 1200, "1200e-3"),
    "1n": (1, 1, "1n"),
    "0.1n": (1, 1, "1n"),
    "100u": (1, 1, "100u"),
    "1e-400": (1, 1, "1e-9"),
    "0.1Ki": (103, 102_400, "102400m"),
    "0.0001Ki": (1, 103, "102400u"),
    "1E": (10**18, MAX_INT64, "1E"),
    "7Ei": (7 << 60, MAX_INT64, "7Ei"),
    # Bare suffixes are what upstream's scanner reads as nothing.
    "Ki": (0, 0, "0"),
    "-1": (-1, -1000, "-1"),
    "-1500m": (-2, -1500, "-1500m"),
    " 1 ": (1, 1000, "1"),
}


@pytest.mark.parametrize("text", VALUES)
def test_parses_as_kubernetes_does(text: str) -> None:
    got = parse_quantity(text)
    assert (got.value(), got.milli_value(), str(got)) == VALUES[text]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", FORMAT_WRONG),
        ("abc", FORMAT_WRONG),
        ("1.2.3", FORMAT_WRONG),
        ("1 Gi", FORMAT_WRONG),
        ("0x10", FORMAT_WRONG),
        ("--1", SUFFIX_WRONG),
        ("1Gib", FORMAT_WRONG),
        ("\u0661", FORMAT_WRONG),
        ("1i", SUFFIX_WRONG),
        ("1kk", SUFFIX_WRONG),
        ("1K", SUFFIX_WRONG),
        ("1e", SUFFIX_WRONG),
        ("1e99999999999999999999", SUFFIX_WRONG),
        ("Ei", NUMERIC_WRONG),
        ("1" * 5000, NUMERIC_WRONG),
    ],
)
def test_refuses_with_the_api_servers_words(text: str, message: str) -> None:
    with pytest.raises(QuantityError) as refusal:
        parse_quantity(text)
    assert str(refusal.value) == message
    assert not is_quantity(text)


def test_numbers_are_read_by_their_text() -> None:
    assert parse_quantity(2) == parse_quantity("2")
    assert parse_quantity(0.1) == parse_quantity("100m")
    assert parse_quantity(1e16).value() == 10**16


@pytest.mark.parametrize("text", ["16Ei", "1e999999999", "9999999E", "12345678901234567890123e100000000"])
def test_what_no_int64_holds_is_held_at_the_largest(text: str) -> None:
    assert parse_quantity(text).value() == MAX_INT64
    assert parse_quantity(f"-{text}").value() == -MAX_INT64


def test_formats_for_people() -> None:
    assert format_milli(250) == "250m"
    assert format_milli(2000) == "2"
    assert format_value(200 << 20, Format.BINARY_SI) == "200Mi"
    assert format_value(1000, Format.BINARY_SI) == "1k"
    assert format_value(1_000_000) == "1M"


SUFFIXES = {"": Fraction(1), "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000)}
SUFFIXES |= {suffix: Fraction(10) ** (3 * i) for i, suffix in enumerate("kMGTPE", start=1)}
SUFFIXES |= {f"{suffix}i": Fraction(1024) ** i for i, suffix in enumerate("KMGTPE", start=1)}

numbers = st.from_regex(r"[0-9]{1,12}(\.[0-9]{1,12})?", fullmatch=True)


def rounded_away(exact: Fraction) -> int:
    return -(-exact.numerator // exact.denominator) if exact >= 0 else exact.numerator // exact.denominator


@given(numbers, st.sampled_from(sorted(SUFFIXES)), st.sampled_from(["", "-", "+"]))
def test_agrees_with_exact_fractions(number: str, suffix: str, sign: str) -> None:
    size = Fraction(number) * SUFFIXES[suffix]
    kept = min(Fraction(rounded_away(size * NANOS), NANOS), Fraction(MAX_INT64) if suffix.endswith("i") else size + 1)
    exact = -kept if sign == "-" else kept
    got = parse_quantity(f"{sign}{number}{suffix}")
    assert got.value() == max(-MAX_INT64, min(MAX_INT64, rounded_away(exact)))
    assert got.milli_value() == max(-MAX_INT64, min(MAX_INT64, rounded_away(exact * 1000)))


@given(numbers, st.sampled_from(sorted(SUFFIXES)))
def test_the_canonical_form_means_the_same_and_stays_as_it_is(number: str, suffix: str) -> None:
    first = parse_quantity(number + suffix)
    again = parse_quantity(str(first))
    assert again.nanos == first.nanos
    assert str(again) == str(first)
    assert "." not in str(first)


@given(st.text(max_size=12))
def test_any_text_is_a_quantity_or_refused(text: str) -> None:
    if is_quantity(text):
        assert isinstance(parse_quantity(text), Quantity)
    else:
        with pytest.raises(QuantityError):
            parse_quantity(text)
