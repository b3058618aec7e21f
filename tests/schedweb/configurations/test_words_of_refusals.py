"""Everything by which a plugin of the catalogue can refuse a pod has a sentence of its own, and so has every hint.

What plugins can say is read from their code: a new refusal without words fails here.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import Final

import pytest

from framework.configuration import ExtensionPoint, load
from framework.interface.events import ActionType, ClusterEvent
from framework.objects import PodGroup
from framework.objects.catalogue import ElasticQuota, NodeResourceTopology
from framework.objects.kinds import TYPED_KINDS
from framework.objects.reservations import Reservation
from framework.plugins.loadaware.plugin import LOADS
from framework.plugins.registry import built_in_registry, installed_registry
from framework.scheduler import Observer, Scheduler
from framework.sentences import ENGLISH, in_words
from schedweb.engine.awaited import awaited, why_ignored
from schedweb.engine.words import SHORT_PLUGINS
from schedweb.runs.pending.answers import IN_SHORT
from schedweb.runs.pending.catalogue_answers import OVER_MAX, OVER_MIN, refused_by_group
from schedweb.runs.pending.catalogue_endings import (
    failed_by,
    refused_before_nodes,
    refused_on_its_node,
    told_by_post_filter,
)
from schedweb.runs.pending.claim_answers import refused_at_once
from tests.schedweb.configurations.test_shown_off import NOTHING, PLUGINS, entry_of

MANIFEST: Final = {"metadata": {"namespace": "lab", "name": "p", "labels": {"scheduling.x-k8s.io/pod-group": "ring"}}}
CALLS: Final = {"unschedulable", "unresolvable", "as_error", "reject"}
ON_NODES: Final = {
    "cannot align pod": "NodeResourceTopologyMatch",
    "cannot align init container": "NodeResourceTopologyMatch",
    "cannot align sidecar container": "NodeResourceTopologyMatch",
    "cannot align container": "NodeResourceTopologyMatch",
    "invalid node topology data": "NodeResourceTopologyMatch",
}
"""Of Filter: one sentence for all of them, and a count per plugin (``IN_SHORT``)."""
UNSEEN: Final = {
    # The pod, or a pod that was on the node a moment ago, is gone: nobody is left to be told.
    'pod "x" not found',
    'pods "x" not found',
    "no corresponding pod x in pods of node x",
    # Without nodes PostFilter is not reached.
    "no nodes available",
    # Of a dry run: the node is no candidate, as any other where nobody can leave.
    "eviction simulation in NRT is not possible:x",
    "No victims found on node x for preemptor pod x",
    # Of PostFilter, where nothing was to be done, or the pod may evict nobody.
    "",
    # Of Coscheduling.PreFilter, which has the text from where it is read below.
    "refusal",
    # Reasons of tables and of other modules, which these are held against one by one.
}


def modules_of(name: str) -> Iterator[ModuleType]:
    """The plugin's own: its module, and those beside it where it has a folder."""
    plugin = installed_registry().plugin_class(name)
    assert plugin is not None
    module = importlib.import_module(plugin.__module__)
    folder = module.__name__.rpartition(".")[0]
    if folder == "framework.plugins":
        yield module
        return
    for each in pkgutil.iter_modules(importlib.import_module(folder).__path__):
        yield importlib.import_module(f"{folder}.{each.name}")


