"""A run beside the real cluster: how each pod ended there and here, and what made the difference."""

from __future__ import annotations

import csv
import gzip
import json
import uuid
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from schedweb.configurations.models import Configuration, ConfigurationVersion
from schedweb.runs.attempts.selectors import stored_attempt
from schedweb.runs.comparing.difference import answer_about
from schedweb.runs.comparing.selectors import PodPlace
from schedweb.runs.models import Attempt, PodRecord
from schedweb.runs.playing.services import run_create
from schedweb.runs.real_cluster.outcomes import RealPod, outcomes_of
from schedweb.runs.real_cluster.selectors import DIFFERENT, KINDS, kind_of
from schedweb.snapshots import services
from schedweb.snapshots.reading import read_cluster
from tests.schedweb.engine.worlds import DEFAULT, Manifest, node, pod
from tests.schedweb.runs.conftest import Game, played_out
from tests.schedweb.runs.test_api import check_shape, get
from tests.schedweb.snapshots.events import assigned, event_list, failed, make_event, shop_events
from tests.schedweb.snapshots.files import EXPORT_JSON

AT = "/api/v1/runs/{run}/real/"
LATE = "2026-11-20T12:00:00Z"


def cordoned(name: str, cpu: str) -> Manifest:
    made = node(name, cpu)
    made["spec"] = {"unschedulable": True}
    return made


CLUSTER: list[Manifest] = [
    node("a", "8"),
    node("b", "2"),
    cordoned("closed", "8"),
    pod("old", "1", node_name="a"),
    pod("alike", "250m"),
    pod("elsewhere", "250m"),
    pod("cordoned", "250m"),
    pod("unknown-node", "250m"),
    pod("only-there", "16"),
    pod("only-here", "250m"),
    pod("same-words", "20"),
    pod("other-words", "20"),
    pod("never-heard-of", "250m"),
]
WORDS = (
    "0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu. preemption: 0/3 nodes are available: "
    "1 Preemption is not helpful for scheduling, 2 No preemption victims found for incoming pod."
)


@pytest.fixture
def game(operator: User, transactional_db: None) -> Game:
    return played_out(operator, CLUSTER)


def add(game: Game, *events: Manifest) -> None:
    services.events_add(snapshot=game.run.snapshot, upload=event_list(*events))


def here(game: Game, name: str) -> str:
    return str(game.run.pod_records.get(name=name).node)


def other(name: str) -> str:
    return "b" if name == "a" else "a"


@pytest.fixture
def beside(game: Game) -> Game:
    message = game.run.attempt_rows.filter(name="same-words").latest("number").message
    add(
        game,
        assigned("shop/old", "a"),
        assigned("shop/alike", here(game, "alike")),
        assigned("shop/elsewhere", other(here(game, "elsewhere"))),
        assigned("shop/cordoned", "closed"),
        assigned("shop/unknown-node", "gone-since"),
        assigned("shop/only-there", "a"),
        failed("shop/only-here", WORDS, count=4),
        failed("shop/same-words", message),
        failed("shop/other-words", "0/5 nodes are available: 1 node(s) were unschedulable, 4 Insufficient memory."),
        assigned("shop/came-later", "a", at="2100-01-01T00:00:00Z"),
        assigned("shop/went-before", "a", at="2001-01-01T00:00:00Z"),
    )
    return game


def rows_of(client: Client, game: Game, query: str = "") -> dict[str, Any]:
    found = get(client, AT.format(run=game.id) + f"pods/?limit=100{query}")
    check_shape("/api/v1/runs/{run}/real/pods/", found)
    return {row["pod"]["name"]: row for row in found["results"]}


def test_counts_come_first(beside: Game, client: Client) -> None:
    body = get(client, AT.format(run=beside.id))
    check_shape("/api/v1/runs/{run}/real/", body)
    assert body["counts"] == dict.fromkeys(KINDS, 0) | {
        "other_node": 3,
        "only_real": 1,
        "only_run": 1,
        "other_message": 1,
        "same_node": 1,
        "same_message": 1,
        "given": 1,
    }
    assert (body["decided"], body["alike"], body["events"]) == (8, 2, 11)
    assert body["missing"] == {"pods": 2, "later": 1, "recreated": 0}
    assert body["without_events"] == 1


