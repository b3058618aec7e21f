"""Counts per topology domain: what they give, what they say has changed, and that nobody walks over pods for them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from framework.columns import Snapshot, snapshot
from framework.columns.counts_domains import NO_MINIMUM
from framework.columns.counts_pods import LabelSets
from framework.columns.counts_terms import TermIndex
from framework.interface import PodInfo
from framework.interface.columns import DomainInput, DomainMinimum, PodQuery, TermKind, TermTarget
from framework.objects.selectors import EVERYTHING, NodeSelectorMatcher, matcher_from_labels
from tests.builders import info, make_node, make_pod
from tests.plugins.domain_worlds import PodsChange

ZONE = "topology.kubernetes.io/zone"
WEB = matcher_from_labels({"app": "web"})
ANYWHERE = PodQuery(((None, WEB),))
TARGET = TermTarget("default", (("app", "web"),), ())
WEIGHTS = ((TermKind.REQUIRED_ANTI, 1),)


def web(name: str, **fields: Any) -> PodInfo:
    return info(make_pod(name, labels={"app": "web"}, **fields))


def avoiding(name: str) -> PodInfo:
    term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "web"}}}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    return info(make_pod(name, affinity=affinity))


@pytest.fixture
def view() -> Snapshot:
    """Zone a has two nodes, b one, and one node has no zone; pods: a1 2, b1 1, no zone 1."""
    view = Snapshot()
    for name, zone in (("a1", "a"), ("a2", "a"), ("b1", "b"), ("lost", None)):
        view.set_node(make_node(name, labels={ZONE: zone} if zone else {}))
    for number, node in enumerate(("a1", "a1", "b1", "lost")):
        view.add_pod(node, web(f"pod-{number}"))
    view.set_order(("a1", "a2", "b1", "lost"))
    view.finish_refresh()
    return view


def per_row(counts: DomainInput) -> list[int]:
    gathered = counts.gather(None)
    assert (gathered.codes[3] == -1).all()
    numbers: list[int] = np.where(gathered.codes < 0, -1, gathered.table[gathered.codes]).tolist()
    return numbers


def test_a_row_has_the_pods_of_its_whole_domain(view: Snapshot) -> None:
    counts = view.pods_matching(None, WEB, ZONE, None)
    assert per_row(counts) == [2, 2, 1, -1]
    assert counts.minimum().gather(None) == DomainMinimum(1, 2)
    assert counts.any().gather(None) is True
    assert view.pods_on_node(ANYWHERE).gather(None).tolist() == [2, 0, 1, 1]


def test_asking_twice_gives_the_same_input(view: Snapshot) -> None:
    again = PodQuery(((None, matcher_from_labels({"app": "web"})),))
    assert view.pods_in_domains(ANYWHERE, ZONE) is view.pods_in_domains(again, ZONE)
    assert view.pods_matching(None, WEB, ZONE, None) is view.pods_in_domains(again, ZONE)


def test_namespaces_and_every_term_count(view: Snapshot) -> None:
    view.add_pod("b1", web("elsewhere", namespace="x"))
    here, there = frozenset(("default",)), frozenset(("x",))
    assert per_row(view.pods_matching(here, WEB, ZONE, None)) == [2, 2, 1, -1]
    assert per_row(view.pods_matching(there, WEB, ZONE, None)) == [0, 0, 1, -1]
    assert per_row(view.pods_in_domains(PodQuery(((here, WEB), (there, WEB))), ZONE)) == [0, 0, 0, -1]


def test_only_eligible_nodes_count_and_make_domains(view: Snapshot) -> None:
    only_b = NodeSelectorMatcher(matcher_from_labels({ZONE: "b"}))
    counts = view.pods_in_domains(ANYWHERE, ZONE, view.eligible((ZONE,), only_b, None))
    assert per_row(counts) == [0, 0, 1, -1]
    assert counts.minimum().gather(None) == DomainMinimum(1, 1)
    nobody = NodeSelectorMatcher(matcher_from_labels({ZONE: "c"}))
    counts = view.pods_in_domains(ANYWHERE, ZONE, view.eligible((ZONE,), nobody, None))
    assert counts.minimum().gather(None) == DomainMinimum(NO_MINIMUM, 0)
    assert counts.any().gather(None) is False


def test_nodes_without_the_key_can_be_a_domain_of_their_own(view: Snapshot) -> None:
    view.set_node(make_node("b1", labels={ZONE: ""}))
    counts = view.pods_in_domains(ANYWHERE, ZONE, keyless_as_empty=True)
    assert per_row(counts) == [2, 2, 2, -1]


def test_a_placement_changes_the_rows_of_its_domain_only(view: Snapshot) -> None:
    counts = view.pods_in_domains(ANYWHERE, ZONE)
    minimum = counts.minimum()
    versions = counts.version, minimum.version
    view.add_pod("a2", web("new"))
    assert per_row(counts) == [3, 3, 1, -1]
    changed = counts.changed_since(versions[0])
    assert changed is not None
    assert changed.tolist() == [0, 1]
    still = minimum.changed_since(versions[1])
    assert still is not None
    assert not len(still)
    view.add_pod("b1", web("newer"))
    assert minimum.changed_since(versions[1]) is None
    assert minimum.gather(None) == DomainMinimum(2, 2)


def test_a_pod_that_does_not_match_changes_nothing(view: Snapshot) -> None:
    counts, on_node = view.pods_in_domains(ANYWHERE, ZONE), view.pods_on_node(ANYWHERE)
    versions = counts.version, on_node.version
    view.add_pod("a1", info(make_pod("db", labels={"app": "db"})))
    assert (counts.version, on_node.version) == versions


def test_a_node_that_moves_takes_its_pods_along(view: Snapshot) -> None:
    counts = view.pods_in_domains(ANYWHERE, ZONE)
    version = counts.version
    view.set_node(make_node("a1", labels={ZONE: "b"}))
    assert per_row(counts) == [3, 0, 3, -1]
    changed = counts.changed_since(version)
    assert changed is None or changed.tolist() == [0, 1, 2]
    view.remove_node("b1")
    assert per_row(counts)[:2] == [2, 0]


def test_what_if(view: Snapshot) -> None:
    counts = view.pods_in_domains(ANYWHERE, ZONE)
    placed = view.get("b1")
    assert placed is not None
    change = PodsChange(view.row("b1"), added=(), removed=list(placed.pods))
    gathered = counts.gather_changed(change)
    assert gathered.table[gathered.codes].tolist() == [0]
    assert counts.minimum().gather_changed(change) == DomainMinimum(0, 2)
    assert counts.any().gather_changed(change) is True
    assert view.pods_on_node(ANYWHERE).gather_changed(change).tolist() == [0]
    lost = counts.gather_changed(PodsChange(view.row("lost"), added=[web("new")]))
    assert lost.codes.tolist() == [-1]
    assert per_row(counts) == [2, 2, 1, -1]


def test_spreading_leaves_out_terminating_pods_and_empty_selectors_but_not_in_what_ifs(view: Snapshot) -> None:
    everybody = PodQuery(((None, EVERYTHING),), spreading=True)
    counts = view.pods_in_domains(everybody, ZONE)
    assert per_row(counts) == [0, 0, 0, -1]
    gathered = counts.gather_changed(PodsChange(view.row("a1"), added=[web("new")]))
    assert gathered.table[gathered.codes].tolist() == [1]


def test_placed_terms(view: Snapshot) -> None:
    terms = view.placed_terms(WEIGHTS, TARGET)
    assert not terms.any().gather(None)
    version = terms.version
    view.add_pod("lost", avoiding("keyless"))
    assert not terms.any().gather(None)
    view.add_pod("a1", avoiding("one"))
    view.add_pod("a2", avoiding("two"))
    assert terms.any().gather(None)
    assert terms.gather(None).tolist() == [2, 2, 0, 0]
    assert terms.changed_since(version) is None
    version = terms.version
    view.remove_pod("a2", avoiding("two").uid)
    changed = terms.changed_since(version)
    assert changed is not None
    assert changed.tolist() == [0, 1]
    assert terms.gather(changed).tolist() == [1, 1]
    assert terms.gather_changed(PodsChange(view.row("b1"), added=[avoiding("nominated")])).tolist() == [1]
    assert view.placed_terms(WEIGHTS, TermTarget("default", (("app", "db"),), ())).gather(None).tolist() == [0, 0, 0, 0]


def test_whether_any_pod_has_terms_of_a_kind(view: Snapshot) -> None:
    wanted, others = view.any_terms(((TermKind.REQUIRED_ANTI, 1),)), view.any_terms(((TermKind.PREFERRED, None),))
    version = wanted.version
    assert not wanted.gather(None)
    view.add_pod("a1", avoiding("one"))
    view.add_pod("a2", avoiding("two"))
    assert wanted.gather(None)
    assert wanted.version != version
    view.remove_pod("a1", avoiding("one").uid)
    assert wanted.gather(None)
    view.remove_pod("a2", avoiding("two").uid)
    assert not wanted.gather(None)
    assert not others.gather(None)


def test_after_the_first_look_nobody_walks_over_nodes_or_pods(view: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    counts, terms = view.pods_in_domains(ANYWHERE, ZONE), view.placed_terms(WEIGHTS, TARGET)
    on_node = view.pods_on_node(ANYWHERE)
    per_row(counts), terms.any().gather(None), on_node.version

    def walk(_: Snapshot, row: int) -> None:
        raise AssertionError(f"row {row} was walked over")

    monkeypatch.setattr(Snapshot, "info_of_row", walk)
    view.add_pod("b1", web("new"))
    view.add_pod("b1", avoiding("newer"))
    assert per_row(counts) == [2, 2, 2, -1]
    assert terms.gather(None).tolist() == [0, 0, 1, 0]
    assert on_node.gather(None).tolist() == [2, 0, 2, 1]
    # A selector never seen before looks at label sets, not at pods.
    assert per_row(view.pods_matching(None, matcher_from_labels({"app": "db"}), ZONE, None)) == [0, 0, 0, -1]


def test_label_sets_and_terms_of_pods_that_are_gone_are_forgotten(view: Snapshot) -> None:
    label_sets, terms = LabelSets(view), TermIndex(view)
    pods = [info(make_pod(f"new-{number}", labels={"number": str(number)})) for number in range(5)]
    for pod in (*pods, avoiding("one"), avoiding("two")):
        view.add_pod("a1", pod)
    label_sets.refresh()
    terms.refresh()
    assert (len(label_sets), len(terms)) == (1 + len(pods) + 1, 1)
    for pod in (*pods, avoiding("one"), avoiding("two")):
        view.remove_pod("a1", pod.uid)
    label_sets.refresh()
    terms.refresh()
    assert (len(label_sets), len(terms)) == (1, 0)
    assert list(label_sets.candidates(None, matcher_from_labels({"number": "1"}))) == []
    assert list(terms.candidates((("app", "web"),))) == []


def test_counts_survive_pickling(view: Snapshot) -> None:
    view.add_pod("a1", avoiding("one"))
    per_row(view.pods_in_domains(ANYWHERE, ZONE))
    copy: Snapshot = pickle.loads(pickle.dumps(view))
    copy.add_pod("a2", web("new"))
    assert per_row(copy.pods_in_domains(ANYWHERE, ZONE)) == [3, 3, 1, -1]
    assert copy.placed_terms(WEIGHTS, TARGET).gather(None).tolist() == [1, 1, 0, 0]
    assert per_row(view.pods_in_domains(ANYWHERE, ZONE)) == [2, 2, 1, -1]


def test_an_input_that_was_dropped_from_the_cache_stays_right(view: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "KEPT_ROWS", 1)
    monkeypatch.setattr(snapshot, "LEAST_KEPT", 2)
    counts = view.pods_in_domains(ANYWHERE, ZONE)
    for app in "xyz":
        view.pods_on_node(PodQuery(((None, matcher_from_labels({"app": app})),)))
    assert view.pods_in_domains(ANYWHERE, ZONE) is not counts
    view.add_pod("a1", web("new"))
    assert per_row(counts) == per_row(view.pods_in_domains(ANYWHERE, ZONE)) == [3, 3, 1, -1]
