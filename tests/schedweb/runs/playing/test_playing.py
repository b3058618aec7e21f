"""A run in the database: commands as journal rows, what is stored of it, leases and what they fence off."""

from __future__ import annotations

import datetime
from uuid import uuid4

import msgspec
import pytest
from django.test import Client
from django.utils import timezone

from framework.sentences import ENGLISH, in_words, sentence
from schedweb.api.errors import ApiError
from schedweb.engine.frames import Batch
from schedweb.runs.models import Attempt, AttemptChunk, Checkpoint, FeedItem, JournalEntry, NodeRecord, Run
from schedweb.runs.playing.commands import command_append
from schedweb.runs.playing.dispatch import next_run
from schedweb.runs.playing.services import run_create
from schedweb.runs.storing.batches import BatchWriter
from schedweb.runs.storing.lease import LeaseLost, claim, give_back, renew
from schedweb.runs.storing.notices import store_notice
from schedweb.runs.wire.messages import UntranslatedDelta
from schedweb.worker.playing import play_run
from schedweb.worker.supervisor import Supervisor
from tests.schedweb.runs.conftest import Game

pytestmark = pytest.mark.django_db(transaction=True)
LATER = datetime.timedelta(hours=1)


def test_a_run_is_played_until_it_waits_for_a_person(game: Game) -> None:
    game.command("play")
    game.play()
    run = game.run
    assert (run.state, run.lease_owner, run.wanted) == ("waiting_for_person", "", False)
    assert run.counts == {
        "gated": 0, "active": 0, "backoff": 0, "unschedulable": 1, "in_flight": 0, "waiting": 2, "bound": 6,
    }  # fmt: skip
    want = {f"web-{index}": "bound" for index in range(6)}
    assert game.places() == {**want, "asks-1": "waiting", "asks-2": "waiting", "large": "unschedulable"}
    assert list(Attempt.objects.filter(run=run).values_list("number", flat=True)) == list(range(1, 10))
    assert sum(AttemptChunk.objects.filter(run=run).values_list("count", flat=True)) == 9
    requested = {each.name: each.requested[0] + each.reserved[0] for each in NodeRecord.objects.filter(run=run)}
    assert sum(requested.values()) == 6 * 500 + 2 * 250
    assert Checkpoint.objects.filter(run=run, position=run.position).exists()


def test_a_run_goes_on_from_its_checkpoint_with_the_next_command(played: Game) -> None:
    assert played.run.state == "waiting_for_person"
    assert played.places()["asks-1"] == "bound"
    entry = played.decide("reject", "asks-2", reason="not before Monday")
    played.play()
    entry.refresh_from_db()
    assert entry.result == {
        "pods": [{"namespace": "shop", "name": "asks-2", "decided": True, "outcome": {"say": "rejected"}}]
    }
    assert played.run.state == "finished"
    made = list(played.run.decisions.order_by("number").values_list("decision", "by", "reason", "name"))
    assert made == [("approved", "mira", "fine", "asks-1"), ("rejected", "mira", "not before Monday", "asks-2")]
    assert [each.author for each in played.run.decisions.all()] == [played.user, played.user]


def test_commands_are_applied_in_the_order_in_which_they_came(game: Game) -> None:
    entries = [game.command("node_cordon", name="a"), game.command("node_uncordon", name="a"), game.command("play")]
    game.play()
    for entry in entries:
        entry.refresh_from_db()
    assert [entry.status for entry in entries] == ["applied"] * 3
    positions = [entry.position for entry in entries if entry.position is not None]
    assert len(positions) == len(entries)
    assert positions == sorted(positions)
    assert entries[0].result == {"text": {"say": "cordoned node {node}", "with": {"node": "a"}}}


def test_what_the_engine_refuses_is_told_and_changes_nothing(game: Game) -> None:
    entry = game.command("node_delete", name="nowhere")
    game.play()
    entry.refresh_from_db()
    assert (entry.status, entry.text, entry.position) == ("refused", 'nodes "nowhere" not found', None)
    assert game.run.position == 0


def test_the_same_client_id_is_taken_once(game: Game) -> None:
    body = {"type": "play", "client_id": str(uuid4())}
    first = command_append(run_id=game.id, user=game.user, body=body)
    second = command_append(run_id=game.id, user=game.user, body={**body, "type": "stop"})
    assert (first.pk, second.type) == (second.pk, "play")
    assert JournalEntry.objects.filter(run=game.run).count() == 1


def test_a_stopped_run_takes_no_commands(game: Game) -> None:
    game.command("stop")
    game.play()
    assert game.run.state == "stopped"
    with pytest.raises(ApiError, match="was stopped"):
        game.command("play")


def test_a_switched_configuration_is_shown_and_survives_a_new_engine(game: Game) -> None:
    other = game.run.configuration_version.configuration.versions.create(
        number=2, text=game.run.configuration_version.text.replace("ask: person", "ask: nobody")
    )
    game.command("set_configuration", version=str(other.pk))
    game.play()
    assert game.run.configuration_version == other
    Checkpoint.objects.all().delete()
    game.command("play")
    game.play()
    assert game.run.state == "finished"
    assert game.places()["asks-1"] == "bound"