def test_what_made_the_difference(beside: Game, client: Client) -> None:
    rows = rows_of(client, beside)
    assert set(rows) == {"elsewhere", "cordoned", "unknown-node", "only-there", "only-here", "other-words"}
    [cause] = rows["cordoned"]["causes"]
    assert (cause["why"], cause["plugin"]) == ("filter", "NodeUnschedulable")
    assert rows["unknown-node"]["causes"][0]["why"] == "no_node"
    [cause] = rows["only-there"]["causes"]
    assert (rows["only-there"]["kind"], cause["plugin"], cause["reasons"]) == (
        "only_real",
        "NodeResourcesFit",
        ["Insufficient cpu"],
    )
    only_here = rows["only-here"]
    assert (only_here["real"]["outcome"], only_here["real"]["failures"]) == ("pending", 4)
    assert only_here["causes"][0]["why"] == "refused"
    assert only_here["nodes"] == {"real": 3, "run": None}
    assert {each["reason"]: (each["real"], each["run"]) for each in rows["other-words"]["reasons"]} == {
        "Insufficient memory": (4, 0),
        "Insufficient cpu": (0, 2),
        "node(s) were unschedulable": (1, 1),
    }
    assert rows["other-words"]["nodes"] == {"real": 5, "run": 3}


def test_rank_and_margin_are_those_of_the_stored_scores(beside: Game, client: Client) -> None:
    row = rows_of(client, beside)["elsewhere"]
    trace = stored_attempt(beside.id, row["run"]["attempt"]).trace
    own, real = answer_about(trace, row["run"]["node"]), answer_about(trace, row["real"]["node"])
    assert own.total is not None
    assert real.total is not None
    [cause] = row["causes"]
    assert cause["margin"] == own.total - real.total
    assert cause["margin"] == sum(each["own"] - each["real"] for each in row["points"])
    if cause["margin"]:
        most = max(row["points"], key=lambda each: each["own"] - each["real"])
        assert (cause["why"], cause["plugin"], cause["rank"]) == ("score", most["plugin"], 2)
    else:
        assert (cause["why"], cause["rank"]) == ("tie", 1)


def test_windows_kinds_and_one_pod(beside: Game, client: Client) -> None:
    at = AT.format(run=beside.id) + "pods/"
    assert rows_of(client, beside, "&kind=given").keys() == {"old"}
    assert rows_of(client, beside, "&pod=shop/alike")["alike"]["kind"] == "same_node"
    assert rows_of(client, beside, "&pod=shop/never-heard-of") == {}
    assert rows_of(client, beside, "&q=ONLY").keys() == {"only-there", "only-here"}
    second = get(client, f"{at}?offset=1&limit=2")
    assert (second["count"], len(second["results"])) == (6, 2)
    assert "kind must be one of other_node" in client.get(f"{at}?kind=odd").json()["error"]["message"]


def test_exports_hold_the_rows_of_the_windows(beside: Game, client: Client) -> None:
    rows = list(rows_of(client, beside).values())
    at = AT.format(run=beside.id) + "export/"
    written = client.get(f"{at}?as=csv")
    assert written["Content-Disposition"] == f'attachment; filename="{beside.run}-and-real.csv"'
    table = list(csv.DictReader(StringIO(written.content.decode())))
    assert [(each["name"], each["kind"], each["real_node"], each["run_node"]) for each in table] == [
        (row["pod"]["name"], row["kind"], row["real"]["node"] or "", row["run"]["node"] or "") for row in rows
    ]
    whole = client.get(f"{at}?as=json").json()
    assert whole["pods"] == rows
    assert whole["counts"] == get(client, AT.format(run=beside.id))["counts"]
    assert client.get(f"{at}?as=xml").status_code == 400


def test_without_events_it_says_so(game: Game, client: Client) -> None:
    nothing = get(client, AT.format(run=game.id))
    check_shape("/api/v1/runs/{run}/real/", nothing)
    assert (nothing["events"], nothing["first"], nothing["decided"], nothing["without_events"]) == (0, None, 0, 10)
    assert get(client, AT.format(run=game.id) + "pods/")["count"] == 0
    assert get(client, f"/api/v1/runs/{game.id}/")["snapshot"]["events"] == 0
    add(game, assigned("shop/alike", "a"))
    assert get(client, AT.format(run=game.id))["events"] == 1
    assert get(client, f"/api/v1/runs/{game.id}/")["snapshot"]["events"] == 1


