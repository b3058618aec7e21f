"""Stepping from point to point, and plugins that raise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import pytest

from framework.interface import BindPlugin, CycleState, FilterPlugin, NodeInfo, PermitPlugin, ReservePlugin, Status
from framework.interface.status import SKIP, SUCCESS
from framework.objects import Pod
from framework.profiles import go_duration
from framework.scheduler import PointReached
from tests.builders import make_node, make_pod
from tests.cycle.small import FILTERS, SmallCluster


class Talks(ReservePlugin, PermitPlugin):
    name: ClassVar[str] = "Talks"

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        return None

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None: ...

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> tuple[Status | None, float]:
        return None, 0


class Binds(BindPlugin):
    name: ClassVar[str] = "Binds"
    says: ClassVar[Status | None] = None

    def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        return self.says


class Raises(FilterPlugin):
    name: ClassVar[str] = "Raises"

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        raise KeyError("blinking lights")


def test_a_cycle_stops_after_every_point() -> None:
    cluster = SmallCluster(
        [make_node("n1"), make_node("n2")], more=[Talks], points={"reserve": ("Talks",), "permit": ("Talks",)}
    )
    scheduler = cluster.scheduler
    scheduler.cluster.create_admitted(make_pod("p"))
    points = []
    while isinstance(reached := scheduler.step_point(), PointReached):
        assert scheduler.mid_cycle
        points.append(reached.point)
    assert points == ["PreFilter", "Filter", "PreScore", "Score", "Reserve", "Permit", "Bind"]
    assert scheduler.points == len(points)
    assert not scheduler.mid_cycle
    assert reached is not None
    assert reached.result == "bound"
    assert scheduler.step_point() is None


@pytest.mark.parametrize(
    ("said", "on_record"),
    [
        pytest.param(None, (("Binds", SUCCESS),), id="binds"),
        pytest.param(Status(), (("Binds", SUCCESS),), id="binds, in so many words"),
        pytest.param(SKIP, (("Binds", SKIP), ("DefaultBinder", SUCCESS)), id="leaves it to the next"),
        pytest.param(Status.as_error("no"), (("Binds", Status.as_error("no")),), id="fails"),
    ],
)
def test_what_bind_plugins_said_is_on_record(
    said: Status | None, on_record: tuple[tuple[str, Status], ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Binds, "says", said)
    points: dict[str, Sequence[str]] = {"bind": ("Binds", "DefaultBinder")}
    attempt = SmallCluster([make_node("n1")], more=[Binds], points=points).schedule(make_pod("p"))
    assert attempt.bind == on_record
    assert attempt.result == ("failed" if said is not None and said.error else "bound")


def test_an_event_within_a_cycle_does_not_change_its_snapshot() -> None:
    scheduler = SmallCluster([make_node("n1", cpu="1"), make_node("n2", cpu="1")]).scheduler
    scheduler.cluster.create_admitted(make_pod("p", requests={"cpu": "1"}))
    assert isinstance(scheduler.step_point(), PointReached)
    scheduler.cluster.create_admitted(make_node("n0", cpu="1"))
    attempt = scheduler.step()
    assert attempt is not None
    assert (attempt.selected, attempt.nodes_total) == ("n1", 2)


def test_a_plugin_that_raises_fails_the_attempt_and_nothing_else() -> None:
    cluster = SmallCluster([make_node("n1")], more=[Raises], points={"filter": (*FILTERS, "Raises")})
    attempt = cluster.schedule(make_pod("p"))
    assert attempt.message == "running \"Raises\" filter plugin: KeyError: 'blinking lights'"
    assert attempt.reason == "SchedulerError"
    assert [pod.after_error for pod in cluster.scheduler.queue_state().backoff] == [True]


@pytest.mark.parametrize(
    ("nanoseconds", "want"),
    [
        (0, "0s"),
        (300_000_000_000, "5m0s"),
        (1_500_000_000, "1.5s"),
        (100_000_000, "100ms"),
        (3_661_000_000_000, "1h1m1s"),
        (1_500, "1.5µs"),
        (-2_000_000_000, "-2s"),
        (3_600_000_000_000, "1h0m0s"),
    ],
)
def test_durations_read_as_in_go(nanoseconds: int, want: str) -> None:
    assert go_duration(nanoseconds) == want
