"""Preemption explained: candidates and why each lost, who had to go for whom, what a victim's page says."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import User
from django.test import Client

from framework.configuration.presets import preset
from framework.interface import Code, Status
from framework.preemption.proposals import REJECTED
from framework.trace.attempt import AttemptTrace, CandidateNode, PostFilterOutcome
from schedweb.runs.attempts.preemptions import headline, lost_words
from schedweb.runs.models import Attempt
from tests.schedweb.engine.crowded import VICTIMS, low, of_priority
from tests.schedweb.engine.worlds import Manifest, node, pod
from tests.schedweb.runs.conftest import Game, played_out, prepared
from tests.schedweb.runs.test_api import check_shape, get

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def preempted(operator: User) -> Game:
    """Played to its end: vip takes the place of cheap on b."""
    return played_out(operator, VICTIMS)


def test_candidates_and_the_criterion_by_which_each_lost(preempted: Game, client: Client) -> None:
    path = "/api/v1/runs/{run}/attempts/{number}/preemption/"
    body = get(client, f"/api/v1/runs/{preempted.id}/attempts/1/preemption/")
    check_shape(path, body)
    assert body["headline"] == (
        "1 pod had to leave b, the best of 3 candidates by lowest priority of the most important victim."
    )
    told = [
        (each["node"], [(one["name"], one["priority"]) for one in each["victims"]], each["lost_text"])
        for each in body["candidates"]
    ]
    assert told == [
        ("b", [("cheap", 1)], ""),
        ("c", [("dear", 50)], "a victim of priority 50, 1 on the chosen node"),
        ("a", [("kept", 0)], "1 budget violated, 0 on the chosen node"),
    ]
    assert [each["chosen"] for each in body["candidates"]] == [True, False, False]
    groups = {each["kind"]: (each["reason"], each["nodes"]) for each in body["groups"]}
    # `small` is too small whoever leaves, which Filter says itself (UnschedulableAndUnresolvable).
    assert groups == {
        "not_helpful": ("Preemption is not helpful for scheduling", ["e", "small"]),
        "no_victims": ("No preemption victims found for incoming pod", ["d"]),
    }
    second = get(client, f"/api/v1/runs/{preempted.id}/attempts/1/preemption/?offset=1&limit=1")
    assert [each["node"] for each in second["candidates"]] == ["c"]


def test_an_eviction_that_is_proposed_is_no_failure(operator: User, client: Client) -> None:
    chosen = preset("evictions")
    assert chosen is not None
    game = played_out(operator, VICTIMS, configuration=chosen.text)
    body = get(client, f"/api/v1/runs/{game.id}/attempts/1/preemption/")
    assert (body["nominated"], body["headline"]) == (
        None,
        "A person is asked whether 1 pod is to be evicted for room on b.",
    )


def test_who_preempted_whom_over_the_run(preempted: Game, client: Client) -> None:
    body = get(client, f"/api/v1/runs/{preempted.id}/preemptions/")
    check_shape("/api/v1/runs/{run}/preemptions/", body)
    [row] = body["results"]
    assert (row["pod"]["name"], row["pod"]["priority"]) == ("vip", 100)
    assert (row["victim"]["name"], row["victim"]["priority"], row["node"], row["number"]) == ("cheap", 1, "b", 1)
    for name, count in (("shop/vip", 1), ("shop/cheap", 1), ("shop/dear", 0)):
        assert get(client, f"/api/v1/runs/{preempted.id}/preemptions/?pod={name}")["count"] == count
    feed = get(client, f"/api/v1/runs/{preempted.id}/feed/?pod=shop/cheap")
    told = ["".join(part["v"] for part in item["parts"]) for item in feed if item["kind"] == "preemption"]
    assert told == ["shop/vip preempted shop/cheap on b."]


def test_room_that_was_kept_for_a_nominated_pod_is_in_use_for_who_comes_after(operator: User, client: Client) -> None:
    late = of_priority(pod("late", "2"), 100)
    late["metadata"]["creationTimestamp"] = "2026-02-01T00:00:00Z"
    game = played_out(operator, [*VICTIMS, late])
    first = get(client, f"/api/v1/runs/{game.id}/attempts/?pod=shop/late")["results"][-1]
    assert first["number"] == 2, "late was tried while vip was nominated"
    body = get(client, f"/api/v1/runs/{game.id}/attempts/2/filter/")
    nodes = {node["name"]: node for group in body["groups"] for node in group["nodes"]}
    assert nodes["b"]["note"] == "Room is kept for shop/vip, nominated to this node."
    assert nodes["b"]["resources"][0]["short"] > 0
    assert "note" not in nodes["c"]
    vips = get(client, f"/api/v1/runs/{game.id}/attempts/1/filter/")
    assert all("note" not in node for group in vips["groups"] for node in group["nodes"])


def test_nodes_say_which_taint_and_which_label_it_was(operator: User, client: Client) -> None:
    taints = [{"key": "team", "value": "infra", "effect": "NoSchedule"}, {"key": "ok", "effect": "NoExecute"}]
    tainted = node("tainted", "8")
    tainted["spec"] = {"taints": taints}
    plain = node("plain", "8")
    asking = pod("asking", "1")
    asking["spec"]["tolerations"] = [{"key": "ok", "operator": "Exists"}]
    asking["spec"]["nodeSelector"] = {"disk": "ssd", "name": "plain"}
    plain["metadata"]["labels"] = {"name": "plain"}
    game = played_out(operator, [tainted, plain, asking])
    body = get(client, f"/api/v1/runs/{game.id}/attempts/1/filter/")
    told = {node["name"]: node.get("remark") for group in body["groups"] for node in group["nodes"]}
    assert told == {"tainted": "team=infra:NoSchedule", "plain": "no label disk, name=plain"}


def test_a_victims_page_says_by_whom_and_why(preempted: Game, client: Client) -> None:
    victim = get(client, f"/api/v1/runs/{preempted.id}/pods/shop/cheap/")
    assert victim["column"] == "deleted"
    assert victim["answer"]["headline"] == "Preempted by shop/vip, which fitted nowhere."
    assert victim["answer"]["detail"] == "Its priority is 1, that of vip 100; without it there is room on b."
    assert victim["preempted_by"]["number"] == 1
    assert [event["text"] for event in victim["journey"]["events"]][-1] == "Preempted by shop/vip"
    winner = get(client, f"/api/v1/runs/{preempted.id}/pods/shop/vip/")
    assert (winner["node"], winner["preempted_by"]) == ("b", None)


def test_objects_besides_pods_and_nodes_are_listed(preempted: Game, client: Client) -> None:
    body = get(client, f"/api/v1/runs/{preempted.id}/objects/?kind=PodDisruptionBudget")
    check_shape("/api/v1/runs/{run}/objects/", body)
    assert body["kinds"] == [{"kind": "PodDisruptionBudget", "group": "policy", "count": 1}]
    [row] = body["results"]
    assert (row["namespace"], row["name"], row["state"]) == ("shop", "kept", "0 disruptions allowed")
    at = f"/api/v1/runs/{preempted.id}/objects/yaml/?kind=PodDisruptionBudget"
    assert "app: kept" in get(client, f"{at}&namespace=shop&name=kept")["yaml"]
    missing = get(client, f"{at}&namespace=shop&name=other", want=404)
    assert missing["error"]["message"] == "This run has no PodDisruptionBudget shop/other."


CHOSEN = CandidateNode("b", ("s/x", "s/y"), 0, "", (5, 1))


@pytest.mark.parametrize(
    ("lost_by", "priorities", "violations", "words"),
    [
        ("fewest PodDisruptionBudget violations", (5, 1), 2, "2 budgets violated, 0 on the chosen node"),
        ("lowest priority of the most important victim", (1000, 1), 0, "a victim of priority 1,000, 5 on the chosen"),
        ("smallest sum of victims' priorities", (5, 4), 0, "victims' priorities add up to 9, 6 on the chosen node"),
        ("smallest sum of victims' priorities", (5, 1, 0), 0, "3 victims, 2 on the chosen node"),
        ("fewest victims", (5, 1, 0), 0, "3 victims, 2 on the chosen node"),
        ("latest start of the most important victims", (5, 1), 0, "its most important victim has run longer than"),
    ],
)
def test_the_criterion_with_both_numbers(
    lost_by: str, priorities: tuple[int, ...], violations: int, words: str
) -> None:
    victims = tuple(f"s/v{place}" for place in range(len(priorities)))
    assert lost_words(CandidateNode("a", victims, violations, lost_by, priorities), CHOSEN).startswith(words)


def test_what_is_said_without_a_candidate() -> None:
    trace = AttemptTrace("s/p", "u", "default-scheduler", 1, 1, 0)
    said = Status(Code.UNSCHEDULABLE, ("preemption: not eligible due to preemptionPolicy=Never.",), "DefaultPreemption")
    trace.post_filter = (PostFilterOutcome("DefaultPreemption", said, None, (), (), ()),)
    assert headline(trace, None) == "Not eligible due to preemptionPolicy=Never."
    rejected = Status(Code.UNSCHEDULABLE, (f"preemption: {REJECTED} olga: no",), "DefaultPreemption")
    outcome = PostFilterOutcome("DefaultPreemption", rejected, "", (), (), ())
    assert headline(trace, outcome) == "The eviction that would make room was rejected by olga: no."


PREFIX = "preemption-toleration.scheduling.x-k8s.io/"


def sparing(name: str, value: int, minimum: int, seconds: int) -> Manifest:
    said = {f"{PREFIX}minimum-preemptable-priority": str(minimum), f"{PREFIX}toleration-seconds": str(seconds)}
    head = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
    return {**head, "metadata": {"name": name, "annotations": said}, "value": value}


def of_class(manifest: Manifest, name: str, priority: int) -> Manifest:
    spec = {**manifest["spec"], "priority": priority, "priorityClassName": name}
    return {**manifest, "spec": spec}


def test_who_is_spared_and_for_how_long_is_told(operator: User, client: Client) -> None:
    """patient tolerates for ten minutes since it was bound here, stubborn for good."""
    chosen = preset("toleration")
    assert chosen is not None
    objects = [
        *map(node, "abc"),
        sparing("patient", 10, 1000, 600),
        sparing("stubborn", 20, 1000, -1),
        of_class(pod("slow", "4"), "patient", 10),
        of_class(pod("rock", "4", node_name="b"), "stubborn", 20),
        low("equal", "c", 100, "4"),
        {**sparing("urgent", 100, 101, 0), "metadata": {"name": "urgent"}},
    ]
    game = prepared(operator, objects, configuration=chosen.text)
    game.command("step", what="cycle")
    game.play()
    game.command("pod_add", manifest=json.dumps(of_class(pod("vip", "3"), "urgent", 100)))
    game.command("play", speed="max")
    game.play()
    number = Attempt.objects.filter(run=game.run, name="vip").order_by("number")[0].number
    path = f"/api/v1/runs/{game.id}/attempts/{number}/preemption/"
    body = get(client, path)
    check_shape("/api/v1/runs/{run}/attempts/{number}/preemption/", body)
    assert (body["plugin"], body["nominated"], body["spared_count"]) == ("PreemptionToleration", None, 2)
    slow, rock = body["spared"]
    assert (slow["name"], slow["node"], slow["priority"]) == ("slow", "a", 10)
    assert slow["text"].startswith(
        "Its PriorityClass patient spares it from priorities below 1,000 for 600 s after it was"
    )
    assert rock["text"] == "Its PriorityClass stubborn spares it from priorities below 1,000 for good."
    detail = get(client, f"/api/v1/runs/{game.id}/pods/shop/vip/")["answer"]["detail"]
    assert "2 pods of lower priority are spared by their PriorityClasses, shop/slow for the shortest time: " in detail


def test_victims_on_two_nodes_are_shown_with_their_nodes(operator: User, client: Client) -> None:
    """Zone a has a pod of lower priority on each of two nodes, zone b no room: DefaultPreemption finds nobody."""
    chosen = preset("cross-node")
    assert chosen is not None
    away = [{"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "web"}}}]
    vip = of_priority(pod("vip", "1"), 100)
    vip["spec"]["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": away}}
    objects: list[Manifest] = [vip, of_priority(pod("stays", "8", node_name="n3"), 1000)]
    for name, zone in (("n1", "a"), ("n2", "a"), ("n3", "b")):
        objects.append(node(name, "8"))
        objects[-1]["metadata"]["labels"] = {"zone": zone}
    for name, on in (("one", "n1"), ("two", "n2")):
        objects.append(of_priority(pod(name, "1", node_name=on), 1))
        objects[-1]["metadata"]["labels"] = {"app": "web"}
    game = prepared(operator, objects, configuration=chosen.text)
    game.command("play", speed="max")
    game.play()
    path = f"/api/v1/runs/{game.id}/attempts/1/"
    body = get(client, f"{path}preemption/")
    check_shape("/api/v1/runs/{run}/attempts/{number}/preemption/", body)
    assert (body["plugin"], body["nominated"]) == ("CrossNodePreemption", "n1")
    assert body["headline"] == "2 pods had to leave for room on n1; 1 other candidate was equal."
    told = {each["node"]: [(one["name"], one["node"]) for one in each["victims"]] for each in body["candidates"]}
    assert told == {"n1": [("one", ""), ("two", "n2")], "n2": [("one", "n1"), ("two", "")]}
    assert [(each["kind"], each["nodes"]) for each in body["groups"]] == [("no_set", ["n3"])]
    assert [(each["name"], each["node"]) for each in get(client, path)["victims"]] == [("one", "n1"), ("two", "n2")]
    feed = get(client, f"/api/v1/runs/{game.id}/feed/?pod=shop/two")
    said = ["".join(part["v"] for part in item["parts"]) for item in feed if item["kind"] == "preemption"]
    assert said == ["shop/vip preempted shop/one, shop/two on several nodes, for room on n1."]
