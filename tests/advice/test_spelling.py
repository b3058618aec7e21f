"""What is a mistyped word, and what is simply another one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.advice.spelling import is_slip, meant, meant_key


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("generl", "general"),
        ("genneral", "general"),
        ("genreal", "general"),
        ("genaral", "general"),
        ("GPU", "gpu"),
        ("gp", "gpu"),
        ("gpuu", "gpu"),
        ("on_demand", "on-demand"),
        ("ondemand", "on-demand"),
        ("eu-wst-1a", "eu-west-1a"),
        ("amd-64", "amd64"),
        ("poool", "pool"),
        ("topology.kubernetes.io/zon", "topology.kubernetes.io/zone"),
    ],
)
def test_slips(word: str, other: str) -> None:
    assert is_slip(word, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("arm64", "amd64"),
        ("linux", "windows"),
        ("eu-west-1a", "eu-west-1b"),
        ("eu-west-1", "eu-west-2"),
        ("us-east-1", "us-west-1"),
        ("zone-a", "zone-b"),
        ("a", "b"),
        ("v1", "v2"),
        ("v1", "v11"),
        ("n1", "n01"),
        ("gpu", "tpu"),
        ("gold", "cold"),
        ("ssd", "hdd"),
        ("m5.large", "m5.xlarge"),
        ("m5.large", "m6.large"),
        ("blue", "green"),
        ("general", "spot"),
        ("", "a"),
    ],
)
def test_other_things(one: str, other: str) -> None:
    assert not is_slip(one, other)
    assert not is_slip(other, one)


def test_the_known_word() -> None:
    assert meant("generl", ["spot", "general"]) == "general"
    assert meant("GPU", ["gpus", "gpu"]) == "gpu"
    assert meant("spot", ["spot", "spots"]) == ""
    assert meant("arm64", ["amd64"]) == ""


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("poool", "pool"),
        ("zone", "topology.kubernetes.io/zone"),
        ("example.com/pool", "pool"),
        ("topology.kubernetes.io/zon", "topology.kubernetes.io/zone"),
        ("disk", ""),
        ("pool", ""),
    ],
)
def test_keys(key: str, said: str) -> None:
    assert meant_key(key, ["pool", "topology.kubernetes.io/zone"]) == said


@given(st.text("abcdefgh-1234", min_size=1, max_size=12), st.text("abcdefgh-1234", min_size=1, max_size=12))
def test_a_slip_keeps_the_numbers_and_goes_both_ways_in_length(one: str, two: str) -> None:
    if is_slip(one, two):
        assert [each for each in one if each.isdigit()] == [each for each in two if each.isdigit()]
        assert abs(len(one.replace("-", "")) - len(two.replace("-", ""))) <= 1
