"""ElasticQuotaTree: shares against a naive way of sharing out, and runs that lend, take back and wait."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from framework.objects import KubeObject, ObjectMeta, Pod
from framework.objects.catalogue import (
    QUOTA_LENDS,
    QUOTA_NAME,
    QUOTA_PARENT,
    QUOTA_WEIGHT,
    ElasticQuota,
    ElasticQuotaSpec,
)
from framework.plugins.quotatree.shares import Claim, shared_out
from framework.plugins.quotatree.tree import QuotaTree, counted_of
from tests.builders import make_node, make_pod
from tests.plugins.playing import Play

CONFIGURATION = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: ElasticQuotaTree}]}}
"""


def quota(
    name: str, least: int, most: int | None, *, parent: str = "", weight: int | None = None, lends: bool = True
) -> ElasticQuota:
    """Of cpu; its pods are those of the namespace of its name."""
    labels = {**({QUOTA_PARENT: parent} if parent else {}), **({} if lends else {QUOTA_LENDS: "false"})}
    annotations = {} if weight is None else {QUOTA_WEIGHT: json.dumps({"cpu": weight})}
    return ElasticQuota(
        metadata=ObjectMeta(namespace=name, name=name, uid=f"q-{name}", labels=labels, annotations=annotations),
        spec=ElasticQuotaSpec(min={"cpu": str(least)}, max=None if most is None else {"cpu": str(most)}),
    )


def pods(namespace: str, count: int, cpu: str = "1", **more: Any) -> list[Pod]:
    return [make_pod(f"{namespace}-{i}", namespace=namespace, requests={"cpu": cpu}, **more) for i in range(count)]


def naively(amount: int, claims: list[Claim]) -> list[Fraction]:
    """Gives the rest out in rounds, by weight, until nobody wants more or nothing is left."""
    shares = [Fraction(min(each.asked, each.least) if each.lends else each.least) for each in claims]
    left = max(Fraction(0), amount - sum(shares))
    while left > 0:
        wanting = [i for i, each in enumerate(claims) if each.asked > shares[i] and each.weight]
        if not wanting:
            break
        weights, round_ = sum(claims[i].weight for i in wanting), left
        for i in wanting:
            more = min(claims[i].asked - shares[i], round_ * Fraction(claims[i].weight, weights))
            shares[i] += more
            left -= more
        if all(claims[i].asked > shares[i] for i in wanting):
            break
    return shares


CLAIM = st.builds(Claim, st.integers(0, 60), st.integers(0, 30), st.integers(0, 5), st.booleans())


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 100), st.lists(CLAIM, max_size=6))
def test_shares_are_those_of_giving_out_in_rounds(amount: int, claims: list[Claim]) -> None:
    shares = shared_out(amount, claims)
    for share, want in zip(shares, naively(amount, claims), strict=True):
        assert abs(share - want) <= len(claims)
    for share, each in zip(shares, claims, strict=True):
        guaranteed = min(each.asked, each.least) if each.lends else each.least
        assert guaranteed <= share <= max(each.asked, guaranteed)
    least = sum(min(each.asked, each.least) if each.lends else each.least for each in claims)
    assert sum(shares) <= max(amount, least)
    # As much as can be is given out: what is left is less than one unit for each.
    if any(each.weight and share < each.asked for share, each in zip(shares, claims, strict=True)):
        assert sum(shares) > amount - max(1, len(claims))


NAMES = ("a", "b", "c", "d", "e")


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_tree_that_was_changed_step_by_step_is_one_that_was_made_at_once(data: st.DataObject) -> None:
    stepwise = QuotaTree()
    quotas: dict[str, ElasticQuota] = {}
    counted: dict[str, tuple[Pod, bool]] = {}
    nodes: dict[str, Any] = {}
    for _ in range(data.draw(st.integers(1, 12))):
        name = data.draw(st.sampled_from(NAMES))
        match data.draw(st.sampled_from(["quota", "no quota", "pod", "no pod", "node"])):
            case "quota":
                parent = data.draw(st.sampled_from(["", *NAMES]))
                quotas[name] = quota(name, data.draw(st.integers(0, 5)), data.draw(st.integers(5, 20)), parent=parent)
                stepwise.set_quota(name, name, quotas[name])
            case "no quota":
                quotas.pop(name, None)
                stepwise.set_quota(name, name, None)
            case "pod":
                uid, placed = data.draw(st.sampled_from(["1", "2", "3"])), data.draw(st.booleans())
                pod = make_pod(uid, namespace=name, requests={"cpu": str(data.draw(st.integers(1, 9)))})
                counted[uid] = (pod, placed)
                stepwise.set_pod(uid, counted_of(pod, placed=placed))
            case "no pod":
                counted.pop("1", None)
                stepwise.set_pod("1", None)
            case "node":
                nodes[name] = make_node(name, cpu=str(data.draw(st.integers(1, 9))))
                stepwise.set_node(name, nodes[name])
        if data.draw(st.booleans()):
            _ = stepwise.shares
    anew = QuotaTree()
    for name, known in quotas.items():
        anew.set_quota(name, name, known)
    for name, node in nodes.items():
        anew.set_node(name, node)
    for uid, (pod, placed) in counted.items():
        anew.set_pod(uid, counted_of(pod, placed=placed))
    assert stepwise.shares == anew.shares
    for name in quotas:
        assert stepwise.used(name, "cpu") == anew.used(name, "cpu")
        asked = make_pod("x", namespace=name, requests={"cpu": "2"})
        short = stepwise.short("x", counted_of(asked, placed=False))
        assert short == anew.short("x", counted_of(asked, placed=False))
        # Said otherwise: it fits into max and share of every quota on the way up.
        for each in stepwise.chain(counted_of(asked, placed=False)):
            most = stepwise.quota(each).most["cpu"]
            assert short is not None or stepwise.used(each, "cpu") + 2000 <= most