def test_two_runs_with_one_journal_have_one_digest(game: Game) -> None:
    twin = Game(
        run_create(
            user=game.user,
            snapshot=game.run.snapshot_id,
            configuration_version=game.run.configuration_version_id,
            seed=7,
        ),
        game.user,
    )
    for each in (game, twin):
        each.command("play", speed="max")
        each.play()
        each.decide("approve", "asks-2")
        each.play()
    assert game.run.digest == twin.run.digest != ""
    assert game.run.number + 1 == twin.run.number


# --- leases -----------------------------------------------------------------------------------------------------------


def test_a_held_run_is_nobody_elses(game: Game) -> None:
    lease = claim(game.id, "first")
    assert lease is not None
    assert claim(game.id, "second") is None
    assert not play_run(game.id)
    give_back(lease)
    again = claim(game.id, "second")
    assert again is not None
    assert (again.epoch, again.taken_over) == (lease.epoch + 1, False)


def test_a_lease_that_ran_out_is_taken_over_and_the_zombie_writes_nothing(game: Game) -> None:
    zombie = claim(game.id, "zombie")
    assert zombie is not None
    writer = BatchWriter(zombie, Run.objects.select_related("snapshot").get(pk=game.id))
    Run.objects.filter(pk=game.id).update(lease_expires=timezone.now() - LATER)
    heir = claim(game.id, "heir")
    assert heir is not None
    assert heir.taken_over
    with pytest.raises(LeaseLost):
        renew(zombie)
    with pytest.raises(LeaseLost):
        store_notice(writer, sentence("I am still here"))
    assert not FeedItem.objects.exists()
    renew(heir)


def test_a_run_waits_for_a_worker_until_somebody_holds_it(game: Game) -> None:
    assert next_run() == game.id
    Run.objects.update(lease_owner="lost", lease_expires=timezone.now() - LATER)
    assert next_run() == game.id
    assert claim(game.id, "held") is not None
    assert next_run() is None


def test_a_run_that_was_lost_before_anything_of_it_was_stored_is_begun_by_the_next(game: Game) -> None:
    game.command("play", speed="max")
    lost = claim(game.id, "lost")
    assert lost is not None
    store_notice(BatchWriter(lost, Run.objects.get(pk=game.id)), sentence("The engine died."))
    Run.objects.filter(pk=game.id).update(lease_expires=timezone.now() - LATER)
    game.play()
    assert game.run.state == "waiting_for_person"


def test_a_taken_over_run_says_so_in_its_feed(game: Game) -> None:
    game.command("play")
    Run.objects.filter(pk=game.id).update(lease_owner="lost", lease_expires=timezone.now() - LATER)
    game.play()
    first = FeedItem.objects.filter(run=game.run, kind="engine").first()
    assert first is not None
    said = in_words(first.item["parts"], ENGLISH)
    assert said.startswith("Worker lost at ")
    assert said.endswith("another took over from cycle 0.")
    assert not game.run.taking_over


def test_a_lease_is_not_given_back_when_a_command_came_meanwhile(game: Game) -> None:
    lease = claim(game.id, "mine")
    assert lease is not None
    game.command("play")
    assert not give_back(lease, only_if_idle=True)
    game.run.refresh_from_db()
    assert game.run.lease_owner == "mine"


def test_a_run_that_cannot_be_replayed_is_parked_with_a_sentence(played: Game) -> None:
    Checkpoint.objects.all().delete()
    Run.objects.filter(pk=played.id).update(digest="0" * 31 + "1")
    decided = played.decide("approve", "asks-2")
    played.play()
    assert played.run.state == "parked"
    assert str(played.run.error).startswith("Replay gave the digest ")
    decided.refresh_from_db()
    assert decided.status == "pending", "it is kept"


def test_a_breakpoint_pauses_the_run_and_is_told(game: Game) -> None:
    game.command("breakpoint_set", id="x", on="status", value="unschedulable", filter="large")
    game.command("play", speed="max")
    game.play()
    assert (game.run.state, game.run.hit) == (
        "paused",
        {"id": "x", "text": {"say": "{pod} is unschedulable", "with": {"pod": "shop/large"}}, "pod": "shop/large"},
    )
    assert [each["id"] for each in game.run.breakpoints] == ["x"]
    lines = [in_words(item["parts"], ENGLISH) for item in game.run.feed.values_list("item", flat=True)]
    assert "Breakpoint: shop/large is unschedulable." in lines
    game.command("breakpoint_remove", id="x")
    game.command("play")
    game.play()
    assert (game.run.state, game.run.hit, game.run.breakpoints) == ("waiting_for_person", None, [])
    with pytest.raises(ApiError, match="needs a key"):
        game.command("breakpoint_set", id="x", on="point", value="Filter", filter="-l =a")


def test_a_run_says_how_many_pods_of_the_beginning_have_no_row_yet(
    game: Game, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large cluster's rows follow in batches: until then lists do not show what the board counts."""
    store, told = Supervisor.store_and_tell, []
    left = iter(range(100, 0, -1))

    def with_some_left(self: Supervisor, batch: Batch) -> None:
        store(self, msgspec.structs.replace(batch, unwritten=next(left)))

    monkeypatch.setattr(Supervisor, "store_and_tell", with_some_left)
    monkeypatch.setattr("schedweb.runs.live.telling.PUBLISHER.publish", lambda group, message: told.append(message))
    game.command("play", speed="max")
    game.play()
    deltas = [each.unwritten for each in told if isinstance(each, UntranslatedDelta)]
    assert deltas == list(range(100, 100 - len(deltas), -1))
    assert client.get(f"/api/v1/runs/{game.id}/").json()["unwritten"] == deltas[-1]
