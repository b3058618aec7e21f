"""Configurations through the API: list, create, import, rename, delete, versions, export; and what is refused."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from framework.configuration import load
from framework.plugins.registry import installed_registry
from schedweb.configurations import services
from schedweb.configurations.builtins import BUILTINS, Builtin
from schedweb.configurations.models import Configuration, ConfigurationVersion
from tests.schedweb.configurations.requests import HEAD, TEXT, URL, make, make_run, post, save

pytestmark = pytest.mark.django_db


# Built-in ones --------------------------------------------------------------------------------------------------------


def test_built_in_configurations_load_once(viewer: Client) -> None:
    assert len(services.builtins_load()) == 9
    assert services.builtins_load() == []
    listed = viewer.get(URL).json()
    assert [row["slug"] for row in listed["results"]] == [
        "default",
        "bin-pack",
        "spread",
        "no-scoring",
        "default-approvals",
        "evictions",
        "default-every-node",
        "shared-cluster",
        "reservations",
    ]
    first = listed["results"][0]
    assert (first["name"], first["description"], first["builtin"]) == ("Default", "kube-scheduler v1.36", True)
    assert (first["latest"]["number"], first["latest"]["author"], first["versions_count"]) == (1, "", 1)


def test_a_new_text_of_a_built_in_one_is_a_new_version(monkeypatch: pytest.MonkeyPatch) -> None:
    services.builtins_load()
    newer = Builtin("spread", "Spread", "evenly", BUILTINS[2].text + "# newer\n")
    monkeypatch.setattr(services, "BUILTINS", (newer,))
    assert [str(version) for version in services.builtins_load()] == ["Spread v2"]
    row = Configuration.objects.get(slug="spread")
    assert (row.description, [version.number for version in row.versions.all()]) == ("evenly", [2, 1])


def test_a_built_in_one_gives_way_to_a_taken_name(editor: Client) -> None:
    make(editor, name="spread")
    services.builtins_load()
    assert Configuration.objects.get(slug="spread").name == "Spread (built-in)"


def test_the_command_says_what_it_loaded(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("load_configurations")
    call_command("load_configurations")
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("Loaded Default v1, Bin-pack v1,")
    assert out[1] == "All built-in configurations are there."


def test_built_in_ones_are_read_only(editor: Client) -> None:
    services.builtins_load()
    row = Configuration.objects.get(slug="default")
    for answer in (
        editor.delete(f"{URL}{row.pk}/"),
        editor.patch(f"{URL}{row.pk}/", {"name": "mine"}, content_type="application/json"),
        post(editor, f"{URL}{row.pk}/versions/", text=TEXT, base_version=1),
    ):
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "builtin")
        assert "Save a copy under another name." in answer.json()["error"]["message"]
    row.refresh_from_db()
    assert (row.name, row.versions.count()) == ("Default", 1)


# Lists and roles ------------------------------------------------------------------------------------------------------


def test_lists_cost_a_fixed_number_of_queries(editor: Client, django_assert_num_queries: Any) -> None:
    services.builtins_load()
    mine = make(editor)
    for number in range(1, 4):
        assert save(editor, mine, TEXT + f"# {number}\n", number).status_code == 201
    for url in (URL, f"{URL}?limit=2&offset=1"):
        with django_assert_num_queries(6):  # session, account, role; count, rows, newest versions
            editor.get(url)
    with django_assert_num_queries(7):  # session, account, role; configuration and its newest; count, rows
        listed = editor.get(f"{URL}{mine['id']}/versions/?limit=3").json()
    with django_assert_num_queries(6):  # session, account, role; configuration and its newest; version
        editor.get(f"{URL}{mine['id']}/versions/4/")
    with django_assert_num_queries(3):  # session, account, role
        post(editor, f"{URL}check/", text=TEXT)
    assert (listed["count"], [row["number"] for row in listed["results"]]) == (4, [4, 3, 2])


def test_peoples_own_come_first(editor: Client) -> None:
    services.builtins_load()
    make(editor, name="zonal")
    make(editor, name="alpha")
    names = [row["name"] for row in editor.get(URL, {"limit": 3}).json()["results"]]
    assert names == ["alpha", "zonal", "Default"]


def test_a_viewer_reads_and_checks_but_changes_nothing(viewer: Client, editor: Client) -> None:
    mine = make(editor)
    one = f"{URL}{mine['id']}/"
    for url in (URL, one, f"{one}versions/", f"{one}versions/1/", f"{one}versions/1/export/", f"{one}versions/1/diff/"):
        assert viewer.get(url).status_code == 200, url
    assert post(viewer, f"{URL}check/", text=TEXT).status_code == 200
    for answer in (
        post(viewer, URL, name="x", text=TEXT),
        post(viewer, f"{one}versions/", text=TEXT, base_version=1),
        viewer.patch(one, {"name": "x"}, content_type="application/json"),
        viewer.delete(one),
    ):
        assert (answer.status_code, answer.json()["error"]["message"]) == (403, "This needs the role editor.")


@pytest.mark.parametrize("url", [URL, "/api/v1/plugins/", "/api/v1/presets/"])
def test_nobody_reads_nothing(client: Client, url: str) -> None:
    assert client.get(url).status_code == 401


# Creating and importing -----------------------------------------------------------------------------------------------


def test_create_from_a_text(editor: Client) -> None:
    made = make(editor, description="packs", comment="first")
    assert (made["builtin"], made["slug"], made["versions_count"]) == (False, "", 1)
    assert (made["latest"]["author"], made["latest"]["comment"]) == ("eda", "first")
    assert editor.get(f"{URL}{made['id']}/").json() == made


def test_create_from_a_preset(editor: Client) -> None:
    answer = post(editor, URL, name="mine", preset="bin-pack")
    assert answer.status_code == 201
    assert ConfigurationVersion.objects.get().text == BUILTINS[1].text
    unknown = post(editor, URL, name="other", preset="fastest")
    assert (unknown.status_code, unknown.json()["error"]["path"]) == (400, "preset")
    assert "there are default, bin-pack" in unknown.json()["error"]["message"]


def test_either_a_text_or_a_preset(editor: Client) -> None:
    for body in ({}, {"text": TEXT, "preset": "spread"}):
        answer = post(editor, URL, name="x", **body)
        assert answer.json()["error"]["message"] == "Give either a text or a preset."
    assert not Configuration.objects.exists()


def test_errors_are_all_told_and_nothing_is_saved(editor: Client) -> None:
    text = f"{HEAD}parallelism: -1\npodMaxBackoffSeconds: -3\n"
    answer = post(editor, URL, name="x", text=text)
    assert answer.status_code == 422
    body = answer.json()
    assert body["error"]["message"] == "The configuration has 2 errors; nothing was saved."
    assert (body["error"]["code"], body["error"]["path"], body["error"]["line"]) == (
        "invalid_configuration",
        "parallelism",
        3,
    )
    assert [(each["path"], each["line"], each["column"]) for each in body["errors"]] == [
        ("parallelism", 3, 14),
        ("podMaxBackoffSeconds", 4, 23),
    ]
    assert not Configuration.objects.exists()


def test_names_are_taken_once_whatever_their_case(editor: Client) -> None:
    make(editor, name="Spread")
    answer = post(editor, URL, name="spread", text=TEXT)
    assert (answer.status_code, answer.json()["error"]["path"]) == (409, "name")
    assert answer.json()["error"]["message"] == "There is a configuration named spread already."


def test_a_name_taken_in_the_same_moment(editor: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    make(editor, name="Spread")
    monkeypatch.setattr(services, "_refuse_taken", lambda name, besides=None: None)
    answer = post(editor, URL, name="spread", text=TEXT)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "name_taken")
    assert Configuration.objects.count() == 1


def test_a_text_over_the_limit(editor: Client) -> None:
    answer = post(editor, URL, name="x", text=HEAD + "#" * 300_000)
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")
    assert "262,144 are the most" in answer.json()["error"]["message"]


def test_a_request_over_the_limit_is_refused_unread(editor: Client) -> None:
    answer = editor.post(URL, {"name": "x"}, content_type="application/json", CONTENT_LENGTH=str(10**9))
    assert answer.status_code == 413


def test_too_many_profiles(editor: Client) -> None:
    text = HEAD + "profiles:\n" + "".join(f"- schedulerName: s{i}\n" for i in range(51))
    answer = post(editor, f"{URL}check/", text=text)
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")


def test_rename(editor: Client) -> None:
    mine, other = make(editor), make(editor, name="other")
    one = f"{URL}{mine['id']}/"
    answer = editor.patch(one, {"name": "packed", "description": "tight"}, content_type="application/json")
    assert (answer.json()["name"], answer.json()["description"]) == ("packed", "tight")
    assert editor.patch(one, {"name": "PACKED"}, content_type="application/json").json()["name"] == "PACKED"
    taken = editor.patch(one, {"name": other["name"]}, content_type="application/json")
    assert taken.status_code == 409
    assert editor.get(one).json()["name"] == "PACKED"


def test_delete(editor: Client) -> None:
    mine = make(editor)
    assert editor.delete(f"{URL}{mine['id']}/").status_code == 204
    gone = editor.get(f"{URL}{mine['id']}/")
    assert gone.status_code == 404
    assert "was deleted by" in gone.json()["error"]["message"]
    assert editor.get(URL).json()["count"] == 0


def test_what_runs_use_stays(editor: Client) -> None:
    mine = make(editor)
    save(editor, mine, TEXT + "# two\n", 1)
    one, two = ConfigurationVersion.objects.order_by("number")
    make_run(two, 1, first=one)
    answer = editor.delete(f"{URL}{mine['id']}/")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "in_use")
    assert answer.json()["error"]["message"] == "A run uses Bin-pack GPU; delete it first."
    make_run(one, 2)
    assert editor.delete(f"{URL}{mine['id']}/").json()["error"]["message"].startswith("2 runs use Bin-pack GPU")
    rows = editor.get(f"{URL}{mine['id']}/versions/").json()["results"]
    assert [(row["number"], row["runs"]) for row in rows] == [(2, 1), (1, 1)]


# Versions -------------------------------------------------------------------------------------------------------------


def test_a_version_tells_everything(editor: Client) -> None:
    mine = make(editor)
    body = editor.get(f"{URL}{mine['id']}/versions/1/").json()
    assert body["text"] == TEXT
    assert (body["number"], body["runs"], body["author"], body["configuration"]["name"]) == (1, 0, "eda", mine["name"])
    assert (body["format"], body["errors"], body["runnable"], body["why"]) == ("yaml", [], True, "")
    profile = body["effective"]["profiles"][0]
    fit = next(row for row in profile["rows"] if row["plugin"] == "NodeResourcesFit")
    assert (fit["cells"]["Score"]["weight"], fit["cells"]["Score"]["default_weight"], fit["changed"]) == (5, 1, True)
    assert profile["args"]["NodeResourcesFit"]["scoringStrategy"]["type"] == "MostAllocated"
    assert editor.get(f"{URL}{mine['id']}/versions/7/").json()["error"]["message"] == "Bin-pack GPU has no version 7."


def test_save_makes_the_next_version(editor: Client) -> None:
    mine = make(editor)
    answer = save(editor, mine, TEXT.replace("weight: 5", "weight: 7"), 1, "heavier")
    assert answer.status_code == 201
    assert (answer.json()["number"], answer.json()["comment"]) == (2, "heavier")
    assert editor.get(f"{URL}{mine['id']}/versions/1/").json()["text"] == TEXT
    diff = editor.get(f"{URL}{mine['id']}/versions/2/diff/").json()
    assert diff["changes"] == [{"profile": "default-scheduler", "plugin": "NodeResourcesFit", "what": ["weight 5 → 7"]}]
    assert (diff["diff"]["added"], diff["diff"]["removed"]) == (1, 1)
    assert editor.get(f"{URL}{mine['id']}/versions/2/diff/?base=2").json()["diff"]["lines"] == []


def test_saving_a_text_with_errors_stores_nothing(editor: Client) -> None:
    mine = make(editor)
    answer = save(editor, mine, TEXT.replace("cpu, weight: 1", "cpu, weight: 120"), 1)
    assert answer.status_code == 422
    problem = answer.json()["errors"][0]
    assert (problem["profile"], problem["plugin"], problem["field"]) == (
        0,
        "NodeResourcesFit",
        ["scoringStrategy", "resources", 0, "weight"],
    )
    assert "resource weight of cpu not in valid range (0, 100]" in problem["message"]
    assert problem["line"] == 17
    assert ConfigurationVersion.objects.count() == 1


def test_a_save_meanwhile_is_named_and_merged(editor: Client, mira: Client) -> None:
    mine = make(editor)
    theirs = TEXT.replace("parallelism: 16", "parallelism: 8")
    assert save(mira, mine, theirs, 1, "fewer").status_code == 201
    draft = TEXT.replace("weight: 5", "weight: 7")
    answer = save(editor, mine, draft, 1)
    assert answer.status_code == 409
    body = answer.json()
    assert body["error"]["message"] == "mira saved version 2 after you began. Your text is kept."
    assert (body["who"], body["number"], body["comment"], body["overlaps"]) == ("mira", 2, "fewer", False)
    assert body["when"].endswith("Z")
    assert body["changes"] == [{"profile": None, "plugin": None, "what": ["parallelism 16 → 8"]}]
    changed = [(line["kind"], line["text"]) for line in body["diff"]["lines"] if line["kind"] in ("added", "removed")]
    assert changed == [("removed", "parallelism: 16"), ("added", "parallelism: 8")]
    assert ConfigurationVersion.objects.count() == 2
    again = save(editor, mine, body["merged"], body["number"])
    assert again.status_code == 201
    assert again.json()["text"] == draft.replace("parallelism: 16", "parallelism: 8")


def test_overlapping_saves_are_not_merged(editor: Client, mira: Client) -> None:
    mine = make(editor)
    save(mira, mine, TEXT.replace("weight: 5", "weight: 6"), 1)
    body = save(editor, mine, TEXT.replace("weight: 5", "weight: 7"), 1).json()
    assert (body["overlaps"], body["merged"]) == (True, None)


def test_two_saves_in_the_same_moment(editor: Client, eda: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without row locks (SQLite) both find the same newest version; the constraint lets one through."""
    mine = make(editor)
    configuration = Configuration.objects.get(pk=mine["id"])
    ConfigurationVersion.objects.create(
        configuration=configuration, number=2, text=TEXT + "# mira\n", created_by_name="mira"
    )
    real = services._newest
    answers = iter([1])
    monkeypatch.setattr(services, "_newest", lambda row: next(answers, None) or real(row))
    answer = save(editor, mine, TEXT + "# eda\n", 1)
    assert (answer.status_code, answer.json()["who"]) == (409, "mira")
    assert ConfigurationVersion.objects.count() == 2