def play(objects: list[KubeObject], *, cpu: str = "20") -> Play:
    game = Play(CONFIGURATION, [make_node("n-0", cpu=cpu), *objects])
    game.cycles()
    return game


def bound_of(game: Play, namespace: str) -> int:
    return sum(name.startswith(f"{namespace}-") for name in game.bound)


def test_the_rest_goes_by_weight_and_what_is_guaranteed_comes_first() -> None:
    quotas: list[KubeObject] = [
        quota("team", 0, 12),
        quota("a", 2, 12, parent="team", weight=3),
        quota("b", 2, 12, parent="team", weight=1),
    ]
    game = play([*quotas, *pods("b", 12), *pods("a", 12)])
    # 2 and 2 are guaranteed; 8 of the 12 of the team are left, 6 and 2 of them by weight.
    assert (bound_of(game, "a"), bound_of(game, "b")) == (8, 4)


def test_what_nobody_asks_for_is_lent_and_comes_back_when_its_owner_asks() -> None:
    quotas: list[KubeObject] = [quota("a", 10, 20), quota("b", 10, 20)]
    game = play([*quotas, *pods("a", 24)])
    assert bound_of(game, "a") == 20
    game.create(*pods("b", 3))
    game.cycles()
    assert bound_of(game, "b") == 0  # the node is full, and nobody is evicted
    # Who goes from the borrower makes room for the owner, not for the borrower.
    for i in range(2):
        gone = game.scheduler.cluster.get(Pod, "a", f"a-{i}")
        assert gone is not None
        game.scheduler.cluster.delete(gone)
    game.seconds(20)
    assert (bound_of(game, "a"), bound_of(game, "b")) == (18, 2)


def test_what_is_not_lent_stays_free() -> None:
    game = play([quota("a", 10, 20, lends=False), quota("b", 0, 20), *pods("b", 20)])
    assert bound_of(game, "b") == 10


def test_a_refused_pod_says_where_it_is_short_and_comes_back_when_there_is_room_only() -> None:
    game = play([quota("team", 0, 3), quota("a", 0, 9, parent="team"), *pods("a", 4)])
    assert (bound_of(game, "a"), game.unschedulable) == (3, {"a-3"})
    waiting = game.scheduler.cluster.get(Pod, "a", "a-3")
    assert waiting is not None
    said = next(each.message for each in waiting.status.conditions if each.type == "PodScheduled")
    assert "ElasticQuota team would use more cpu than its max" in said
    attempts = len(game.seen.attempts)
    game.create(make_node("n-1"))
    game.scheduler.cluster.replace(quota("a", 1, 9, parent="team"))
    game.seconds(20)
    assert len(game.seen.attempts) == attempts  # neither helps
    game.scheduler.cluster.replace(quota("team", 0, 4))
    game.seconds(20)
    assert bound_of(game, "a") == 4


@pytest.mark.parametrize(("label", "bound"), [("a", 2), ("none", 4)])
def test_a_label_says_whose_a_pod_is(label: str, bound: int) -> None:
    labelled = [
        replace(each, metadata=replace(each.metadata, namespace="x", labels={QUOTA_NAME: label}))
        for each in pods("a", 4)
    ]
    assert bound_of(play([quota("a", 0, 2), *labelled]), "a") == bound


def test_quotas_in_a_circle_have_no_leaf_and_limit_nobody() -> None:
    game = play([quota("a", 0, 2, parent="b"), quota("b", 0, 9, parent="a"), *pods("a", 4)])
    assert bound_of(game, "a") == 4
