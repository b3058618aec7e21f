"""What the framework sees in the code of a plugin that answers node by node, and what it makes of it."""

from __future__ import annotations

import functools
import math
import random
import time
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from framework.configuration import PluginArgs
from framework.interface import Code, CycleState, FilterPlugin, NodeInfo, Plugin, ScorePlugin, Status
from framework.objects import Pod
from framework.objects.tolerations import find_untolerated_taint
from framework.plugins.registry import built_in_registry
from framework.profiles.own_node import rests_on_own_node

LIMIT = 100
WEIGHTS = {"a": 1}
COUNT = 0

Score = tuple[int, Status | None]


class Leveled(PluginArgs, frozen=True):
    level: int = 3

    def doubled(self) -> int:
        return 2 * self.level


class Counting(PluginArgs, frozen=True):
    def counted(self) -> int:
        global COUNT
        COUNT += 1
        return COUNT


def pods_of(node: NodeInfo, most: int = LIMIT) -> int:
    return min(most, len(node.pods))


def drawn(node: NodeInfo) -> int:
    return random.randint(0, len(node.pods))


def seldom(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def asked(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Any:
        return function(self, state, pod, node)

    return asked


class Base(ScorePlugin):
    name: ClassVar[str] = "Base"
    best = 7
    seen: ClassVar[list[str]] = []

    def __init__(self, args: Any) -> None:
        super().__init__(args, None)  # type: ignore[arg-type]
        self.factor = 2
        self.calls = [0]

    @property
    def half(self) -> int:
        return self.factor // 2

    @property
    def hurried(self) -> float:
        return time.monotonic()

    def helped(self, node: NodeInfo) -> int:
        return pods_of(node) * self.factor

    def counted(self) -> int:
        self.factor += 1
        return self.factor

    @staticmethod
    def fixed(node: NodeInfo) -> int:
        return node.allowed_pods


def finding(score: Callable[..., Any], args: Any = None) -> Any:
    plugin = type("Made", (Base,), {"score": score, "__module__": __name__})
    return rests_on_own_node(plugin(args), "score")


class OfTheNode:
    """Every function here can be seen through, and reads nothing of the pod. (pytest rewrites asserts: none here.)"""

    def a_constant(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return 5, None

    def pods_on_it(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return max(0, LIMIT - len(node.pods)), None

    def its_name_and_labels(self: Any, state: CycleState, pod: Pod, node: Any) -> Score:
        return len(node.node.metadata.name) + len(node.node.metadata.labels.get("x", "")), None

    def names_of_its_pods(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return sum(len(each.pod.metadata.name) for each in node.pods), None

    def arguments(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return self.args.level + self.args.doubled(), None

    def helpers(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return self.helped(node) + self.fixed(node) + self.half + self.best, None

    def mathematics(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return math.floor(math.sqrt(len(node.pods))), None

    def a_status(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return 0, Status.unschedulable("no") if node.name == "n0" else Status(Code.SUCCESS)


class OfThePod:
    """These read of the pod what equal pods have in common."""

    def labels(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return len(pod.metadata.labels), None

    def priority(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return pod.spec.priority or 0, None

    def in_inner_code(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return sum(1 for each in node.pods if each.pod.metadata.namespace == pod.metadata.namespace), None

    def tolerations(self: Any, state: CycleState, pod: Pod, node: Any) -> Score:
        return int(find_untolerated_taint(node.node.spec.taints, pod.spec.tolerations, ("NoExecute",)) is None), None


class Hidden:
    """None of these can be relied on."""

    def the_name(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return len(pod.metadata.name), None

    def the_name_in_inner_code(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return sum(1 for each in node.pods if each.pod.metadata.name == pod.metadata.name), None

    def the_status(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return len(pod.status.conditions), None

    def the_whole_pod(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return len(str(pod)), None

    def an_alias(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        other = pod
        return len(other.metadata.name), None

    def the_state(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return state.read("key", int), None

    def the_state_in_inner_code(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return sum(state.read("key", int) for _ in node.pods), None

    def the_handle(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return len(self.handle.snapshot.list()), None

    def the_clock(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return int(time.time()), None

    def chance(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return random.randint(0, 100), None

    def chance_in_a_helper(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return drawn(node), None

    def an_import(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        import os  # noqa: PLC0415

        return os.getpid(), None

    def a_counter_of_its_own(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        self.factor += 1
        return self.factor, None

    def a_counter_in_a_method(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return self.counted(), None

    def a_list_of_its_own(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        self.calls[0] += 1
        return self.calls[0], None

    def a_list_of_the_class(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return len(self.seen), None

    def a_property_with_a_clock(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return int(self.hurried), None

    def a_table_of_the_module(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return WEIGHTS["a"], None

    def a_global_it_writes(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        global COUNT
        COUNT += 1
        return COUNT, None

    def a_mutable_default(self: Any, state: CycleState, pod: Pod, node: NodeInfo, kept: list[int] = []) -> Score:  # noqa: B006
        kept.append(1)
        return len(kept), None

    def its_attributes_by_name(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return int(getattr(self, "factor")), None  # noqa: B009

    def its_attributes_by_a_format(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return len("{.calls}".format(self)), None  # noqa: UP032

    def its_dictionary(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return len(self.__dict__), None

    def a_super_class(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return len(super(Base, self).description), None  # type: ignore[misc]

    @functools.lru_cache  # noqa: B019
    def a_cache(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return 5, None

    @seldom
    def a_wrapper_that_hands_everything_on(self: Any, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return 5, None


def functions(of: type) -> list[Any]:
    return [pytest.param(value, id=name) for name, value in vars(of).items() if callable(value) and name[0] != "_"]


@pytest.mark.parametrize("score", functions(OfTheNode))
def test_what_rests_on_the_node_alone_is_seen(score: Callable[..., Any]) -> None:
    found = finding(score, Leveled())
    assert found is not None
    assert not found.reads_pod
    assert found.stands()


@pytest.mark.parametrize("score", functions(OfThePod))
def test_what_is_read_of_the_pod_is_seen(score: Callable[..., Any]) -> None:
    found = finding(score)
    assert found is not None
    assert found.reads_pod


@pytest.mark.parametrize("score", functions(Hidden))
def test_what_may_rest_on_something_else_is_asked_every_time(score: Callable[..., Any]) -> None:
    assert finding(score) is None


def test_methods_of_arguments_are_looked_into() -> None:
    assert finding(lambda self, state, pod, node: (self.args.counted(), None), Counting()) is None


def test_a_plugin_with_magic_of_its_own_is_not_seen_through() -> None:
    class Magic(Base):
        def __getattr__(self, name: str) -> int:
            return random.randint(0, 9)

        score = OfTheNode.a_constant

    class Slotted(Base):
        __slots__ = ("hidden",)
        score = OfTheNode.a_constant

    assert rests_on_own_node(Magic(None), "score") is None
    assert rests_on_own_node(Slotted(None), "score") is None


def test_a_constant_that_is_bound_anew_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    found = finding(OfTheNode.pods_on_it)
    monkeypatch.setitem(globals(), "LIMIT", 50)
    assert not found.stands()


def test_an_attribute_that_is_set_later_is_noticed() -> None:
    class Learns(Base):
        def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
            return self.best + self.factor, None

    plugin = Learns(None)
    found = rests_on_own_node(plugin, "score")
    assert found is not None
    plugin.best = 8
    assert not found.stands()
    found = rests_on_own_node(plugin, "score")
    assert found is not None
    plugin.factor = 3
    assert not found.stands()


def test_plugins_of_the_playground_that_need_the_cluster_are_not_seen_through() -> None:
    registry = built_in_registry()
    classes = [each for name in registry.names() if (each := registry.plugin_class(name)) is not None]
    asked: list[tuple[type[Plugin], str]] = [(each, "filter") for each in classes if issubclass(each, FilterPlugin)]
    asked += [(each, "score") for each in classes if issubclass(each, ScorePlugin)]
    assert asked
    for plugin, method in asked:
        made = plugin.__new__(plugin)
        made.args = None
        assert rests_on_own_node(made, method) is None, plugin.name