def test_nothing_changed(editor: Client) -> None:
    answer = save(editor, make(editor), TEXT, 1)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "unchanged")


def test_an_unknown_base_version(editor: Client) -> None:
    answer = save(editor, make(editor), TEXT + "#\n", 9)
    assert (answer.status_code, answer.json()["error"]["path"]) == (400, "base_version")
    assert "has no version 9; the newest is 1" in answer.json()["error"]["message"]


def test_extenders_are_played_where_the_server_may_call_them(editor: Client) -> None:
    for host, runnable, why in (
        ("127.0.0.1:9", True, ""),
        ("10.0.0.1", False, "This server may not call http://10.0."),
    ):
        text = f"{HEAD}extenders:\n- urlPrefix: http://{host}/\n  filterVerb: filter\n"
        mine = make(editor, name=f"calls {host}", text=text)
        body = editor.get(f"{URL}{mine['id']}/versions/1/").json()
        assert (body["errors"], body["runnable"], body["effective"]["globals"]["extenders"]) == ([], runnable, 1)
        (shown,) = body["effective"]["extenders"]
        assert (shown["urlPrefix"], shown["filterVerb"]) == (f"http://{host}/", "filter")
        assert (shown["enableHTTPS"], shown["ignorable"]) == (False, False)
        assert body["why"].startswith(why)


