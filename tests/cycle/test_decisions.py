"""What Reserve plugins decided about claims is part of the attempt, and only of one that they all agreed to."""

from __future__ import annotations

from typing import ClassVar

from framework.interface import ClaimDecision, CycleState, DeviceDecision, ReservePlugin, Status, VolumeDecision
from framework.objects import Pod
from tests.builders import make_node, make_pod
from tests.cycle.small import SmallCluster

VOLUME = VolumeDecision("default/data", "data", "provision", "", "fast")
DEVICE = DeviceDecision("default/gpu", "one", "gpu.example.com", "n1", "gpu-0", False)


class Silent(ReservePlugin):
    name: ClassVar[str] = "Silent"

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        return None

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None: ...


class Volumes(Silent):
    name: ClassVar[str] = "Volumes"

    def decisions(self, state: CycleState, pod: Pod, node_name: str) -> tuple[ClaimDecision, ...]:
        return (VOLUME,)


class Devices(Silent):
    name: ClassVar[str] = "Devices"

    def decisions(self, state: CycleState, pod: Pod, node_name: str) -> tuple[ClaimDecision, ...]:
        return (DEVICE,)


class Refuses(Silent):
    name: ClassVar[str] = "Refuses"

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        return Status.unschedulable("no")


class Forgets(Silent):
    name: ClassVar[str] = "Forgets"

    def decisions(self, state: CycleState, pod: Pod, node_name: str) -> tuple[ClaimDecision, ...]:
        raise RuntimeError("what was it")


def test_decisions_of_all_plugins_are_kept_in_order() -> None:
    cluster = SmallCluster(
        [make_node("n1")], more=[Silent, Volumes, Devices], points={"reserve": ("Silent", "Volumes", "Devices")}
    )
    attempt = cluster.schedule(make_pod("p"))
    assert (attempt.result, attempt.decisions) == ("bound", (VOLUME, DEVICE))


def test_nothing_is_decided_when_a_later_plugin_refuses() -> None:
    cluster = SmallCluster([make_node("n1")], more=[Volumes, Refuses], points={"reserve": ("Volumes", "Refuses")})
    attempt = cluster.schedule(make_pod("p"))
    assert (attempt.result, attempt.decisions) == ("failed", ())


def test_a_plugin_that_cannot_say_what_it_decided_fails_the_attempt() -> None:
    cluster = SmallCluster([make_node("n1")], more=[Forgets], points={"reserve": ("Forgets",)})
    attempt = cluster.schedule(make_pod("p"))
    assert attempt.message == 'running Reserve plugin "Forgets": what was it'