def test_a_pod_of_the_same_name_that_came_later_is_another(game: Game, client: Client) -> None:
    uid = game.run.pod_records.get(name="alike").uid
    about = {"kind": "Pod", "namespace": "shop", "name": "alike"}
    add(game, assigned("shop/alike", "a", involvedObject={**about, "uid": "another"}))
    assert get(client, AT.format(run=game.id))["missing"] == {"pods": 1, "later": 1, "recreated": 1}
    add(game, assigned("shop/alike", "closed", at=LATE, involvedObject={**about, "uid": uid}))
    assert get(client, AT.format(run=game.id))["missing"]["pods"] == 0
    assert rows_of(client, game)["alike"]["real"]["node"] == "closed"


def test_the_shop_as_its_own_scheduler_left_it(operator: User, client: Client, transactional_db: None) -> None:
    """kube-scheduler's own events: pods that it left pending are refused here in the same words."""
    export = json.loads(gzip.decompress(EXPORT_JSON.read_bytes()))
    both = json.dumps({**export, "items": export["items"] + shop_events()})
    row = services.import_create(
        user=operator,
        filename="shop.json",
        upload=both.encode(),
    )
    services.import_read(import_id=uuid.UUID(str(row.pk)))
    row.refresh_from_db()
    assert row.state == "ready", row.error
    snapshot = services.import_commit(row=row, user=operator, name="", exclude_namespaces=[], label_selector="")
    configuration = Configuration.objects.create(name="default", slug="default")
    version = ConfigurationVersion.objects.create(configuration=configuration, number=1, text=DEFAULT)
    run = run_create(user=operator, snapshot=snapshot.pk, configuration_version=version.pk, seed=7, speed="max")
    game = Game(run, operator)
    # One attempt each: later ones meet a cluster that moved on.
    game.command("play", speed="max")
    game.play()
    body = get(client, AT.format(run=game.id))
    counts = body["counts"]
    first = {each.pod_uid: each.message for each in Attempt.objects.filter(run=run, attempt=1).exclude(message="")}
    real = {name: pods[-1] for name, pods in outcomes_of(read_cluster(shop_events()).events).items()}
    pending = [each for each in PodRecord.objects.filter(run=run, attempts__gt=0) if each.uid in first]
    alike = sum(first[each.uid] == real[each.namespace, each.name].message for each in pending)
    assert alike >= 40
    assert counts["given"] > 150
    assert counts["same_message"] + counts["other_message"] + counts["only_run"] >= 40
    assert sum(counts.values()) + body["missing"]["pods"] == len(real)


PLACED = RealPod("", 0, "placed", "x")
PENDING = RealPod("", 0, "pending", "", "0/1 nodes are available: 1 a.")
GONE = RealPod("", 0, "preempted", "x")


@pytest.mark.parametrize(
    ("real", "place", "message", "victim", "kind"),
    [
        (PLACED, ("bound", "x", 1), None, False, "same_node"),
        (PLACED, ("waiting", "y", 1), None, False, "other_node"),
        (PLACED, ("bound", "x", 0), None, False, "given"),
        (PLACED, ("unschedulable", "", 2), "0/1 nodes are available: 1 a.", False, "only_real"),
        (PLACED, ("gated", "", 0), None, False, "not_tried"),
        (PENDING, ("bound", "x", 1), None, False, "only_run"),
        (PENDING, ("backoff", "", 1), "0/1 nodes are available: 1 a.", False, "same_message"),
        (PENDING, ("backoff", "", 1), "0/1 nodes are available: 1 b.", False, "other_message"),
        (GONE, ("bound", "x", 1), None, False, "preempted_real"),
        (GONE, ("deleted", "", 1), None, True, "preempted"),
        (PLACED, ("deleted", "", 1), None, True, "preempted_run"),
        (PLACED, ("deleted", "", 1), None, False, "not_tried"),
    ],
)
def test_kinds(real: RealPod, place: tuple[str, str, int], message: str | None, victim: bool, kind: str) -> None:
    assert kind_of(real, PodPlace("1", *place), message, victim) == kind


def test_the_last_word_counts() -> None:
    events = read_cluster(
        [
            failed("x/a", "no", count=3),
            assigned("x/a", "n1", at="2026-11-20T10:01:00Z"),
            make_event("x/a", "Preempted", "Preempted by pod 7 on node n1", at="2026-11-20T10:02:00Z"),
            make_event("x/b", "Unschedulable", "another scheduler's word"),
        ]
    ).events
    found = outcomes_of(events)
    assert found.keys() == {("x", "a")}
    [last] = found["x", "a"]
    assert (last.outcome, last.node, last.failures) == ("preempted", "n1", 3)


def test_the_kinds_that_differ_are_kinds() -> None:
    assert set(DIFFERENT) < set(KINDS)
