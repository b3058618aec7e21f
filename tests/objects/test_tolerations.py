from __future__ import annotations

import pytest

from framework.objects import Taint, Toleration
from framework.objects.tolerations import find_untolerated_taint, tolerates, toleration_tolerates

GPU = Taint(key="dedicated", value="gpu", effect="NoSchedule")


@pytest.mark.parametrize(
    ("toleration", "want"),
    [
        (Toleration(key="dedicated", value="gpu", effect="NoSchedule"), True),
        (Toleration(key="dedicated", operator="Equal", value="gpu"), True),
        (Toleration(key="dedicated", value="cpu"), False),
        (Toleration(key="dedicated", operator="Exists"), True),
        (Toleration(key="dedicated", operator="Exists", effect="NoExecute"), False),
        (Toleration(key="other", operator="Exists"), False),
        (Toleration(operator="Exists"), True),
        (Toleration(operator="Exists", effect="NoSchedule"), True),
        (Toleration(), False),
        (Toleration(value="gpu"), True),
        (Toleration(key="dedicated", operator="Gt", value="1"), False),
        (Toleration(key="dedicated", operator="exists"), False),
        (Toleration(key="dedicated", value="gpu", effect="NoSchedule", toleration_seconds=0), True),
    ],
)
def test_one_toleration(toleration: Toleration, want: bool) -> None:
    assert toleration_tolerates(toleration, GPU) is want
    assert tolerates((Toleration(key="nothing"), toleration), GPU) is want


def test_the_first_untolerated_taint_of_the_asked_effects() -> None:
    soft = Taint(key="spot", effect="PreferNoSchedule")
    evicting = Taint(key="broken", effect="NoExecute")
    taints = (soft, GPU, evicting)
    hard = ("NoSchedule", "NoExecute")
    assert find_untolerated_taint(taints, (), hard) == GPU
    assert find_untolerated_taint(taints, (Toleration(key="dedicated", operator="Exists"),), hard) == evicting
    assert find_untolerated_taint(taints, (Toleration(operator="Exists"),), hard) is None
    assert find_untolerated_taint(taints, (), ("PreferNoSchedule",)) == soft
    assert find_untolerated_taint((), (), hard) is None


@pytest.mark.parametrize(
    ("operator", "limit", "value", "want"),
    [
        ("Gt", "10", "11", True),
        ("Gt", "10", "10", False),
        ("Lt", "10", "9", True),
        ("Lt", "10", "10", False),
        ("Lt", "0", "-9223372036854775808", True),
        ("Gt", "0", "9223372036854775808", False),  # beyond int64
        ("Gt", "1", "007", False),  # not as a person writes it
        ("Gt", "+1", "7", False),
        ("Gt", "-0", "7", False),
        ("Gt", "1", "", False),
        ("Gt", "", "1", False),
        ("Gt", "1", "high", False),
    ],
)
def test_numbers_are_compared_behind_the_gate_only(operator: str, limit: str, value: str, want: bool) -> None:
    taint = Taint(key="sla", value=value, effect="NoSchedule")
    toleration = Toleration(key="sla", operator=operator, value=limit)
    assert toleration_tolerates(toleration, taint, comparisons=True) is want
    assert toleration_tolerates(toleration, taint) is False
