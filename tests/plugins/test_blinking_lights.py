"""docs/plugins.md teaches with an example; this runs exactly the code that stands there."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

import pytest

from framework.configuration import load
from framework.interface import Plugin, ScorePlugin
from framework.objects import Pod
from framework.plugins.registry import Registry, built_in_registry, installed_plugins
from framework.profiles.verify import ReuseDiffers
from framework.scheduler import Attempt, Observer, Scheduler
from tests.builders import make_node, make_pod
from tests.cycle.small import SmallCluster
from tests.options import by_default

PAGE = Path(__file__).parent.parent.parent / "docs" / "plugins.md"
LIGHTS = {"dark": None, "dim": "1", "bright": "4", "odd": "many"}


def blocks() -> dict[str, str]:
    """File name → code of the page's fenced blocks that are named."""
    found = re.findall(r"^```\w+ (\S+)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return dict(found)


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, ModuleType]]:
    folder = tmp_path_factory.mktemp("page")
    names = []
    for name, code in blocks().items():
        (folder / name).write_text(code, encoding="utf-8")
        if name.endswith(".py"):
            names.append(name.removesuffix(".py"))
    sys.path.insert(0, str(folder))
    try:
        yield {name: importlib.import_module(name) for name in names}
    finally:
        sys.path.remove(str(folder))
        for name in names:
            sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def registry(modules: dict[str, ModuleType]) -> Registry:
    """As an installed package would bring them."""
    named = re.findall(r'^(\w+) = "([\w.:]+)"$', blocks()["pyproject.toml"], flags=re.MULTILINE)
    offered = [EntryPoint(name, value, "scheduling_playground.plugins") for name, value in named]
    columnar = EntryPoint("Columnar", "blinking_lights_columns:ColumnarBlinkingLights", "scheduling_playground.plugins")
    assert "blinking_lights" in modules
    return built_in_registry().with_plugins(installed_plugins([*offered, columnar]))


class Attempts(Observer):
    def __init__(self) -> None:
        self.made: list[Attempt] = []

    def attempt(self, trace: Attempt) -> None:
        self.made.append(trace)


def schedule(registry: Registry, config: str) -> tuple[Scheduler, Attempts]:
    loaded = load(config, registry)
    assert loaded.effective is not None, loaded.errors
    attempts = Attempts()
    scheduler = Scheduler(loaded.effective, registry, start=0, seed=0, ties="smallest", observer=attempts)
    for name, lights in LIGHTS.items():
        labels = {} if lights is None else {"example.com/lights": lights}
        scheduler.cluster.create_admitted(make_node(name, labels=labels))
    scheduler.cluster.create_admitted(make_pod("p", schedulerName="default-scheduler", priority=0))
    scheduler.run_until_idle()
    return scheduler, attempts


@pytest.mark.parametrize("plugin", ["BlinkingLights", "ColumnarBlinkingLights"])
def test_the_brightest_node_wins(plugin: str, registry: Registry) -> None:
    scheduler, attempts = schedule(registry, blocks()["config.yaml"].replace("BlinkingLights", plugin))
    pod = scheduler.cluster.get(Pod, "default", "p")
    assert pod is not None
    assert pod.spec.node_name == "bright"
    (trace,) = attempts.made
    assert trace.filter is not None
    verdicts = {node: trace.filter.status(i) for i, node in enumerate(trace.filter.nodes)}
    for node in ("dark", "odd"):
        status = verdicts[node]
        assert status is not None
        assert (status.plugin, status.reasons) == (plugin, ("node(s) had too few blinking lights",))
    assert trace.scores is not None
    (scores,) = (each for each in trace.scores.plugins if each.plugin == plugin)
    names = [trace.filter.nodes[p] for p in trace.scores.positions.tolist()]
    assert dict(zip(names, scores.raw.tolist(), strict=True)) == {"dim": 1, "bright": 4}
    assert dict(zip(names, scores.normalized.tolist(), strict=True)) == {"dim": 25, "bright": 100}
    assert scores.weight == 5


def test_a_rejected_pod_is_tried_again_when_lights_go_on(registry: Registry) -> None:
    config = blocks()["config.yaml"].replace("minimum: 1", "minimum: 9")
    scheduler, attempts = schedule(registry, config)
    assert attempts.made[-1].unschedulable_plugins == ("BlinkingLights",)
    scheduler.cluster.replace(make_node("dim", labels={"example.com/lights": "2"}))
    scheduler.run_until_idle()
    assert len(attempts.made) == 1
    scheduler.cluster.replace(make_node("dim", labels={"example.com/lights": "9"}))
    scheduler.run_until_idle()
    assert attempts.made[-1].selected == "dim"


def test_arguments_are_checked_when_the_configuration_is_loaded(registry: Registry) -> None:
    loaded = load(blocks()["config.yaml"].replace("minimum: 1", "minimum: -1"), registry)
    (error,) = loaded.errors
    assert "minimum" in error.text
    loaded = load(blocks()["config.yaml"].replace("minimum: 1", "maximum: 1"), registry)
    assert "maximum" in loaded.errors[0].text


def node_calls(plugin: type[ScorePlugin], pods: int) -> int:
    """Calls of the plugin for ``pods`` equal pods, one after the other."""
    cluster = SmallCluster([make_node(f"n{i}") for i in range(9)], more=[plugin], points={"score": (plugin.name,)})
    for number in range(pods):
        assert cluster.schedule(make_pod(f"p{number}")).selected
    return cluster.scheduler.profiles["default-scheduler"].columns.work.node_calls


def test_the_promise_that_is_kept_saves_calls(modules: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = modules["promises"].FewPodsFirst
    node_calls(plugin, 8)  # verified
    by_default(monkeypatch, verify_reuse=0)
    assert node_calls(plugin, 8) - node_calls(plugin, 7) == 1


def test_the_promise_that_is_broken_is_found_with_the_second_pod(modules: dict[str, ModuleType]) -> None:
    plugin = modules["promises"].TakesTurns
    node_calls(plugin, 1)
    with pytest.raises(ReuseDiffers, match=r"TakesTurns: Score of default/p1 on node n\d"):
        node_calls(plugin, 2)


def plans(plugin: type[Plugin], pods: int) -> int:
    """Plans that were asked for, for ``pods`` equal pods, one after the other."""
    points: dict[str, Sequence[str]] = {"filter": (plugin.name,), "score": (plugin.name,)}
    nodes = [make_node(f"n{i}", labels={"example.com/lights": "1"}) for i in range(9)]
    cluster = SmallCluster(nodes, more=[plugin], points=points)
    for number in range(pods):
        assert cluster.schedule(make_pod(f"p{number}")).selected
    return cluster.scheduler.profiles["default-scheduler"].columns.work.plans


@pytest.mark.parametrize(
    ("module", "name", "asked"),
    [("blinking_lights_columns", "ColumnarBlinkingLights", 2), ("fragments", "ReusedBlinkingLights", 0)],
)
def test_with_a_fragment_plans_are_made_once(
    module: str, name: str, asked: int, modules: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = getattr(modules[module], name)
    plans(plugin, 8)  # verified
    by_default(monkeypatch, verify_reuse=0)
    assert plans(plugin, 8) - plans(plugin, 7) == asked


def test_the_page_names_every_class_to_derive_from() -> None:
    text = PAGE.read_text(encoding="utf-8")
    interface = importlib.import_module("framework.interface")
    bases = [name for name in interface.__all__ if name.endswith("Plugin") and name not in ("Plugin",)]
    missing = [name for name in bases if f"`{name}`" not in text]
    assert missing == []
