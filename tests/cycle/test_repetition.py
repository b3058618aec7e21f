"""An attempt that repeats the last one is told from one that is worked out by nothing but its cost."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from framework.cycle.repetition import KEPT_SIZE, RepeatDiffers, Repeats
from framework.plugins.registry import OPTIONAL, PLUGINS
from framework.scheduler import ObjectAdded
from tests.builders import make_node
from tests.cycle.repeated_runs import BEGINNING, CONFIGURATIONS, Operation, RepeatedRun, Tally, operations, pod
from tests.examples import examples

SETTINGS = settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])


FLUSHES: list[Operation] = [("flush", 9)] * 6


@SETTINGS
@pytest.mark.parametrize("plugins", CONFIGURATIONS.values(), ids=CONFIGURATIONS)
@given(listed=operations, pickled=st.booleans())
def test_with_and_without_repeats_a_run_is_the_same(plugins: list[str], listed: list[Operation], pickled: bool) -> None:
    listed = [*BEGINNING, *listed]
    worked_out = RepeatedRun("off", plugins).play(listed)
    assert RepeatedRun("used", plugins, pickled=pickled).play(listed) == worked_out
    assert RepeatedRun("verified", plugins).play(listed) == worked_out


@pytest.mark.parametrize(
    ("plugins", "about", "repeated"),
    [
        pytest.param([], {}, True, id="nothing has changed"),
        pytest.param([], {"extra": "picky"}, True, id="no node is ever right"),
        pytest.param(["Census"], {}, True, id="a plugin that keeps the promise"),
        pytest.param(["Census"], {"app": "two"}, True, id="node by node, all of them looked at"),
        pytest.param(["Diary"], {}, True, id="a plugin that could look at the clock and does not"),
        pytest.param(["Diary"], {"diary": "clock"}, False, id="it looks at the clock"),
        pytest.param(["Diary"], {"diary": "die"}, False, id="it throws a die"),
        pytest.param(["Tally"], {}, False, id="a plugin that promises nothing"),
    ],
)
def test_what_is_repeated(plugins: list[str], about: dict[str, Any], repeated: bool) -> None:
    run = RepeatedRun("used", plugins)
    assert run.play([pod(**about), *FLUSHES]) == RepeatedRun("off", plugins).play([pod(**about), *FLUSHES])
    assert (run.repeated > 0) == repeated


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(("node", 0), id="a node came"),
        pytest.param(("cordon", 0), id="a node was cordoned"),
        pytest.param(("namespace", 1), id="another object came"),
        pytest.param(("label", 0), id="the pod itself was changed"),
        pytest.param(pod(cpu="100m"), id="a pod was placed"),
        pytest.param(pod(extra="nominated"), id="a node was promised to another pod"),
    ],
)
def test_after_a_change_an_attempt_is_worked_out(change: Operation) -> None:
    run = RepeatedRun("used", [])
    run.play([pod(), *FLUSHES])
    before = run.scheduler.core.repeats.count
    assert before > 0
    run.do(change)
    run.scheduler.core.repeats.count = 0
    attempts = run.scheduler.attempts
    run.do(("flush", 1))
    assert run.scheduler.attempts > attempts
    assert run.scheduler.core.repeats.count == 0


def test_nodes_that_only_the_informer_tells_of_count_too() -> None:
    run = RepeatedRun("used", [])
    run.play([pod(), *FLUSHES])
    objects = run.scheduler.cluster.revision
    run.scheduler.apply(ObjectAdded(make_node("another", cpu="2")))
    run.scheduler.core.repeats.count = 0
    run.do(("flush", 9))
    assert run.scheduler.cluster.revision == objects
    assert run.record.ended[-1].nodes_total == 3
    assert run.scheduler.core.repeats.count == 0


@pytest.mark.parametrize("points", [1, 2, 3])
def test_a_change_between_two_points_of_a_repeated_attempt_is_seen_by_the_later_ones(points: int) -> None:
    listed = [pod(), *FLUSHES, ("seconds", 25), ("flush", 0), ("points", points), ("namespace", 1), ("points", 4)]
    run = RepeatedRun("used", ["Census"])
    outcome = run.play(listed)
    assert outcome == RepeatedRun("off", ["Census"]).play(listed)
    assert run.repeated > 0
    last = run.record.ended[-1]
    assert ("1 namespaces after all" in last.message) == (points < 3)


def test_what_is_asked_for_another_pod_between_two_points_is_no_question_of_the_attempt() -> None:
    """Here PreEnqueue, of a pod that is activated meanwhile."""
    listed: list[Operation] = [*BEGINNING, ("flush", 0), ("points", 5), ("activate", 0)]
    RepeatedRun("verified", ["Hold"]).play(listed)


def test_a_promise_that_is_broken_is_found_out_when_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tally, "repeatable", True)
    with pytest.raises(RepeatDiffers, match="post_filter"):
        RepeatedRun("verified", ["Tally"]).play([pod(), *FLUSHES])


def test_what_is_kept_goes_with_its_pod_and_is_not_pickled() -> None:
    run = RepeatedRun("used", [])
    run.play([pod(), pod(), *FLUSHES])
    repeats = run.scheduler.core.repeats
    assert len(repeats) == 2
    run.do(("delete pod", 0))
    assert len(repeats) == 1
    assert len(pickle.loads(pickle.dumps(repeats))) == 0


def test_what_is_kept_is_bounded() -> None:
    run = RepeatedRun("used", [])
    run.play([pod(), *FLUSHES])
    (kept,) = run.scheduler.core.repeats._kept.values()
    repeats = Repeats()
    fitting = KEPT_SIZE // kept.size
    for i in range(fitting + 5):
        repeats.keep(str(i), kept)
    assert len(repeats) == fitting


def test_plugins_that_promise_repeatable_answers() -> None:
    """A plugin that looks at the clock, at waiting pods or at its own past must not be here."""
    assert sorted(
        plugin.name for plugin in (*PLUGINS, *OPTIONAL) if isinstance(plugin, type) and plugin.repeatable
    ) == [
        "CrossNodePreemption",
        "DefaultPreemption",
        "DynamicResources",
        "EvictionApproval",
        "InterPodAffinity",
        "NodeAffinity",
        "NodeDeclaredFeatures",
        "NodeName",
        "NodePorts",
        "NodeResourcesFit",
        "NodeUnschedulable",
        "NodeVolumeLimits",
        "PodTopologySpread",
        "TaintToleration",
        "VolumeBinding",
        "VolumeRestrictions",
        "VolumeZone",
    ]