# Files ----------------------------------------------------------------------------------------------------------------


def test_a_file_comes_back_as_it_went_in(editor: Client) -> None:
    mine = make(editor)
    answer = editor.get(f"{URL}{mine['id']}/versions/1/export/")
    assert answer.content.decode() == TEXT
    assert answer.headers["Content-Type"] == "application/yaml; charset=utf-8"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="bin-pack-gpu-v1.yaml"'


def test_export_in_the_other_format_means_the_same(editor: Client) -> None:
    mine = make(editor)
    answer = editor.get(f"{URL}{mine['id']}/versions/1/export/?format=json")
    assert answer.headers["Content-Type"] == "application/json; charset=utf-8"
    assert json.loads(answer.content)["parallelism"] == 16
    text = answer.content.decode()
    assert load(text, installed_registry()).effective == load(TEXT, installed_registry()).effective
    again = make(editor, name="again", text=text)
    exported = editor.get(f"{URL}{again['id']}/versions/1/export/")
    assert exported.content.decode() == text
    assert exported.headers["Content-Disposition"].endswith('again-v1.json"')
    yaml = editor.get(f"{URL}{again['id']}/versions/1/export/?format=yaml").content.decode()
    assert load(yaml, installed_registry()).effective == load(TEXT, installed_registry()).effective


