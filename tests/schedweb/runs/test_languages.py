"""Sentences of the API in the reader's language."""

from __future__ import annotations

from pathlib import Path

import pytest
from babel.messages.pofile import read_po
from django.test import Client
from django.utils.translation import override

from framework.sentences import sentence, template
from schedweb.runs.pending.answers import number
from schedweb.sentences import both, counted, either, say, translated
from scripts.catalogs import LANGUAGES, LOCALE
from tests.schedweb.runs.conftest import Game

NODES = ("{count} is cordoned", "{count} are cordoned")


@pytest.mark.parametrize(
    ("header", "message", "language"),
    [
        ("uk", "У цьому запуску немає вузла nowhere.", "uk"),
        ("zh-CN", "这次运行没有节点 nowhere。", "zh-hans"),
        ("de, zh;q=0.4, uk;q=0.7", "У цьому запуску немає вузла nowhere.", "uk"),
        ("tlh", "This run has no node nowhere.", "en"),
        ("", "This run has no node nowhere.", "en"),
    ],
)
@pytest.mark.django_db(transaction=True)
def test_errors_follow_accept_language(played: Game, client: Client, header: str, message: str, language: str) -> None:
    answer = client.get(f"/api/v1/runs/{played.id}/nodes/nowhere/", headers={"Accept-Language": header})
    assert answer.status_code == 404
    assert answer.json()["error"]["message"] == message
    assert answer["Content-Language"] == language
    assert "Accept-Language" in answer["Vary"]


@pytest.mark.django_db(transaction=True)
def test_the_first_sentence_of_a_pending_pod(played: Game, client: Client) -> None:
    path = f"/api/v1/runs/{played.id}/pods/shop/large/"
    told_in = {
        language: client.get(path, headers={"Accept-Language": language}).json()["answer"]
        for language in ("en", "uk", "zh-CN")
    }
    assert told_in["en"]["headline"] == "No node is that large: it asks for 16 cpu, the largest, b, has 4 cpu."
    assert told_in["uk"]["headline"] == "Таких великих вузлів немає: він просить 16 cpu, а найбільший, b, має 4 cpu."
    assert told_in["zh-CN"]["headline"] == "没有这么大的节点：它请求 16 cpu，而最大的 b 有 4 cpu。"
    # kube-scheduler's own words are the same for everybody.
    assert len({each["message"] for each in told_in.values()}) == 1


def test_a_login_page_speaks_the_language(client: Client, transactional_db: None) -> None:
    client.logout()
    page = client.get("/login", headers={"Accept-Language": "uk"}).content.decode()
    assert '<html lang="uk">' in page
    assert "Увійти" in page


def test_plural_forms() -> None:
    with override("uk"):
        cordoned = [counted(*NODES, count) for count in (1, 2, 5, 21)]
    assert cordoned == [f"{count} закрито для планування" for count in (1, 2, 5, 21)]
    with override("uk"):
        left = [
            counted("{count} pod had to leave {node}", "{count} pods had to leave {node}", n, node="b")
            for n in (1, 3, 5)
        ]
    assert left == ["1 Pod мусив залишити b", "3 Podʼи мусили залишити b", "5 Podʼів мусили залишити b"]
    assert counted(*NODES, 1) == "1 is cordoned"


def test_lists_of_words() -> None:
    assert [both([]), both(["a"]), both(["a", "b"]), either(["a", "b", "c"])] == ["", "a", "a and b", "a, b or c"]
    with override("zh-hans"):
        assert both(["a", "b", "c"]) == "a、b和c"


def test_values_are_never_taken_for_placeholders() -> None:
    assert say("Held by {gate}.", gate="{node} %(x)s") == "Held by {node} %(x)s."


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_translation_differs_from_its_english(language: str) -> None:
    path: Path = LOCALE / language / "LC_MESSAGES" / "django.po"
    with path.open("rb") as file:
        catalog = read_po(file)
    same = {str(message.id) for message in catalog if message.id and message.id == message.string}
    same = {text for text in same if any(literal.strip(" ,.:→()") for literal, *_ in template(text))}
    # "ok" and "skip" are codes of the framework.
    assert same <= {"{count} ok", "{count} skip"}


@pytest.mark.parametrize(
    ("language", "size", "half", "most"),
    [
        ("en", "1,234,567", "0.5", "50,000"),
        ("uk", "1\N{NO-BREAK SPACE}234\N{NO-BREAK SPACE}567", "0,5", "50\N{NO-BREAK SPACE}000"),
        ("zh-hans", "1,234,567", "0.5", "50,000"),
    ],
)
def test_figures_are_written_as_the_language_writes_them(language: str, size: str, half: str, most: str) -> None:
    with override(language):
        assert size in say("The manifest is larger than {max_manifest:,} characters.", max_manifest=1_234_567)
        assert number("cpu", 500) == half
        assert half in say("up to {seconds:g} s", seconds=0.5)
        assert most in translated(sentence("more than {most:,} values; refused", most=50_000))
        assert half in translated(sentence("{seconds} s", seconds=0.5))
    assert str(sentence("more than {most:,} values; refused", most=50_000)) == "more than 50,000 values; refused"
