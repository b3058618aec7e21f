"""What the engine and the advice said, in the reader's language: nothing that is shown stays behind in English."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from django.utils.translation import override

from framework.objects import Pod
from framework.sentences import ENGLISH, Sentence, in_words, sentence
from schedweb.engine.awaited import ignored_body
from schedweb.engine.cycle_view import cycle_of
from schedweb.engine.player import Happened
from schedweb.runs.asking.selectors import analysis_body
from schedweb.runs.models import Analysis, Decision, Run
from schedweb.sentences import translated, translated_parts
from tests.advice.asking import helped
from tests.schedweb.engine.worlds import play, player
from tests.schedweb.runs.browser import Browser
from tests.schedweb.runs.conftest import CLUSTER, Game
from tests.schedweb.runs.live.test_socket import connect
from tests.schedweb.saying import LETTERS, assert_said_in_all_languages, sentences

EXPORT = Path(__file__).parents[2] / "data" / "cluster-shop" / "kubectl-export.json.gz"


@pytest.fixture(scope="module")
def exported() -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = json.loads(gzip.decompress(EXPORT.read_bytes()))["items"]
    return items


def test_all_that_a_run_of_the_export_says(exported: list[dict[str, Any]]) -> None:
    game = player(exported)
    notes: dict[str, object] = {}
    while (happened := game.operate()) in (Happened.POINT, Happened.CYCLE):
        if happened is Happened.POINT and (shown := cycle_of(game)) is not None:
            notes[str(shown.note)] = shown.note
    assert happened is Happened.FINISHED
    projection = game.projection
    lines = [line.item.parts for line in projection.feed.take(game.now)]
    steps = [step[2] for view in projection.views.values() for step in view.journey if step[2]]
    waits = [each["text"] for view in projection.views.values() for each in view.waits_for]
    ignored = [ignored_body(view) for view in projection.views.values()]
    assert lines
    assert steps
    assert waits
    # A plain string is itself in every language, so what is said must be none.
    assert not [each for each in (*lines, *steps) if isinstance(each, str)]
    assert not [each for each in waits if isinstance(each, str)]
    assert_said_in_all_languages(list(sentences([lines, steps, waits, ignored, list(notes.values())])))


def test_all_that_would_help_the_pods_of_the_export(exported: list[dict[str, Any]]) -> None:
    game = player(exported)
    play(game)
    kinds = {}
    tried: set[str] = set()
    for pod in game.world.cluster.list(Pod):
        workload = pod.metadata.name.rsplit("-", 2)[0]
        if pod.spec.node_name or pod.spec.scheduling_gates or workload in tried:
            continue
        tried.add(workload)
        for remedy in helped(game, pod.metadata.name).remedies:
            kinds[remedy.kind] = remedy
            assert isinstance(remedy.text, Sentence)
            assert remedy.cost == "" or isinstance(remedy.cost, Sentence)
            fates = [each.text for each in remedy.others]
            assert_said_in_all_languages(list(sentences([remedy.text, remedy.cost, *fates])))
    assert len(kinds) >= 3


SHOWN = {
    "en": ("Node added", "a node is added", "shop/large 0 of 2 nodes. 2 Insufficient cpu."),
    "uk": ("Додано вузол", "вузол додається", "shop/large: 0 з 2 вузлів. 2 Insufficient cpu."),
    "zh-CN": ("节点已添加", "节点被添加", "shop/large：2 个节点中 0 个可用。2 Insufficient cpu."),
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("language", SHOWN)
def test_a_pods_page_and_the_feed(played: Game, client: Client, language: str) -> None:
    small = next(each for each in CLUSTER if each["kind"] == "Node")
    small = {**small, "metadata": {**small["metadata"], "name": "c"}}
    played.command("node_add", manifest=json.dumps(small))
    played.command("play")
    played.play()

    def asked(path: str) -> Any:
        return client.get(f"/api/v1/runs/{played.id}/{path}", headers={"Accept-Language": language}).json()

    page, feed = asked("pods/shop/large/"), asked("feed/")
    event, waits, line = SHOWN[language]
    assert [each["event"] for each in page["ignored"]] == [event]
    assert waits in page["waits_for"][0]["text"]
    lines = ["".join(part["v"] for part in item["parts"]) for item in feed]
    assert line in lines
    journal = asked("journal/")["results"]
    done = {"en": "added node c", "uk": "додано вузол c", "zh-CN": "添加了节点 c"}[language]
    assert done in [(each["result"] or {}).get("text") for each in journal]
    if language != "en":
        letters = LETTERS["uk" if language == "uk" else "zh-hans"]
        texts = [*lines, *(each["text"] for each in page["journey"]["events"])]
        assert not [text for text in texts if not letters.search(text)]


@pytest.mark.django_db(transaction=True)
async def test_every_browser_hears_its_own_language(game: Game, operator: User) -> None:
    browsers: dict[str, Browser] = {}
    for language in ("en", "uk", "zh-CN", "tlh"):
        browsers[language] = await connect(operator)
        await browsers[language].told()
        await browsers[language].say({"type": "subscribe", "run": str(game.id), "language": language})
        assert (await browsers[language].told())["type"] == "subscribed"
    await sync_to_async(game.command)("node_cordon", name="a")
    await sync_to_async(game.play)()
    heard = {}
    for language, browser in browsers.items():
        while True:
            message = await browser.told()
            if message["type"] == "run.delta" and message["feed"]:
                heard[language] = "".join(part["v"] for part in message["feed"][-1]["parts"])
                break
        await browser.close()
    assert heard == {
        "en": "mira cordoned node a.",
        "uk": "mira: виконано cordon вузла a.",
        "zh-CN": "mira 封锁了节点 a。",
        "tlh": "mira cordoned node a.",
    }


@pytest.mark.parametrize("language", ["en", "uk", "zh-hans"])
def test_a_minus_is_the_sign_as_on_cards(language: str) -> None:
    with override(language):
        words = translated(sentence("{own} to {more:.1f}", own=-10, more=-0.5))
    assert (words.count("−"), words.count("-")) == (2, 0)


@pytest.mark.django_db(transaction=True)
def test_what_an_earlier_version_stored_is_shown_as_it_is(played: Game) -> None:
    old = [{"t": "pod", "v": "shop/web-1"}, {"t": "text", "v": " bound."}]
    assert translated_parts(old) == old
    Run.objects.filter(pk=played.id).update(error="Bound")
    assert Run.objects.get(pk=played.id).error == "Bound"
    with override("uk"):
        assert translated(Run.objects.get(pk=played.id).error) == "Bound"


@pytest.mark.django_db(transaction=True)
def test_columns_keep_sentences(played: Game) -> None:
    words = sentence("The engine stopped: {error}: {why}", error="ValueError", why='{"say": "x"}')
    Run.objects.filter(pk=played.id).update(error=words)
    assert Run.objects.get(pk=played.id).error == words
    for plain in ('{"say":', '{"say": 1}', ""):
        Run.objects.filter(pk=played.id).update(error=plain)
        assert Run.objects.get(pk=played.id).error == plain
    assert [each.outcome for each in Decision.objects.filter(run=played.id)] == [sentence("bound at once")]
    lost = Analysis(run=played.run, position=1, name="moment", status="failed")
    lost.error, lost.created_at = sentence("not waiting"), timezone.now()
    with override("uk"):
        assert analysis_body(lost)["error"] == "не чекає"


def test_values_are_never_taken_for_templates() -> None:
    mean = sentence("Held by {gate}.", gate="{node} {0.__class__}")
    assert translated(mean) == str(mean) == "Held by {node} {0.__class__}."
    with override("uk"):
        assert in_words({"say": "{pod} bound.", "with": {"pod": "bound at once"}}, ENGLISH) == "bound at once bound."
        assert translated("bound at once") == "bound at once"


def test_numbers_are_written_as_the_language_writes_them() -> None:
    short = sentence("{seconds} s", seconds=1.5)
    assert translated(short) == "1.5 s"
    with override("uk"):
        assert translated(short) == "1,5 с"