def test_feature_gates_are_kept_by_export_and_import(editor: Client) -> None:
    text = f"# kube-scheduler --feature-gates=SchedulerPopFromBackoffQ=false\n{TEXT}"
    mine = make(editor, "with gates", text)
    export = f"{URL}{mine['id']}/versions/1/export/"
    exported = editor.get(export).content.decode()
    assert exported == text
    refused = editor.get(f"{export}?format=json")
    assert refused.status_code == 400
    assert refused.json()["error"]["message"].endswith("JSON has no comments. Export it as YAML.")
    again = make(editor, "imported", exported)
    version = editor.get(f"{URL}{again['id']}/versions/1/").json()
    assert version["effective"]["feature_gates"] == {"SchedulerPopFromBackoffQ": False}


def test_export_of_what_is_not_there(editor: Client) -> None:
    mine = make(editor)
    answer = editor.get(f"{URL}{mine['id']}/versions/1/export/?format=toml")
    assert answer.json()["error"]["message"] == "A configuration is exported as yaml or json, not toml."
    assert editor.get(f"{URL}{uuid.uuid4()}/versions/1/export/").status_code == 404


# Plugins and presets --------------------------------------------------------------------------------------------------


def test_the_plugin_catalogue(viewer: Client) -> None:
    plugins = {each["name"]: each for each in viewer.get("/api/v1/plugins/").json()}
    assert list(plugins)[:2] == ["SchedulingGates", "PrioritySort"]
    fit = plugins["NodeResourcesFit"]
    assert fit["points"][:4] == ["PreFilter", "Filter", "PreScore", "Score"]
    assert (fit["default_weight"], fit["in_default_profile"], fit["args_kind"]) == (1, True, "NodeResourcesFitArgs")
    assert fit["args_schema"]["properties"]["scoringStrategy"]["properties"]["type"]["enum"]
    assert fit["defaults"]["scoringStrategy"]["type"] == "LeastAllocated"
    assert (plugins["ManualApproval"]["asks_a_person"], plugins["Coscheduling"]["asks_a_person"]) == (True, False)
    assert plugins["NodeName"]["args_schema"] is None
    assert {each["distribution"] for each in plugins.values()} == {None}


def test_presets(viewer: Client) -> None:
    presets = viewer.get("/api/v1/presets/").json()
    assert [each["title"] for each in presets][:4] == ["Default", "Bin-pack", "Spread", "No scoring"]
    assert all(post(viewer, f"{URL}check/", text=each["text"]).json()["runnable"] for each in presets)