def sample(node: ast.expr, module: ModuleType) -> str | None:
    """The text with x, or 3 where a number is meant, in place of what is filled in; None of what is no text here."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        parts = []
        for part in node.values:
            if isinstance(part, ast.Constant):
                parts.append(str(part.value))
            else:
                assert isinstance(part, ast.FormattedValue)
                parts.append(filled(part.value, module))
        return "".join(parts)
    if isinstance(node, ast.Name):
        found = getattr(module, node.id, None)
        return found if isinstance(found, str) else node.id
    return None


def filled(value: ast.expr, module: ModuleType) -> str:
    if isinstance(value, ast.Name):
        known = getattr(module, value.id, None)
        return str(known) if isinstance(known, str | int) else FILLED.get(value.id, "x")
    if isinstance(value, ast.IfExp):
        chosen = sample(value.body, module)
        return chosen if chosen is not None else "x"
    text = ast.unparse(value)
    return "3" if text.startswith("len(") or text.endswith("min_member") else "x"


FILLED: Final = {
    "bound": "max",
    "rejected": "because",
    "name": "x",
    "where": "3 nodes",
    "amounts": "cpu:{{2 0} {<nil>} DecimalSI}",
}


def said_by(name: str) -> set[str]:
    found: set[str] = set()
    for module in modules_of(name):
        tree = ast.parse(inspect.getsource(module))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CALLS:
                texts = [each for arg in node.args if (each := sample(arg, module)) is not None]
                # The plugin's name is the first of two arguments of `reject`.
                found.add(texts[-1] if texts else "")
            if isinstance(node, ast.FunctionDef) and node.name == "_refusal":
                returned = [each.value for each in ast.walk(node) if isinstance(each, ast.Return) and each.value]
                found |= {text for each in returned if (text := sample(each, module)) is not None}
    return found


def has_words(plugin: str, message: str) -> bool:
    return bool(
        refused_by_group(plugin, message)
        or refused_at_once(plugin, message, MANIFEST, NOTHING)
        or (plugin == "CapacityScheduling" and (OVER_MAX.search(message) or OVER_MIN.search(message)))
        or refused_before_nodes(plugin, message)
        or refused_on_its_node(plugin, message, "n1", MANIFEST)
        or told_by_post_filter(plugin, message, "lab/ring")
        or failed_by(message)
        or (ON_NODES.get(message) == plugin and plugin in IN_SHORT)
    )


@pytest.mark.parametrize("name", PLUGINS)
def test_everything_that_a_plugin_refuses_with_has_words(name: str) -> None:
    speechless = {each for each in said_by(name) - UNSEEN if not has_words(name, each)}
    assert speechless == set()


def test_refusals_are_found_in_the_code() -> None:
    assert said_by("Coscheduling") > {
        "PodGroup not found",
        "can not find pod group",
        "optimistic rejection in PostFilter",
        "rejection in Unreserve",
        "PodGroup x gets rejected due to Pod x is unschedulable even after PostFilter",
        "podGroup x failed recently",
    }
    assert 'networktopology "x" not found' in said_by("NetworkOverhead")
    assert "ElasticQuota x would use more x than its max" in said_by("ElasticQuotaTree")
    assert set().union(*map(said_by, PLUGINS)) > ({*ON_NODES} | UNSEEN) - {
        "refusal",
        "cannot align sidecar container",
        "cannot align init container",
    }


def test_every_sentence_is_another() -> None:
    told = [
        refused_on_its_node("Coscheduling", text, "n1", MANIFEST)
        for text in (
            "PodGroup not found",
            "optimistic rejection in PostFilter",
            "rejection in Unreserve",
            "rejected due to timeout after waiting 60s at plugin Coscheduling",
        )
    ]
    assert [each[0] if each else None for each in told] == [
        "n1 was chosen, but its PodGroup lab/ring does not exist.",
        "It lost n1, as another pod of its pod group lab/ring fits nowhere.",
        "It lost n1, as another pod of its pod group lab/ring lost its own.",
        "Its wait on n1 ran out: too few pods of its pod group lab/ring had a node by then.",
    ]
    assert all(each and each[1] for each in told), "what it waits for"
    assert refused_on_its_node("Another", "PodGroup not found", "n1", MANIFEST) is None
    # Of a pod that is in no group PostFilter says the same, and it has nothing to do with it.
    assert told_by_post_filter("Coscheduling", "can not find pod group", "") == ""


def test_a_victim_whose_class_is_missing_is_told_where_preemption_ends_with_it() -> None:
    """The attempt is no error then: the error is PostFilter's."""
    message = 'priorityclass.scheduling.k8s.io "gone" not found'
    told = told_by_post_filter("PreemptionToleration", message, "")
    assert told.startswith("PriorityClass gone of a pod of lower priority does not exist")


@pytest.mark.parametrize("name", PLUGINS)
def test_chips_have_a_short_word(name: str) -> None:
    points = entry_of(name).extension_points
    refuses = points & {ExtensionPoint.PRE_FILTER, ExtensionPoint.FILTER, ExtensionPoint.PERMIT, ExtensionPoint.RESERVE}
    assert not refuses or name in SHORT_PLUGINS


GATES: Final = "# kube-scheduler --feature-gates=GenericWorkload=true,GangScheduling=true"
TEXT: Final = """{gates}
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    queueSort: {{disabled: [{{name: '*'}}], enabled: [{{name: {sort}}}]}}
    multiPoint: {{enabled: [{named}]}}
"""
KINDS: Final = {kind.plural: kind.kind for kind in TYPED_KINDS}


def hints() -> dict[tuple[str, str], str]:
    """(plugin, kind of the object) of every registration with a hint of its own → the resource."""
    registry, found = built_in_registry(), {}
    for gates, name in itertools.product(("", GATES), registry.names()):
        sort = name if ExtensionPoint.QUEUE_SORT in entry_of(name).extension_points else "PrioritySort"
        named = "" if sort == name or name in ALWAYS else f"{{name: {name}}}"
        loaded = load(TEXT.format(gates=gates, sort=sort, named=named), registry)
        if loaded.effective is None:
            continue
        scheduler = Scheduler(loaded.effective, registry, start=0, seed=0, ties="smallest", observer=Observer())
        for profile in scheduler.profiles.values():
            for each in profile.hints.functions:
                if each.hint is not None:
                    resource = str(each.event.resource)
                    plural = resource.partition(".")[0]
                    kind = KINDS.get(plural, resource.rpartition("/")[2])
                    found[each.plugin, PODS.get(kind, kind)] = resource
    return found


ALWAYS: Final = {"PrioritySort", "DefaultBinder"}
PODS: Final = {"AssignedPod": "Pod", "UnschedulablePod": "Pod"}


def test_every_hint_says_why_it_does_not_help() -> None:
    found = hints()
    assert {plugin for plugin, _ in found} > {"NodeResourcesFit", "Reservation", "GangScheduling", "VolumeZone"}
    assert {each for each in found if "its hint said" in str(why_ignored(*each))} == set()


def test_plugins_of_the_catalogue_wait_for_kinds_by_their_names() -> None:
    events = {
        f"{kind.plural}.v1.example": f"{'an' if kind is ElasticQuota else 'a'} {kind.kind} changes"
        for kind in (PodGroup, ElasticQuota, NodeResourceTopology, Reservation)
    }
    for resource, words in events.items():
        assert in_words(awaited("Any", [ClusterEvent(resource, ActionType.UPDATE)]), ENGLISH) == words
    said = in_words(awaited("Any", [ClusterEvent(LOADS, ActionType.UPDATE)]), ENGLISH)
    assert said == "the measured load changes"
