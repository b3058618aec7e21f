"""Plugins that have nothing to do for a pod once their PreFilter has skipped it (``Plugin.skip_is_final``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import pytest

from framework.configuration.feature_gates import DEFAULT_GATES, FeatureGates, parse_feature_gates
from framework.interface import Code, CycleState, PodInfo, PreFilterPlugin, PreFilterResult, Status, View
from framework.interface.plugin import PreBindPlugin, ReservePlugin
from framework.objects import Pod
from framework.plugins.dynamicresources.plugin import DynamicResources
from framework.plugins.volumebinding import VolumeBinding
from framework.profiles.verify import ReuseDiffers
from framework.trace.attempt import AttemptTrace
from framework.trace.encoding import encode_attempts
from tests.builders import make_node, make_pod
from tests.cycle.small import SmallCluster
from tests.options import by_default

SKIP = Status(Code.SKIP)


class Keys(PreFilterPlugin, ReservePlugin, PreBindPlugin):
    """Looks at pods with the label ``key``; notes at which points it was called."""

    name: ClassVar[str] = "Keys"
    skip_is_final: ClassVar[bool] = True
    called: ClassVar[list[str]] = []
    refuses: ClassVar[bool] = False

    def pre_filter(self, state: CycleState, pod: PodInfo, view: View) -> tuple[PreFilterResult | None, Status | None]:
        return None, None if "key" in pod.pod.metadata.labels else SKIP

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        self.called.append("Reserve")
        return Status.unschedulable("no") if self.refuses else None

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        self.called.append("Unreserve")

    def pre_bind_pre_flight(self, state: CycleState, pod: Pod, node_name: str) -> tuple[Status | None, bool]:
        self.called.append("PreBindPreFlight")
        return None if "key" in pod.metadata.labels else SKIP, True

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        self.called.append("PreBind")
        return None


def tried(pod: Pod, *others: str, gates: FeatureGates = DEFAULT_GATES) -> AttemptTrace:
    Keys.called.clear()
    asked = ("Keys", *others)
    pre_filter = ("NodeAffinity", "NodePorts", "NodeResourcesFit", *asked)
    points: dict[str, Sequence[str]] = {"preFilter": pre_filter, "reserve": asked, "preBind": asked}
    return SmallCluster([make_node("n1"), make_node("n2")], more=[Keys], points=points, gates=gates).schedule(pod)


@pytest.fixture
def unverified(monkeypatch: pytest.MonkeyPatch) -> None:
    """To verify is to ask."""
    by_default(monkeypatch, verify_reuse=0)


@pytest.mark.usefixtures("unverified")
def test_a_pod_that_was_skipped_for_good_is_not_brought_to_the_plugin_again() -> None:
    attempt = tried(make_pod("p"))
    assert Keys.called == []
    assert attempt.result == "bound"
    assert attempt.reserve == (("Keys", Status()),)


@pytest.mark.usefixtures("unverified")
def test_any_other_pod_is() -> None:
    assert tried(make_pod("p", labels={"key": ""})).result == "bound"
    assert Keys.called[0] == "Reserve"
    assert Keys.called[-1] == "PreBind"


@pytest.mark.usefixtures("unverified")
def test_without_the_promise_skip_counts_for_filter_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Keys, "skip_is_final", False)
    assert tried(make_pod("p")).result == "bound"
    assert Keys.called[0] == "Reserve"


@pytest.mark.usefixtures("unverified")
@pytest.mark.parametrize("plugin", [VolumeBinding, DynamicResources])
@pytest.mark.parametrize("labels", [{}, {"key": ""}])
@pytest.mark.parametrize("gate", ["true", "false"])
def test_the_trace_says_what_the_plugin_would_have_said(
    plugin: type[VolumeBinding | DynamicResources], labels: dict[str, str], gate: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the gate PreBindPreFlight is not asked, and PreBind of all plugins."""
    gates = parse_feature_gates(f"NominatedNodeNameForExpectation={gate}")
    attempt = tried(make_pod("p", labels=labels), plugin.name, gates=gates)
    assert attempt.result == "bound"
    monkeypatch.setattr(plugin, "skip_is_final", False)
    asked = tried(make_pod("p", labels=labels), plugin.name, gates=gates)
    assert encode_attempts([asked]) == encode_attempts([attempt])


def test_a_broken_promise_is_found_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Keys, "refuses", True)
    with pytest.raises(ReuseDiffers, match=r"^Keys: Reserve for default/p, "):
        tried(make_pod("p"))
