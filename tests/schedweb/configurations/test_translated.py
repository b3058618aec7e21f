"""What the pages of configurations explain is said in the reader's language: presets, plugins, arguments, gates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.utils.translation import override

from schedweb.accounts import services as accounts
from schedweb.accounts.roles import Role
from schedweb.configurations import services
from schedweb.configurations.comparison import compare
from schedweb.configurations.models import Configuration
from tests.schedweb.saying import LETTERS

pytestmark = pytest.mark.django_db
TEXT = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
"""


@pytest.fixture
def editor(client: Client) -> Client:
    client.force_login(accounts.account_create(username="eda", role=Role.EDITOR, password=None))
    return client


def descriptions(schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for each in schema:
            yield from descriptions(each)
    elif isinstance(schema, dict):
        for key, each in schema.items():
            if key == "description" and isinstance(each, str):
                yield each
            else:
                yield from descriptions(each)


@pytest.mark.parametrize("language", LETTERS)
def test_presets(editor: Client, language: str) -> None:
    found = editor.get("/api/v1/presets/", headers={"Accept-Language": language}).json()
    assert found
    for preset in found:
        assert LETTERS[language].search(preset["title"]), preset
        assert LETTERS[language].search(preset["description"]), preset
        assert not left_in_english(preset["text"], language)


def left_in_english(text: str, language: str) -> list[str]:
    comments = [line for line in text.splitlines() if line.lstrip().startswith("# ")]
    assert comments
    return [comment for comment in comments if not LETTERS[language].search(comment)]


@pytest.mark.parametrize("language", LETTERS)
def test_comments_of_what_came_with_the_product_and_nothing_else_of_it(editor: Client, language: str) -> None:
    services.builtins_load()
    for row in Configuration.objects.all():
        url = f"/api/v1/configurations/{row.pk}/versions/1/"
        stored = row.versions.get().text
        for answer in (
            editor.get(url, headers={"Accept-Language": language}).json()["text"],
            editor.get(f"{url}export/", headers={"Accept-Language": language}).content.decode(),
        ):
            assert not left_in_english(answer, language)
            assert [line.partition("# ")[0] for line in answer.splitlines()] == [
                line.partition("# ")[0] for line in stored.splitlines()
            ]
        assert editor.get(url, headers={"Accept-Language": "en"}).json()["text"] == stored


@pytest.mark.parametrize("language", LETTERS)
def test_a_preset_taken_in_a_language_stays_in_it_and_peoples_comments_are_theirs(
    editor: Client, language: str
) -> None:
    def made(**body: str) -> str:
        answer = editor.post(
            "/api/v1/configurations/", body, content_type="application/json", headers={"Accept-Language": language}
        )
        assert answer.status_code == 201, answer.content
        text: str = Configuration.objects.get(name=body["name"]).versions.get().text
        return text

    assert not left_in_english(made(name="theirs", preset="bin-pack"), language)
    written = "# For pods without constraints of their own.\n" + TEXT
    assert made(name="mine", text=written) == written
    mine = Configuration.objects.get(name="mine")
    url = f"/api/v1/configurations/{mine.pk}/versions/1/"
    assert editor.get(url, headers={"Accept-Language": language}).json()["text"] == written


@pytest.mark.parametrize("language", LETTERS)
def test_plugins_and_their_arguments(editor: Client, language: str) -> None:
    found = editor.get("/api/v1/plugins/", headers={"Accept-Language": language}).json()
    texts = [*descriptions([each["args_schema"] for each in found]), *(each["description"] for each in found)]
    assert len(texts) > 50
    assert not [text for text in texts if not LETTERS[language].search(text)]


@pytest.mark.parametrize("language", LETTERS)
def test_the_form_of_a_configuration(editor: Client, language: str) -> None:
    def checked(spoken: str) -> Any:
        answer = editor.post(
            "/api/v1/configurations/check/",
            {"text": TEXT},
            content_type="application/json",
            headers={"Accept-Language": spoken},
        )
        return answer.json()

    found = checked(language)
    texts = [*descriptions(found["form"]["schemas"]), *(gate["description"] for gate in found["feature_gates"])]
    assert len(texts) > 20
    assert not [text for text in texts if not LETTERS[language].search(text)]
    # What is kept of an examination is not changed by who reads it.
    assert "How nodes are ranked." in list(descriptions(checked("en")["form"]["schemas"]))


def plugins(sets: str) -> str:
    return TEXT + f"    plugins: {{{sets}}}\n"


MISTAKES = {
    "a misspelt plugin": plugins("score: {enabled: [{name: NodeResourceFit}]}"),
    "a point it does not extend": plugins("bind: {enabled: [{name: NodeName}]}"),
    "no queueSort": plugins("queueSort: {disabled: [{name: '*'}]}"),
    "a misspelt field": TEXT + "    plugin: {}\n",
    "a removed version": TEXT.replace("/v1\n", "/v1beta3\n"),
    "one name twice": TEXT + "  - schedulerName: default-scheduler\n",
}
"""Errors in kube-scheduler's words with a hint of ours."""
OURS = {
    "a wrong type": TEXT + "    percentageOfNodesToScore: all\n",
    "no kind": "apiVersion: kubescheduler.config.k8s.io/v1\n",
    "no YAML": TEXT + "   plugins: {}\n",
    "no JSON": '{"kind": }',
    "two documents": TEXT + "---\na: 1\n",
    "a gate that is not simulated": "# kube-scheduler --feature-gates=SchedulerAsyncPreemption=false\n" + TEXT,
    "two lines of gates": 2 * "# kube-scheduler --feature-gates=StorageCapacityScoring=true\n" + TEXT,
}
"""Errors whose message beside the field is ours."""
WARNINGS = {
    "a misspelt one disabled": plugins("score: {disabled: [{name: ImageLocalty}]}"),
    "no weight": plugins("multiPoint: {enabled: [{name: TaintToleration, weight: 0}]}"),
    "a negative weight": plugins(
        # A sum of weights below zero is an error, as in kube-scheduler.
        "score: {disabled: [{name: '*'}], enabled: [{name: NodeResourcesFit, weight: 3}, "
        "{name: ImageLocality, weight: -2}]}"
    ),
    "arguments of one that is off": TEXT + "    pluginConfig: [{name: Nobody}]\n",
}


def checked(editor: Client, text: str, spoken: str) -> Any:
    answer = editor.post(
        "/api/v1/configurations/check/",
        {"text": text},
        content_type="application/json",
        headers={"Accept-Language": spoken},
    )
    assert answer.status_code == 200, answer.content
    return answer.json()


@pytest.mark.parametrize("language", LETTERS)
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_hint_follows_kube_schedulers_own_words(editor: Client, mistake: str, language: str) -> None:
    # Asked in English first: what is kept of the examination must not keep a language.
    english, found = (checked(editor, MISTAKES[mistake], spoken) for spoken in ("en", language))
    hints = [each["hint"] for each in found["errors"] if each["hint"]]
    assert hints
    assert all(LETTERS[language].search(hint) for hint in hints)
    assert [each["text"] for each in found["errors"]] == [each["text"] for each in english["errors"]]
    assert not LETTERS[language].search(found["config_error"])
    assert LETTERS[language].search(found["why"])
    assert not LETTERS[language].search(english["why"])


@pytest.mark.parametrize("language", LETTERS)
@pytest.mark.parametrize("mistake", OURS)
def test_a_message_of_ours(editor: Client, mistake: str, language: str) -> None:
    [error] = checked(editor, OURS[mistake], language)["errors"]
    assert LETTERS[language].search(error["message"])


@pytest.mark.parametrize("language", LETTERS)
@pytest.mark.parametrize("mistake", WARNINGS)
def test_a_warning(editor: Client, mistake: str, language: str) -> None:
    [warning] = checked(editor, WARNINGS[mistake], language)["warnings"]
    assert LETTERS[language].search(warning["message"])
    assert LETTERS[language].search(warning["text"])


@pytest.mark.parametrize("language", LETTERS)
def test_an_edit_that_has_no_place(editor: Client, language: str) -> None:
    answer = editor.post(
        "/api/v1/configurations/check/",
        {"text": TEXT, "edits": [{"type": "removeProfile", "profile": 7}]},
        content_type="application/json",
        headers={"Accept-Language": language},
    )
    assert answer.status_code == 400
    assert LETTERS[language].search(answer.json()["error"]["message"])


CHANGES = {
    "a profile": TEXT + "  - schedulerName: second\n",
    "a plugin off": plugins("score: {disabled: [{name: ImageLocality}]}"),
    "a plugin gone": plugins("multiPoint: {disabled: [{name: NodePorts}]}"),
    "a weight": plugins("score: {disabled: [{name: ImageLocality}], enabled: [{name: ImageLocality, weight: 5}]}"),
    "a gate": "# kube-scheduler --feature-gates=StorageCapacityScoring=true\n" + TEXT,
}


@pytest.mark.parametrize("language", LETTERS)
@pytest.mark.parametrize("change", CHANGES)
def test_what_changed(change: str, language: str) -> None:
    with override("en"):
        english = compare(TEXT, CHANGES[change]).changes
    with override(language):
        found = compare(TEXT, CHANGES[change]).changes
    assert [each.plugin for each in found] == [each.plugin for each in english]
    assert any(LETTERS[language].search(words) for each in found for words in each.what), found
