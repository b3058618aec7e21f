"""What plugins write of events, as the log has it: one change of the cluster for a pod that waits, and its line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import pytest
from msgspec.structs import replace

from framework.cli.clusters import admitted_from
from framework.objects import KubeObject
from framework.objects.decode import decode_manifest
from framework.reports.log import SchedulerLog
from framework.scheduler import Cluster, Scheduler
from tests.reports.recorded import create, node, pod, scheduler_of, step_all, without_times

TAINT: Final = {"key": "a", "value": "b", "effect": "NoSchedule"}
TOLERATION: Final = {"key": "a", "operator": "Exists"}
CORDON: Final = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}
ZONE: Final = {"labels": {"zone": "a"}}


def labelled(manifest: dict[str, Any], **labels: str) -> dict[str, Any]:
    return {**manifest, "metadata": {**manifest["metadata"], "labels": labels}}


def with_spec(manifest: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {**manifest, "spec": {**manifest.get("spec", {}), **spec}}


def term(app: str) -> list[dict[str, Any]]:
    return [{"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": app}}}]


def near(app: str) -> dict[str, Any]:
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term(app)}}


def apart(app: str) -> dict[str, Any]:
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term(app)}}


def port(number: int) -> dict[str, Any]:
    manifest = pod("held", "1", nodeName="east")
    manifest["spec"]["containers"][0]["ports"] = [{"containerPort": number, "hostPort": number}]
    return manifest


def wanting(number: int) -> dict[str, Any]:
    manifest = port(number)
    manifest["metadata"]["name"] = "waits"
    del manifest["spec"]["nodeName"]
    return manifest


def spread(app: str) -> dict[str, Any]:
    constraint = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": app}},
    }
    return labelled(pod("waits", "1", topologySpreadConstraints=[constraint]), app=app)


EAST: Final = labelled(node("east"), zone="a")
WAITS: Final = pod("waits", "1")
BIG: Final = pod("waits", "64")


class Case(NamedTuple):
    there: list[dict[str, Any]]
    """What the cluster has when the pod ``waits`` is tried; the pod last."""
    change: dict[str, Any]
    """Added, put in place of the object of its name, or with ``deleted`` the object that goes."""
    line: str
    deleted: bool = False


CASES: Final = {
    "fit, node too small": Case(
        [EAST, BIG],
        node("west"),
        'fit.go:509] "node was created or updated, but it doesn\'t have enough resource(s) to accommodate this pod"'
        ' pod="default/waits" node="west"',
    ),
    "fit, node added": Case(
        [EAST, BIG],
        node("west", cpu="64"),
        'fit.go:514] "node was added and it might fit the pod\'s resource requests" pod="default/waits" node="west"',
    ),
    "fit, node no better": Case(
        [node("east"), pod("held", "2", nodeName="east"), WAITS],
        node("east", memory="16Mi"),
        'fit.go:509] "node was created or updated, but it doesn\'t have enough resource(s) to accommodate this pod"'
        ' pod="default/waits" node="east"',
    ),
    "fit, node with less": Case(
        [node("east"), pod("held", "2", nodeName="east"), WAITS],
        node("east", memory="4Gi"),
        "fit.go:519] \"node was updated, but haven't changed the pod's resource requestments fit assessment\""
        ' pod="default/waits" node="east"',
    ),
    "fit, node with more": Case(
        [node("east"), pod("held", "2", nodeName="east"), WAITS],
        node("east", cpu="8"),
        'fit.go:523] "node was updated, and may now fit the pod\'s resource requests" pod="default/waits" node="east"',
    ),
    "affinity, other node": Case(
        [EAST, pod("waits", "1", nodeSelector={"zone": "b"})],
        node("west"),
        "node_affinity.go:136] \"node was created or updated, but the pod's NodeAffinity doesn't match\""
        ' pod="default/waits" node="west"',
    ),
    "affinity, its node": Case(
        [EAST, pod("waits", "1", nodeSelector={"zone": "b"})],
        labelled(node("west"), zone="b"),
        'node_affinity.go:141] "node was created, and matches with the pod\'s NodeAffinity"'
        ' pod="default/waits" node="west"',
    ),
    "affinity, changed node": Case(
        [EAST, pod("waits", "1", nodeSelector={"zone": "b"})],
        labelled(node("east"), zone="b"),
        'node_affinity.go:154] "node was updated and the pod\'s NodeAffinity changed to matched"'
        ' pod="default/waits" node="east"',
    ),
    "taint, still": Case(
        [with_spec(EAST, taints=[TAINT]), WAITS],
        with_spec(node("west"), taints=[TAINT]),
        "taint_toleration.go:114] \"node was created or updated, but it doesn't change the TaintToleration plugin's"
        ' decision" pod="default/waits" node="west"',
    ),
    "taint, gone": Case(
        [with_spec(EAST, taints=[TAINT]), WAITS],
        EAST,
        'taint_toleration.go:110] "node was created or updated, and this may make the Pod rejected by TaintToleration'
        ' plugin in the previous scheduling cycle schedulable" pod="default/waits" node="east"',
    ),
    "taint, tolerated": Case(
        [with_spec(EAST, taints=[TAINT]), WAITS],
        pod("waits", "1", tolerations=[TOLERATION]),
        'taint_toleration.go:237] "a new toleration is added for the unschedulable Pod, and it may make it schedulable"'
        ' pod="default/waits"',
    ),
    "cordon, other node": Case(
        [with_spec(EAST, unschedulable=True), WAITS],
        with_spec(node("west"), unschedulable=True),
        'node_unschedulable.go:125] "node was created or updated, but it doesn\'t make this pod schedulable"'
        ' pod="default/waits" node="west"',
    ),
    "cordon, gone": Case(
        [with_spec(EAST, unschedulable=True), WAITS],
        EAST,
        'node_unschedulable.go:121] "node was created or updated, pod may be schedulable now"'
        ' pod="default/waits" node="east"',
    ),
    "cordon, tolerated": Case(
        [with_spec(EAST, unschedulable=True), WAITS],
        pod("waits", "1", tolerations=[CORDON]),
        'node_unschedulable.go:95] "a new toleration is added for the unschedulable Pod, and it may make it'
        ' schedulable" pod="default/waits"',
    ),
    "ports, freed": Case(
        [EAST, port(80), wanting(80)],
        port(80),
        'node_ports.go:157] "the deleted pod and the target pod have any common port(s), returning Queue as deleting'
        ' this Pod may make the Pod schedulable" pod="default/waits" deletedPod="default/held"',
        deleted=True,
    ),
    "near, matching pod": Case(
        [EAST, pod("waits", "1", affinity=near("a"))],
        labelled(pod("other", "1", nodeName="east"), app="a"),
        'plugin.go:224] "a scheduled pod was added and it matches the target pod\'s affinity"'
        ' pod="default/waits" modifiedPod="default/other"',
    ),
    "near, other pod": Case(
        [EAST, pod("waits", "1", affinity=near("a"))],
        labelled(pod("other", "1", nodeName="east"), app="b"),
        "plugin.go:228] \"a scheduled pod was added and it doesn't match the target pod's affinity\""
        ' pod="default/waits" modifiedPod="default/other"',
    ),
    "near, node of a zone": Case(
        [EAST, pod("waits", "1", affinity=near("a"))],
        labelled(node("west"), zone="b"),
        'plugin.go:275] "A node with a matched pod affinity topologyKey was added and it may make the pod schedulable"'
        ' pod="default/waits" node="west"',
    ),
    "near, other zone": Case(
        [EAST, pod("waits", "1", affinity=near("a"))],
        labelled(node("east"), zone="b"),
        'plugin.go:293] "A node is moved to a different domain of pod affinity, which may make the pod schedulable"'
        ' pod="default/waits" node="east"',
    ),
    "near, node without zone": Case(
        [EAST, pod("waits", "1", affinity=near("a"))],
        node("west"),
        "plugin.go:339] \"a node is added/updated but doesn't have any topologyKey which matches pod"
        ' affinity/anti-affinity" pod="default/waits" node="west"',
    ),
    "apart, zone taken off": Case(
        [EAST, labelled(pod("held", "1", nodeName="east"), app="a"), pod("waits", "1", affinity=apart("a"))],
        node("east"),
        'plugin.go:327] "A node got updated to not have the topology key of pod anti-affinity, which may make the pod'
        ' schedulable" pod="default/waits" node="east"',
    ),
    "apart, pod gone": Case(
        [EAST, labelled(pod("held", "1", nodeName="east"), app="a"), pod("waits", "1", affinity=apart("a"))],
        pod("held", "1"),
        "plugin.go:236] \"a scheduled pod was deleted and it matches the target pod's anti-affinity. The pod may be"
        ' schedulable now" pod="default/waits" originalPod="default/held"',
        deleted=True,
    ),
    "apart, relabelled": Case(
        [EAST, labelled(pod("held", "1", nodeName="east"), app="a"), pod("waits", "1", affinity=apart("a"))],
        labelled(pod("held", "1", nodeName="east"), app="b"),
        "plugin.go:212] \"a scheduled pod was updated not to match the target pod's anti affinity, and the pod may be"
        ' schedulable now" pod="default/waits" modifiedPod="default/held"',
    ),
    "kept away, pod gone": Case(
        [
            EAST,
            pod("held", "1", nodeName="east", affinity=apart("a")),
            labelled(WAITS, app="a"),
        ],
        pod("held", "1"),
        "plugin.go:246] \"a scheduled pod was deleted and the target pod matches the deleted pod's anti-affinity. The"
        ' pod may be schedulable now" pod="default/waits" originalPod="default/held"',
        deleted=True,
    ),
    "spread, node of a zone": Case(
        [node("east"), spread("a")],
        labelled(node("west"), zone="b"),
        'plugin.go:350] "the created node matches topology spread constraints, and the pod may be schedulable now"'
        ' pod="default/waits" node="west"',
    ),
    "spread, node without": Case(
        [node("east"), spread("a")],
        node("west"),
        'plugin.go:346] "the created node doesn\'t match pod topology spread constraints"'
        ' pod="default/waits" node="west"',
    ),
    "spread, node moved": Case(
        [node("east"), spread("a")],
        EAST,
        'plugin.go:332] "the node is updated and now pod topology spread constraints has changed, and the pod may be'
        ' schedulable now" pod="default/waits" node="east" originalMatching=false newMatching=true',
    ),
    "spread, matching pod": Case(
        [node("east"), spread("a")],
        labelled(pod("other", "1", nodeName="east"), app="a"),
        'plugin.go:255] "a scheduled pod was created and it matches with the pod\'s topology spread constraints"'
        ' pod="default/waits" createdPod="default/other"',
    ),
    "spread, other namespace": Case(
        [node("east"), spread("a")],
        {**pod("other", "1", nodeName="east"), "metadata": {"name": "other", "namespace": "elsewhere"}},
        'plugin.go:213] "the added/updated/deleted pod is unscheduled or has different namespace with target pod, so it'
        ' doesn\'t make the target pod schedulable" pod="default/waits" originalPod=""',
    ),
}


def started(there: list[dict[str, Any]], verbosity: int) -> tuple[Scheduler, list[str]]:
    entries: list[str] = []
    log = SchedulerLog(entries.append, verbosity)
    scheduler = scheduler_of(log)
    log.start(scheduler)
    for manifest in there:
        create(scheduler.cluster, manifest)
    step_all(scheduler)
    return scheduler, entries


def changed(cluster: Cluster, manifest: dict[str, Any], *, deleted: bool) -> None:
    wanted = admitted_from("test", decode_manifest(manifest), cluster)
    known = cluster.get(type(wanted), wanted.metadata.namespace, wanted.metadata.name)
    if deleted:
        assert known is not None
        cluster.delete(known)
    elif known is None:
        create(cluster, manifest)
    else:
        _put(cluster, known, manifest)


def _put(cluster: Cluster, known: KubeObject, manifest: dict[str, Any]) -> None:
    made = admitted_from("test", decode_manifest(manifest), cluster)
    cluster.replace(replace(made, metadata=replace(made.metadata, uid=known.metadata.uid)))


@pytest.mark.parametrize("case", CASES)
def test_the_line_of_an_event(case: str) -> None:
    there, change, line, deleted = CASES[case]
    scheduler, entries = started(there, 5)
    assert any('"Unable to schedule pod; no fit; waiting" pod="default/waits"' in entry for entry in entries)
    before = len(entries)
    changed(scheduler.cluster, change, deleted=deleted)
    assert line in without_times(entries[before:])


def _lines(of: Callable[[str], bool], entries: list[str]) -> list[str]:
    return [line for line in without_times(entries) if of(line)]


def test_a_pod_whose_plugins_wait_for_nothing_of_the_kind_is_not_made_schedulable() -> None:
    scheduler, entries = started([EAST, BIG], 5)
    before = len(entries)
    create(scheduler.cluster, pod("other", "1", nodeName="east"))
    assert _lines(lambda line: "Event is not" in line, entries[before:]) == [
        'scheduling_queue.go:1325] "Event is not making pod schedulable" pod="default/waits" event="AssignedPodAdd"'
    ]


def test_a_gated_pod_hears_of_nothing() -> None:
    gated = pod("waits", "1", schedulingGates=[{"name": "example.com/gate"}])
    scheduler, entries = started([EAST, gated], 5)
    before = len(entries)
    create(scheduler.cluster, pod("other", "1", nodeName="east"))
    assert _lines(lambda line: "default/waits" in line, entries[before:]) == []


def test_lines_of_events_begin_at_level_4_and_cost_nothing_below() -> None:
    log = SchedulerLog(lambda _: None, 3)
    assert not log.hears_hints
    assert SchedulerLog(lambda _: None, 4).hears_hints


def test_what_comes_during_a_cycle_is_looked_at_when_the_pod_comes_back() -> None:
    entries: list[str] = []
    log = SchedulerLog(entries.append, 5)
    scheduler = scheduler_of(log)
    log.start(scheduler)
    create(scheduler.cluster, EAST)
    create(scheduler.cluster, BIG)
    scheduler.step_point()
    create(scheduler.cluster, node("west"))
    create(scheduler.cluster, node("large", cpu="64"))
    step_all(scheduler)
    lines = without_times(entries)
    assert [line for line in lines if "in flight" in line or "in-flight" in line][:5] == [
        'scheduling_queue.go:1343] "Event received while pods are in flight" event="NodeAdd"',
        'scheduling_queue.go:1343] "Event received while pods are in flight" event="NodeAdd"',
        'active_queue.go:403] "Checking events for in-flight pod" pod="default/waits"'
        ' unschedulablePlugins={"NodeResourcesFit":{}} inFlightEventsSize=3 inFlightPodsSize=1',
        'scheduling_queue.go:841] "Checking event for in-flight pod" pod="default/waits" event="NodeAdd"',
        'scheduling_queue.go:841] "Checking event for in-flight pod" pod="default/waits" event="NodeAdd"',
    ]
    checks = lines.index(
        'scheduling_queue.go:841] "Checking event for in-flight pod" pod="default/waits" event="NodeAdd"'
    )
    assert lines[checks + 1].startswith("fit.go:509]")
    assert lines[checks + 3].startswith("fit.go:514]")


def test_a_pending_pod_that_is_changed_says_where_it_moves() -> None:
    scheduler, entries = started([with_spec(EAST, taints=[TAINT]), WAITS], 5)
    before = len(entries)
    changed(scheduler.cluster, pod("waits", "1", tolerations=[TOLERATION]), deleted=False)
    assert without_times(entries[before:])[-1] == (
        'scheduling_queue.go:1160] "Pod moved to an internal scheduling queue because the Pod is updated"'
        ' pod="default/waits" event="UnschedulablePodUpdatePodToleration" queue="Backoff"'
    )
