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
